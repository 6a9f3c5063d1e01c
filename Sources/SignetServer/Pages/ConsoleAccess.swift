import SignetCore

/// Who may open the console: a browser that came with a link of this server's, once, and has had a cookie since.
struct ConsoleAccess {
    /// The most links that can wait, and the most browsers that can look.
    static let places = 16

    struct ConsoleSessions: Codable, Sendable {
        var links: [TokenHash] = []
        var browsers: [TokenHash] = []
    }

    private var table: Table<String, ConsoleSessions>

    init(_ transaction: RowCache) {
        table = Table(.console, transaction)
    }

    private var guests: ConsoleSessions {
        get { table["guests"] ?? ConsoleSessions() }
        set { table["guests"] = newValue }
    }

    /// A token for a new link.
    mutating func invite() -> String {
        let token = RandomID.token()
        guests.links = (guests.links + [TokenHash(token)]).suffix(Self.places)
        return token
    }

    /// Takes a link, and gives the browser that came with it a cookie. Nil when the link is not good, or not any more.
    mutating func enter(with token: String) -> String? {
        guard let index = guests.links.firstIndex(of: TokenHash(token)) else { return nil }
        guests.links.remove(at: index)
        let cookie = RandomID.token()
        guests.browsers = (guests.browsers + [TokenHash(cookie)]).suffix(Self.places)
        return cookie
    }

    func isOpen(to cookie: String) -> Bool { guests.browsers.contains(TokenHash(cookie)) }
}
