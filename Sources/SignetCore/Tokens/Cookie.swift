#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a client stores it (RFC 6265 section 5.3).
public struct Cookie: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    ///
    /// In AM's session cookie it is the SSO token.
    public let value: Secret
    /// The host, or the domain whose subdomains also receive the cookie; in lower case, without a leading dot.
    public let domain: String
    /// A Boolean value that indicates whether the cookie is sent to exactly that host only.
    public let isHostOnly: Bool
    /// The path.
    ///
    /// The cookie is sent for this path and all paths below it.
    public let path: String
    /// A Boolean value that indicates whether the cookie is sent over `https` only.
    public let isSecure: Bool
    /// A Boolean value that indicates whether scripts of a page may not read the cookie.
    ///
    /// It has no effect here.
    public let isHTTPOnly: Bool
    /// The expiry time; nil for a session cookie.
    public let expiry: Date?
    /// The time at which the first cookie of this name, domain and path arrived.
    public let created: Date

    /// Creates a cookie.
    public init(
        name: String, value: Secret, domain: String, isHostOnly: Bool, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, expiry: Date? = nil, created: Date
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.expiry = expiry?.asStored
        self.created = created.asStored
    }

    /// Returns true when the cookie has expired at `now`.
    public func isExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Returns a copy of the cookie with another creation time.
    func created(at date: Date) -> Cookie {
        Cookie(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, expiry: expiry, created: date)
    }

    /// The key of a cookie: a new cookie replaces the stored cookie with the same identity (section 5.3 step 11).
    struct Identity: Hashable {
        let name: String
        let domain: String
        let path: String
    }

    var identity: Identity { Identity(name: name, domain: domain, path: path) }
}

extension Cookie: CustomStringConvertible {
    /// The name, domain and path, and never the value.
    public var description: String { "cookie \(name) for \(isHostOnly ? "" : ".")\(domain)\(path)" }
}

extension Cookie: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, value, domain, hostOnly, path, secure, httpOnly, expiry, created
    }

    /// Reads a stored cookie.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try members.decode(String.self, forKey: .name),
            value: Secret(text: try members.decode(String.self, forKey: .value)),
            domain: try members.decode(String.self, forKey: .domain),
            isHostOnly: try members.decode(Bool.self, forKey: .hostOnly),
            path: try members.decode(String.self, forKey: .path),
            isSecure: try members.decode(Bool.self, forKey: .secure),
            isHTTPOnly: try members.decode(Bool.self, forKey: .httpOnly),
            expiry: try members.decodeIfPresent(Double.self, forKey: .expiry).map { Date(timeIntervalSince1970: $0) },
            created: Date(timeIntervalSince1970: try members.decode(Double.self, forKey: .created)))
    }

    /// Writes the cookie **in plain text**, for a storage that seals its content.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(name, forKey: .name)
        try members.encode(value.text, forKey: .value)
        try members.encode(domain, forKey: .domain)
        try members.encode(isHostOnly, forKey: .hostOnly)
        try members.encode(path, forKey: .path)
        try members.encode(isSecure, forKey: .secure)
        try members.encode(isHTTPOnly, forKey: .httpOnly)
        try members.encodeIfPresent(expiry?.timeIntervalSince1970, forKey: .expiry)
        try members.encode(created.timeIntervalSince1970, forKey: .created)
    }
}
