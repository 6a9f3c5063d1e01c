#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a client keeps it (RFC 6265 section 5.3).
public struct Cookie: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value: for AM's cookie, the session itself.
    public let value: Secret
    /// The host, or the domain that it and everything below it share; in lower case, without a dot in front.
    public let domain: String
    /// Whether it goes back to exactly that host.
    public let isHostOnly: Bool
    /// The path at and below which it is sent.
    public let path: String
    /// Whether it goes back over `https` only.
    public let isSecure: Bool
    /// Whether scripts of a page may not see it. It changes nothing here.
    public let isHTTPOnly: Bool
    /// When it ends; nil for one that ends with the session.
    public let expiry: Date?
    /// When the first cookie of this name, domain and path came.
    public let created: Date

    /// A cookie as given.
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

    /// Whether it has ended at `now`.
    public func isExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

    /// The same cookie, as old as another.
    func created(at date: Date) -> Cookie {
        Cookie(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, expiry: expiry, created: date)
    }

    /// Two cookies with one identity are one cookie (section 5.3 step 11).
    struct Identity: Hashable {
        let name: String
        let domain: String
        let path: String
    }

    var identity: Identity { Identity(name: name, domain: domain, path: path) }
}

extension Cookie: CustomStringConvertible {
    /// Name, domain and path; never the value.
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

    /// Writes the cookie **in the clear**, for a storage that seals what it is given.
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
