import SignetCore

/// The access to the console.
///
/// A browser that opens a link of this server gets a cookie, with which it can use the console. Each link is valid once.
struct ConsoleAccess {
    /// The maximum number of unused links, and of browsers with access.
    static let capacity = 16

    struct ConsoleSessions: Codable, Sendable {
        var links: [TokenHash] = []
        var browsers: [TokenHash] = []
    }

    private var table: Table<String, ConsoleSessions>

    init(_ transaction: RowCache) {
        table = Table(.console, transaction)
    }

    private static let row = "guests"

    private var sessions: ConsoleSessions {
        get throws { try table[Self.row] ?? ConsoleSessions() }
    }

    /// Creates the token of a new link.
    mutating func invite() throws -> String {
        let token = RandomID.token()
        var sessions = try sessions
        sessions.links = (sessions.links + [TokenHash(token)]).suffix(Self.capacity)
        table.insert(sessions, for: Self.row)
        return token
    }

    /// Exchanges the token of a link for a cookie.
    ///
    /// It returns nil when the token is unknown, already used or displaced by newer ones.
    mutating func enter(with token: String) throws -> String? {
        var sessions = try sessions
        guard let index = sessions.links.firstIndex(of: TokenHash(token)) else { return nil }
        sessions.links.remove(at: index)
        let cookie = RandomID.token()
        sessions.browsers = (sessions.browsers + [TokenHash(cookie)]).suffix(Self.capacity)
        table.insert(sessions, for: Self.row)
        return cookie
    }

    func isOpen(to cookie: String) throws -> Bool { try sessions.browsers.contains(TokenHash(cookie)) }
}
