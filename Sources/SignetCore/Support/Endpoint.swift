#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address of a server that has passed an ``EndpointPolicy``: `https`, or plain `http` where that is safe or allowed.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// The address, with its query untouched.
    public let url: String
    /// `https` or `http`.
    public let scheme: String
    /// The host in lower case, an IPv6 address without its brackets.
    public let host: String
    /// The port, the scheme's own when the address names none.
    public let port: Int

    /// Checks `url` against `policy`.
    /// - Throws: ``EndpointError`` when the text is no absolute web address, carries a user name or password, or is plain
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

    /// Whether a host is spelled out, in lower case. An escape could be read one way here and another way by who connects.
    private static func isPlain(_ host: some Collection<UInt8>) -> Bool {
        host.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
    }

    /// The port that is named, or the scheme's own when none is; nil when there is no such port.
    private static func port<Text: BidirectionalCollection<UInt8>>(in authority: Text, _ scheme: String) -> Int? {
        let standard = scheme == "https" ? 443 : 80
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) else {
            return standard
        }
        let digits = String(decoding: authority[authority.index(after: colon)...], as: UTF8.self)
        return digits.isEmpty ? standard : UInt16(digits).flatMap { $0 > 0 ? Int($0) : nil }
    }

    /// What stands between `://` and the path.
    private static func authority<Text: Collection<UInt8>>(of url: Text) -> Text.SubSequence {
        let rest = url.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return rest[..<(end ?? rest.endIndex)]
    }

    /// An address that no policy has been asked about: for comparing it with one that has passed.
    package init(unchecked url: String) throws(EndpointError) {
        try self.init(url, policy: nil)
    }

    /// An address that passed every check when it was enrolled, read back from a store. It is only cut into its parts: the
    /// full reading takes longer than all the rest of a record.
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
        // Whoever wrote it has nearly always written it in lower case.
        let host = isPlain(name) ? String(decoding: name, as: UTF8.self) : String(decoding: name, as: UTF8.self).lowercased()
        return isPlain(host.utf8) ? (scheme, host, port) : nil
    }

    /// Whether `other` has the same scheme, host and port.
    public func hasSameOrigin(as other: Endpoint) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The address without its query, which may carry what should not be logged.
    public var description: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}

/// Which addresses a secret or an answer may be sent to.
public struct EndpointPolicy: Sendable, Hashable {
    /// The hosts, besides this machine itself, that plain `http` is allowed to.
    public let plainHTTPHosts: Set<String>

    /// `https`, or `http` to a loopback address.
    public static let secure = EndpointPolicy(plainHTTPHosts: [])

    /// As ``secure``, and plain `http` to exactly these hosts. For a test network only: what is sent can be read on the way.
    public static func allowingPlainHTTP(to hosts: Set<String>) -> EndpointPolicy {
        EndpointPolicy(plainHTTPHosts: Set(hosts.map { $0.lowercased() }))
    }

    func allowsPlainHTTP(to host: String) -> Bool {
        Self.isLoopback(host) || plainHTTPHosts.contains(host)
    }

    /// Whether `host` is `localhost`, in 127.0.0.0/8 (RFC 1122 section 3.2.1.3), or `::1`. Names are not looked up.
    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8($0) != nil }
    }
}

/// Why an address is not an ``Endpoint``. The address itself is not repeated: it may carry a secret.
public enum EndpointError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No absolute `http` or `https` address.
    case notAWebAddress
    /// A user name or password stands in the address.
    case carriesCredentials
    /// Plain `http` to a host that is neither this machine nor allowed by name.
    case plainHTTP(host: String)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .notAWebAddress: "not an absolute http or https address"
        case .carriesCredentials: "the address carries a user name or password"
        case .plainHTTP(let host): "plain http to \(host), which is not this machine: use https, or allow the host by name"
        }
    }
}
