/// A node that recognizes the user by a persistent cookie.
struct PersistentCookieDecisionNode: Node {
    static let type = NodeType(
        "PersistentCookieDecisionNode", "Persistent Cookie Decision",
        "Recognizes the user by a cookie that Set Persistent Cookie has set: `true` when it is valid. At the end of the journey the cookie is set again with a new idle time, in hours. With `enforceClientIp` it is valid only from the address at which it was set.",
        ignoring: ["hmacSigningKey", "hmacSigningKeySecretLabelIdentifier", "useSameSiteCookie"]
    ) { decoder in
        Self(
            name: decoder.persistentCookieName(), idleHours: decoder.integer("idleTimeout", 5, in: 1...87_600),
            checksAddress: decoder.bool("enforceClientIp", false), isSecure: decoder.bool("useSecureCookie", false),
            isHTTPOnly: decoder.bool("useHttpOnlyCookie", true))
    }

    var name = "session-jwt"
    /// The time without use after which the cookie is invalid, in hours.
    var idleHours = 5
    /// True to accept the cookie only from the address at which it was set.
    var checksAddress = false
    var isSecure = false
    var isHTTPOnly = true

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let accepted = try tx.persistentCookie(name, in: journey.realm, checksAddress: checksAddress) else {
            tx.explain("the request has no valid cookie `\(name)`")
            return .transition(.isFalse)
        }
        journey.username = accepted.user.name
        journey.identified = try tx.identified(accepted.user)
        journey.keep(
            PersistentCookie(
                name: name, idleTime: idleHours * 3600, end: accepted.end, isSecure: isSecure, isHTTPOnly: isHTTPOnly))
        return .transition(.isTrue)
    }
}
