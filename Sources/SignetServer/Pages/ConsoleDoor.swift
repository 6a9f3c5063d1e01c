import SignetCore

/// Who may open the console: a browser that came with a link of this server's, once, and has had a cookie since.
struct ConsoleDoor: Sendable {
    /// The most links that can wait, and the most browsers that can look.
    static let places = 16

    private var links: [BearerKey] = []
    private var browsers: [BearerKey] = []

    /// A token for a new link.
    mutating func invite() -> String {
        let token = RandomID.token()
        links = (links + [BearerKey(token)]).suffix(Self.places)
        return token
    }

    /// Takes a link, and gives the browser that came with it a cookie. Nil when the link is not good, or not any more.
    mutating func enter(with token: String) -> String? {
        guard let index = links.firstIndex(of: BearerKey(token)) else { return nil }
        links.remove(at: index)
        let cookie = RandomID.token()
        browsers = (browsers + [BearerKey(cookie)]).suffix(Self.places)
        return cookie
    }

    func isOpen(to cookie: String) -> Bool { browsers.contains(BearerKey(cookie)) }
}
