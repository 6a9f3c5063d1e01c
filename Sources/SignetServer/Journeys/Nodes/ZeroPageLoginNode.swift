import SignetCore

/// A node that takes the name and the password from headers of the request.
struct ZeroPageLoginNode: Node {
    static let type = NodeType(
        "ZeroPageLoginNode", "Zero Page Login Collector",
        "Takes the name and the password from headers of the request: `true` when it has both. Values other than ASCII are encoded words (RFC 2047). Without `allowWithoutReferer` the request needs a `Referer` of the `referrerWhiteList`, or else the login fails."
    ) { decoder in
        Self(
            usernameHeader: decoder.string("usernameHeader", Self().usernameHeader),
            passwordHeader: decoder.string("passwordHeader", Self().passwordHeader),
            allowsAnyReferer: decoder.bool("allowWithoutReferer", true),
            referers: decoder.optionalStrings("referrerWhiteList") ?? [])
    }

    var usernameHeader = "X-OpenAM-Username"
    var passwordHeader = "X-OpenAM-Password"
    /// True to accept requests without the header `Referer`, or with any.
    var allowsAnyReferer = true
    var referers: [String] = []

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let request = tx.request, let name = request.header(usernameHeader), let password = request.header(passwordHeader),
            !request.hasUsedCredentials
        else {
            tx.explain("the request has no name and password in its headers")
            return .transition(.isFalse)
        }
        guard allowsAnyReferer || request.values("referer").first.map(referers.contains) == true else {
            return .fail("the request with a name and a password has no Referer of the list")
        }
        tx.request?.hasUsedCredentials = true
        let trimmed = String(name.trimming(" "))
        journey.username = try tx.directory.user(named: trimmed, in: journey.realm)?.name ?? trimmed
        journey.password = Secret(password.utf8)
        return .transition(.isTrue)
    }
}
