import SignetCore

/// Who may open the console: a browser that came with a link of this server's, once, and has had a cookie since.
struct ConsoleDoor {
    /// The most links that can wait, and the most browsers that can look.
    static let places = 16

    struct Guests: Codable, Sendable {
        var links: [BearerKey] = []
        var browsers: [BearerKey] = []
    }

    private var table: Table<String, Guests>

    init(_ transaction: DeskTransaction) {
        table = Table(.console, transaction)
    }

    private var guests: Guests {
        get { table["guests"] ?? Guests() }
        set { table["guests"] = newValue }
    }

    /// A token for a new link.
    mutating func invite() -> String {
        let token = RandomID.token()
        guests.links = (guests.links + [BearerKey(token)]).suffix(Self.places)
        return token
    }

    /// Takes a link, and gives the browser that came with it a cookie. Nil when the link is not good, or not any more.
    mutating func enter(with token: String) -> String? {
        guard let index = guests.links.firstIndex(of: BearerKey(token)) else { return nil }
        guests.links.remove(at: index)
        let cookie = RandomID.token()
        guests.browsers = (guests.browsers + [BearerKey(cookie)]).suffix(Self.places)
        return cookie
    }

    func isOpen(to cookie: String) -> Bool { guests.browsers.contains(BearerKey(cookie)) }
}
