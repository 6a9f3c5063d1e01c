import SignetCore

/// The access to the console. A browser that opens a link of this server gets a cookie, with which it can use the console. Each
/// link is valid once.
struct ConsoleAccess {
    /// The maximum number of unused links, and of browsers with access.
    static let places = 16

    struct ConsoleSessions: Codable, Sendable {
        var links: [TokenHash] = []
        var browsers: [TokenHash] = []
    }

    private var table: Table<String, ConsoleSessions>

    init(_ transaction: RowCache) {
        table = Table(.console, transaction)
    }

    private var consoleSessions: ConsoleSessions {
        get { table["guests"] ?? ConsoleSessions() }
        set { table["guests"] = newValue }
    }

    /// Creates the token of a new link.
    mutating func invite() -> String {
        let token = RandomID.token()
        consoleSessions.links = (consoleSessions.links + [TokenHash(token)]).suffix(Self.places)
        return token
    }

    /// Exchanges the token of a link for a cookie. It returns nil when the token is unknown, already used or displaced by newer
    /// ones.
    mutating func enter(with token: String) -> String? {
        guard let index = consoleSessions.links.firstIndex(of: TokenHash(token)) else { return nil }
        consoleSessions.links.remove(at: index)
        let cookie = RandomID.token()
        consoleSessions.browsers = (consoleSessions.browsers + [TokenHash(cookie)]).suffix(Self.places)
        return cookie
    }

    func isOpen(to cookie: String) -> Bool { consoleSessions.browsers.contains(TokenHash(cookie)) }
}
