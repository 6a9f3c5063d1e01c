import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// What Hummingbird tells about a connection that is needed.
struct AppRequestContext: InitializableFromSource {
    let channel: any Channel
    /// Whether the client is in this process and there is no socket.
    let isInProcess: Bool
    /// The client's IP address, an IPv4 address in its own form also where a socket for IPv6 got it; empty for a socket that has
    /// none, nil for a client in this process.
    let address: String?
    /// Whether the other end of the connection is on this machine.
    private let isFromHere: Bool
    /// Who asks, for counting: an IP address, or of IPv6 the network's half. Nil for one that has no address.
    let network: String?

    init(source: ApplicationRequestContextSource) { self.init(source.channel) }

    /// Every connection that a listener accepted has the listener for a parent; one without was made in this process. An accepted
    /// one may have lost its address, when the other end is gone, and is nobody's then.
    init(_ channel: any Channel) {
        self.channel = channel
        isInProcess = channel.parent == nil
        let known = channel.remoteAddress?.ipAddress?.withoutMapping
        address = isInProcess ? nil : known ?? ""
        network = known.map { Self.network($0) }
        isFromHere = isInProcess || channel.remoteAddress.map { Self.isLoopback($0) } ?? false
    }

    /// An IPv4 address as it is, and the first four groups of an IPv6 one; the rest somebody can choose freely.
    private static func network(_ address: String) -> String {
        guard address.contains(":") else { return address }
        let halves = address.prefix { $0 != "%" }.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let front = halves[0].split(separator: ":").map(String.init)
        let back = halves.count == 2 ? halves[1].split(separator: ":").map(String.init) : []
        let zeros = halves.count == 2 ? Array(repeating: "0", count: max(0, 8 - front.count - back.count)) : []
        return (front + zeros + back).prefix(4).joined(separator: ":")
    }

    /// Whether a request comes from this machine itself: what the console and all else asks that only its owner may see.
    ///
    /// A proxy on this machine brings requests of others. Those that say so are not local; one that does not say so must not be put
    /// in front of this server.
    func isLocal(_ headers: HTTPFields) -> Bool {
        isFromHere && !headers.contains { Self.isOfProxy($0.name.canonicalName) }
    }

    /// What a proxy tells about who really asks (RFC 7239, and those before it).
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
    /// The IPv4 address that a socket for both families tells as an IPv6 one (RFC 4291 section 2.5.5.2).
    var withoutMapping: String {
        let prefix = "::ffff:"
        return lowercased().hasPrefix(prefix) && contains(".") ? String(dropFirst(prefix.count)) : self
    }
}
