import SignetCore

/// A node that sends the user an email with a link, and continues when a client opens the link.
struct EmailSuspendNode: Node {
    static let type = NodeType(
        "EmailSuspendNode", "Email Suspend",
        "Sends an email with a link, and continues when a client opens the link. The server sends it to the address of an existing user, and without one to the collected `mail`. `signet serve` prints the links, and `/admin/emails` has the emails. The links lead to the server's login page, or to `externalLoginPageURL`."
    ) { Self(message: $0.localizedText("emailSuspendMessage", Self().message)) }

    var message: LocalizedText = "An email has been sent to your inbox."

    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let page = Page(callbacks: [.text(tx.text(message), type: 0, in: "SuspendedTextOutputCallback")])
        switch journey.memory {
        case .resumed: return .transition(.outcome)
        case .suspended: return .prompt(page)
        default:
            let token = RandomID.token()
            // The page is the same for a user that does not exist, so that it does not reveal which users exist. Such a user gets an
            // email only at an address that the journey has collected, as in a registration.
            if let recipient = try tx.emailRecipient(of: journey) {
                if recipient.exists { journey.identified = try tx.identified(recipient.user) }
                journey.emailAddress = recipient.address
                let link = Self.link(token, journey.realm, tx.time)
                try tx.send(.link(link, issuer: tx.time.configuration.issuer, in: tx.pageLanguage), to: recipient)
            }
            return .suspend(page, token: token)
        }
    }

    /// Returns the address that resumes the journey, with its realm and token in the query.
    private static func link(_ token: String, _ realm: RealmPath, _ time: RequestTime) -> String {
        let page = time.configuration.externalLoginPageURL ?? "\(time.baseURL)/XUI/"
        let separator = !page.contains("?") ? "?" : page.hasSuffix("?") || page.hasSuffix("&") ? "" : "&"
        return "\(page)\(separator)realm=\(realm.description.percentEncoded())&suspendedId=\(token)"
    }
}
