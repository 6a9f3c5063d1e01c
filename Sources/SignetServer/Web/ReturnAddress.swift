/// The URL to which the browser goes after the login, if the login URL contains one.
///
/// The URL is not trusted. It must be a page of this server that redirects to the login, or a URL that a client of the realm has
/// registered. This prevents open redirects from the login page to websites of attackers.
struct ReturnAddress: Codable, Sendable, Hashable {
    /// The URL to go to.
    ///
    /// For a page of this server, it has no host, so that the browser stays at the host name for which it has the cookie.
    let location: String
    /// The Content-Security-Policy sources to which the browser may be redirected from there.
    let formTargets: [String]
    /// The id of the client to which the login leads; nil when it does not lead to a client.
    let client: String?
    /// The realm of that client; nil without a client, and in rows that an earlier version wrote.
    let clientRealm: RealmPath?

    /// Creates a return URL; nil when the URL is not permitted.
    init?(_ text: String, in realm: RealmPath, realms: Set<RealmPath>, _ tx: ServerTransaction) {
        guard Self.isPlain(text) else { return nil }
        guard let path = Self.ownPath(text, tx.time) else {
            guard let owner = Self.owner(of: text, in: realm, tx) else { return nil }
            (client, clientRealm) = (owner.id, owner.key.realm)
            location = text
            formTargets = CSPSource(text).map { [$0.text] } ?? []
            return
        }
        guard let below = path.below(contextPath: tx.time.configuration.normalContextPath) else { return nil }
        let parts = AddressParts(below)
        let parameters = parts.query.flatMap { try? Parameters($0) }
        guard let address = Route.Address(path: parts.path, realmParameter: parameters?["realm"]),
            [.authorize, .deviceUser].contains(address.route), realms.contains(address.realm)
        else { return nil }
        location = path
        let target = parameters.flatMap {
            try? AuthorizationReturn($0, in: address.realm, tx.clients, tx.time)
        }
        (client, clientRealm) = (target?.client.id, target?.client.key.realm)
        formTargets = (target?.redirectURI.flatMap { CSPSource($0) }).map { [$0.text] } ?? []
    }

    /// Returns true when a client may be told to go to the URL after a login: a page of this server, or a URL that a client of the
    /// realm has registered.
    ///
    /// In contrast to the login page, the server doesn't redirect there itself, so every page of this server is permitted.
    static func isPermitted(_ text: String, in realm: RealmPath, _ tx: ServerTransaction) -> Bool {
        isPlain(text) && text.utf8.count <= maxLength && (ownPath(text, tx.time) != nil || owner(of: text, in: realm, tx) != nil)
    }

    /// The maximum length of a URL that a journey stores, in bytes.
    private static var maxLength: Int { 8192 }

    /// Returns true for text without characters that clients could read differently than this server does.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// Returns the client of the realm that has registered the URL.
    private static func owner(of text: String, in realm: RealmPath, _ tx: ServerTransaction) -> RegisteredClient? {
        tx.clients.all.first { $0.key.realm == realm && ($0.mayRedirect(to: text) || $0.mayReturn(to: text)) }
    }

    /// Returns the path and query of a URL of this server; nil for other URLs.
    private static func ownPath(_ text: String, _ time: RequestTime) -> String? {
        let context = time.configuration.normalContextPath
        if text.hasPrefix("\(context)/"), !text.hasPrefix("//") { return text }
        guard text.hasPrefix("\(time.baseURL)/") else { return nil }
        return context + text[text.utf8.index(text.startIndex, offsetBy: time.baseURL.utf8.count)...]
    }
}
