import SignetCore

/// Where a browser goes after the login, when the address that it came with says so.
///
/// The address is a stranger's: it must be one of this server's own pages that send people to log in, or one that a client of the
/// realm has registered. So nobody can make this server's login page the first step to a page of theirs.
struct ReturnAddress: Codable, Sendable, Hashable {
    /// Where to go. A page of this server is named without its host, so that the browser stays at the name it knows us by, where
    /// its cookie is.
    let location: String
    /// Where the browser may end up from there.
    let formTargets: [String]
    /// The client that the person goes on to; nil when it is none.
    let client: String?

    /// Nil when the address is none of those.
    init?(_ text: String, in realm: RealmPath, realms: Set<RealmPath>, _ state: ServerTransaction, _ moment: RequestTime) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        guard let path = Self.ownPath(text, moment) else {
            let owner = state.clients.all.first {
                $0.key.realm == realm && ($0.mayRedirect(to: text) || $0.mayReturn(to: text))
            }
            guard let owner else { return nil }
            client = owner.id
            location = text
            formTargets = CSPSource(text).map { [$0.text] } ?? []
            return
        }
        let below = path.dropFirst(moment.configuration.normalContextPath.count)
        let parts = below.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parameters = parts.count == 2 ? try? Parameters(parts[1]) : nil
        guard let address = ResourceAddress(path: parts[0], realmParameter: parameters?["realm"]),
            [.authorize, .deviceUser].contains(address.resource), realms.contains(address.realm)
        else { return nil }
        location = path
        let target = parameters.flatMap {
            try? AuthorizationReturn($0, in: address.realm, state.clients, issuer: moment.issuer(of: address.realm))
        }
        client = target?.client.id
        formTargets = (target.flatMap { CSPSource($0.redirectURI) }).map { [$0.text] } ?? []
    }

    /// The path and query of an address of this server; nil for every other address.
    private static func ownPath(_ text: String, _ moment: RequestTime) -> String? {
        let context = moment.configuration.normalContextPath
        if text.hasPrefix("\(context)/"), !text.hasPrefix("//") { return text }
        guard text.hasPrefix("\(moment.baseURL)/") else { return nil }
        return context + text.dropFirst(moment.baseURL.count)
    }
}
