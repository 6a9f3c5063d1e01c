import Foundation

/// A node that makes the browser keep a cookie, by which Persistent Cookie Decision recognizes the user.
struct SetPersistentCookieNode: Node {
    static let type = NodeType(
        "SetPersistentCookieNode", "Set Persistent Cookie",
        "Sets a cookie when the journey ends with success, by which Persistent Cookie Decision recognizes the user. The times are hours. The server signs the cookie with its own key. A new password makes it invalid.",
        ignoring: ["hmacSigningKey", "hmacSigningKeySecretLabelIdentifier", "useSameSiteCookie"]
    ) { decoder in
        let hours = 1...87_600
        return Self(
            name: decoder.persistentCookieName(), idleHours: decoder.integer("idleTimeout", 5, in: hours),
            maximumHours: decoder.integer("maxLife", 5, in: hours), isSecure: decoder.bool("useSecureCookie", false),
            isHTTPOnly: decoder.bool("useHttpOnlyCookie", true))
    }

    var name = "session-jwt"
    /// The time without use after which the cookie is invalid, in hours.
    var idleHours = 5
    /// The time after which the cookie is invalid, in hours.
    var maximumHours = 5
    var isSecure = false
    var isHTTPOnly = true

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let cookie = PersistentCookie(
            name: name, idleTime: idleHours * 3600, end: tx.now.addingTimeInterval(Double(maximumHours) * 3600),
            isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        journey.keep(cookie)
        return .transition(.outcome)
    }
}

extension JourneyState {
    /// Sets a persistent cookie at the end of the journey, in place of another one with its name.
    mutating func keep(_ cookie: PersistentCookie) {
        persistentCookies = (persistentCookies ?? []).filter { $0.name != cookie.name } + [cookie]
    }
}
