#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address of a server that has passed an ``EndpointPolicy``: `https`, or plain `http` where the policy allows it.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// The address as given, including its query.
    public let url: String
    /// The scheme: `https` or `http`.
    public let scheme: String
    /// The host in lower case.
    ///
    /// An IPv6 address has no brackets.
    public let host: String
    /// The port.
    ///
    /// The default is the port of the scheme.
    public let port: Int

    /// Checks `url` against `policy`.
    /// - Throws: ``EndpointError`` when the text isn't an absolute web address, contains a user name or password, or is plain
    ///   `http` to a host that the policy does not allow.
    public init(_ url: String, policy: EndpointPolicy = .secure) throws(EndpointError) {
        try self.init(url, policy: Optional(policy))
    }

    private init(_ url: String, policy: EndpointPolicy?) throws(EndpointError) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let parsed = URL(string: url),
            let scheme = parsed.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = parsed.host(percentEncoded: true)?.lowercased(), !host.isEmpty
        else { throw .notAWebAddress }
        guard parsed.user() == nil, parsed.password() == nil else { throw .carriesCredentials }
        let bareHost = String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...])
        guard Self.isPlain(bareHost.utf8), let port = Self.port(in: Self.authority(of: url.utf8), scheme)
        else { throw .notAWebAddress }
        guard scheme == "https" || policy?.allowsPlainHTTP(to: bareHost) ?? true else { throw .plainHTTP(host: bareHost) }
        self.url = url
        self.scheme = scheme
        self.host = bareHost
        self.port = port
    }

    /// Returns true when a host has only literal characters in lower case.
    ///
    /// Escapes are rejected because a connecting client could decode them differently.
    private static func isPlain(_ host: some Collection<UInt8>) -> Bool {
        host.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
    }

    /// Returns the port of an authority, or the default of the scheme when the authority has none; nil when the port is invalid.
    private static func port<Text: BidirectionalCollection<UInt8>>(in authority: Text, _ scheme: String) -> Int? {
        let defaultPort = scheme == "https" ? 443 : 80
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) else {
            return defaultPort
        }
        let digits = String(decoding: authority[authority.index(after: colon)...], as: UTF8.self)
        return digits.isEmpty ? defaultPort : UInt16(digits).flatMap { $0 > 0 ? Int($0) : nil }
    }

    /// Returns the authority: the text between `://` and the path.
    private static func authority<Text: Collection<UInt8>>(of url: Text) -> Text.SubSequence {
        let rest = url.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return rest[..<(end ?? rest.endIndex)]
    }

    /// Creates an endpoint without applying a policy, to compare an address with an endpoint that has passed one.
    package init(unchecked url: String) throws(EndpointError) {
        try self.init(url, policy: nil)
    }

    /// Creates an endpoint from a stored address that passed every check when it was enrolled.
    ///
    /// The address is only split into its parts, because full parsing takes longer than reading the rest of a record.
    package init(stored url: String) throws(EndpointError) {
        var url = url
        guard let parts = url.withUTF8({ Self.parts(of: $0) }) else { throw .notAWebAddress }
        self.url = url
        (scheme, host, port) = parts
    }

    private static func parts(of url: UnsafeBufferPointer<UInt8>) -> (scheme: String, host: String, port: Int)? {
        func has(_ scheme: String) -> Bool {
            url.starts(with: scheme.utf8, by: { $0 | 0x20 == $1 }) && url.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
        }
        let found = has("https") ? "https" : has("http") ? "http" : nil
        let authority = authority(of: url)
        let isBracketed = authority.first == UInt8(ascii: "[")
        let name = authority.dropFirst(isBracketed ? 1 : 0).prefix { $0 != UInt8(ascii: isBracketed ? "]" : ":") }
        guard let scheme = found, !name.isEmpty, let port = port(in: authority, scheme) else { return nil }
        // Most addresses are written in lower case, so the conversion is rarely needed.
        let host = isPlain(name) ? String(decoding: name, as: UTF8.self) : String(decoding: name, as: UTF8.self).lowercased()
        return isPlain(host.utf8) ? (scheme, host, port) : nil
    }

    /// Returns true when `other` has the same scheme, host and port.
    public func hasSameOrigin(as other: Endpoint) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The address without its query and fragment, which may contain values that must not be logged.
    public var description: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}

/// A rule that decides which addresses secrets and answers may be sent to.
public struct EndpointPolicy: Sendable, Hashable {
    /// The hosts that plain `http` is allowed to, in addition to loopback addresses.
    public let plainHTTPHosts: Set<String>

    /// The policy that allows `https`, and `http` to a loopback address.
    public static let secure = EndpointPolicy(plainHTTPHosts: [])

    /// Returns a policy like ``secure`` that also allows plain `http` to exactly these hosts.
    ///
    /// Use it in test networks only: the traffic can be read in transit.
    public static func allowingPlainHTTP(to hosts: Set<String>) -> EndpointPolicy {
        EndpointPolicy(plainHTTPHosts: Set(hosts.map { $0.lowercased() }))
    }

    func allowsPlainHTTP(to host: String) -> Bool {
        Self.isLoopback(host) || plainHTTPHosts.contains(host)
    }

    /// Returns true when `host` is `localhost`, in 127.0.0.0/8 (RFC 1122 section 3.2.1.3), or `::1`.
    ///
    /// Names are not resolved.
    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8($0) != nil }
    }
}

/// The reason that an address isn't a valid ``Endpoint``.
///
/// The address is not included because it may contain a secret.
public struct EndpointError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public struct Code: ErrorCode {
        /// The text isn't an absolute `http` or `https` address.
        public static let notAWebAddress = Code(rawValue: "notAWebAddress")
        /// The address contains a user name or password.
        public static let carriesCredentials = Code(rawValue: "carriesCredentials")
        /// The address is plain `http` to a host that is neither a loopback address nor allowed by name.
        public static let plainHTTP = Code(rawValue: "plainHTTP")

        /// All codes of this version.
        public static let allCases: [Code] = [.notAWebAddress, .carriesCredentials, .plainHTTP]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The host that isn't allowed, for ``Code/plainHTTP``.
    public let host: String?

    private init(_ code: Code, host: String? = nil) {
        self.code = code
        self.host = host
    }

    /// The text isn't an absolute `http` or `https` address.
    public static let notAWebAddress = EndpointError(.notAWebAddress)
    /// The address contains a user name or password.
    public static let carriesCredentials = EndpointError(.carriesCredentials)

    /// Returns the error for plain `http` to a host that isn't allowed.
    public static func plainHTTP(host: String) -> EndpointError { EndpointError(.plainHTTP, host: host) }

    /// A description of the error.
    public var description: String {
        switch code {
        case .carriesCredentials: "the address carries a user name or password"
        case .plainHTTP: "plain http to \(host ?? ""), which is not this machine: use https, or allow the host by name"
        default: "not an absolute http or https address"
        }
    }
}
