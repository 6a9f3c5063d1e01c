public import SignetCore

/// Which server, and which realm on it.
public struct ServerProfile: Sendable, Hashable {
    /// The server's address up to its deployment path, without a slash at the end: `https://am.example.com/am`.
    public let baseURL: Endpoint
    /// The realm as the person writes it: `root`, `alpha`, `/alpha`, `root/alpha/beta`.
    public let realm: String

    /// A profile.
    /// - Throws: `EndpointError` when the address is not safe to send a password to, or has a query or a fragment.
    public init(url: String, realm: String = "root", policy: EndpointPolicy = .secure) throws(EndpointError) {
        guard !url.contains("?"), !url.contains("#") else { throw .notAWebAddress }
        let trimmed = url.hasSuffix("/") ? String(url.dropLast()) : url
        baseURL = try Endpoint(trimmed, policy: policy)
        self.realm = realm
    }

    /// The realm as a path: every part under its own `realms/`, the root first (protocol/journey.md section 1.2).
    var realmPath: String {
        var parts = realm.split(separator: "/").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        if parts.first?.lowercased() != "root" { parts.insert("root", at: 0) }
        return parts.map { "realms/\($0.percentEncoded())" }.joined(separator: "/")
    }

    func authenticateURL(query: [(String, String)] = []) -> String {
        let query = query.map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
        return "\(baseURL.url)/json/\(realmPath)/authenticate" + (query.isEmpty ? "" : "?\(query)")
    }
}
