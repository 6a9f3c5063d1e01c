import HTTPTypes
import NIOCore
import SignetCore

/// The connection that a request came over.
struct ClientConnection: Sendable {
    let channel: any Channel
    /// True when the client runs in this process and connects without a socket.
    let isInProcess: Bool
    /// The client's IP address.
    ///
    /// An IPv4 address is written as IPv4 also when an IPv6 socket accepted it. Empty for a socket without an address, nil for a
    /// client in this process.
    let address: String?
    /// True when the other end of the connection is on this machine.
    private var isFromHere: Bool { isInProcess || channel.remoteAddress.map { Self.isLoopback($0) } ?? false }
    /// The key for rate limits: an IPv4 address, or the network half of an IPv6 address.
    ///
    /// Nil for a client without an address.
    let network: String?

    /// Reads the properties from a channel.
    ///
    /// A channel that a listener accepted has the listener as its parent; a channel without a parent was created in this process.
    /// An accepted channel may have lost its address when the other end has disconnected. It then counts as remote.
    init(_ channel: any Channel) {
        self.channel = channel
        isInProcess = channel.parent == nil
        let known = channel.remoteAddress?.ipAddress?.withoutMapping
        address = isInProcess ? nil : known ?? ""
        network = known.map { Self.network($0) }
    }

    /// Returns an IPv4 address unchanged, and the first four groups of an IPv6 address.
    ///
    /// A client can choose the other groups freely.
    private static func network(_ address: String) -> String {
        guard address.contains(":") else { return address }
        let halves = address.prefix { $0 != "%" }.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let gateway = halves[0].split(separator: ":").map(String.init)
        let back = halves.count == 2 ? halves[1].split(separator: ":").map(String.init) : []
        let zeros = halves.count == 2 ? Array(repeating: "0", count: max(0, 8 - gateway.count - back.count)) : []
        return (gateway + zeros + back).prefix(4).joined(separator: ":")
    }

    /// Returns true when a request comes from this machine itself.
    ///
    /// The console and other parts for the machine's owner require it.
    ///
    /// A proxy on this machine forwards requests of remote clients. Requests with a proxy's header fields therefore don't count
    /// as local. A proxy that adds no such field must not be placed in front of this server.
    func isLocal(_ headers: HTTPFields) -> Bool {
        isFromHere && !headers.contains { Self.isOfProxy($0.name.canonicalName) }
    }

    /// Returns true for a header field in which a proxy names the actual client (RFC 7239 and older fields).
    private static func isOfProxy(_ name: String) -> Bool {
        ["forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip"].contains(name)
            || name.hasPrefix("x-forwarded-")
    }

    static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .unixDomainSocket: true
        case .v4, .v6: address.ipAddress.map { EndpointPolicy.isLoopback($0.withoutMapping) } ?? false
        }
    }
}

extension String {
    /// The IPv4 address inside an IPv4-mapped IPv6 address, as a dual-stack socket reports it (RFC 4291 section 2.5.5.2); any
    /// other text unchanged.
    var withoutMapping: String {
        let prefix = "::ffff:"
        guard utf8.first == UInt8(ascii: ":") else { return self }
        return lowercased().hasPrefix(prefix) && contains(".") ? String(dropFirst(prefix.count)) : self
    }
}
