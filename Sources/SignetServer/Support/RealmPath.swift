import SignetCore

/// The path of a realm: `/` for the top-level realm, and no trailing slash for other realms.
struct RealmPath: Codable, Sendable, Hashable, CustomStringConvertible {
    let names: [String]

    /// Reads `/alpha/beta`.
    ///
    /// The leading slash is optional, and a trailing slash is ignored.
    init(_ text: some StringProtocol) {
        names = text.split { $0 == "/" }.map { String($0) }
    }

    init(names: some Sequence<String>) {
        self.names = Array(names)
    }

    static let root = RealmPath(names: [])

    var description: String { names.isEmpty ? "/" : "/" + names.joined(separator: "/") }

    /// The realm as part of a URL path: empty for the top-level realm, `/alpha` below it.
    var urlPath: String { names.map { "/\($0.percentEncoded())" }.joined() }

    /// The part of an issuer URL after the server's base URL: `/oauth2`, or `/oauth2/realms/root/realms/alpha`, as in AM.
    var issuerPath: String {
        guard !names.isEmpty else { return "/oauth2" }
        return "/oauth2/realms/root" + names.map { "/realms/\($0.percentEncoded())" }.joined()
    }
}
