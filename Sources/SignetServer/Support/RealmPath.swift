import SignetCore

/// The path of a realm, `/` for the top one, without a slash at the end otherwise.
struct RealmPath: Codable, Sendable, Hashable, CustomStringConvertible {
    let names: [String]

    /// Reads `/alpha/beta`; the slashes at both ends may be missing.
    init(_ text: some StringProtocol) {
        names = text.split { $0 == "/" }.map { String($0) }
    }

    init(names: some Sequence<String>) {
        self.names = Array(names)
    }

    static let root = RealmPath(names: [])

    var description: String { "/" + names.joined(separator: "/") }

    /// The realm as a part of a URL's path: empty for the top one, `/alpha` below it.
    var urlPath: String { names.map { "/\($0.percentEncoded())" }.joined() }

    /// What an issuer's address adds to the server's: `/oauth2`, or `/oauth2/realms/root/realms/alpha`, as AM prints it.
    var issuerPath: String {
        guard !names.isEmpty else { return "/oauth2" }
        return "/oauth2/realms/root" + names.map { "/realms/\($0.percentEncoded())" }.joined()
    }
}
