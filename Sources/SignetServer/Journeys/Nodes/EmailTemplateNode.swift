import SignetCore

/// A node that sends the user an email, and continues.
struct EmailTemplateNode: Node {
    static let type = NodeType(
        "EmailTemplateNode", "Email Template",
        "Sends an email without a link, and continues. This server has no templates: the email names the template and its user. A user without an address gets none."
    ) { decoder in
        Self(
            template: decoder.string("emailTemplateName", Self().template), attribute: decoder.string("emailAttribute", "mail"),
            identityAttribute: decoder.identityAttribute())
    }

    var template = "welcome"
    /// The attribute with the address.
    var attribute = "mail"
    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.emailSent, .emailNotSent] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        var addressed = journey
        addressed.username = try tx.directory.user(of: journey, by: identityAttribute)?.name ?? journey.username
        guard let recipient = try tx.emailRecipient(of: addressed, attribute: attribute), recipient.address != nil else {
            tx.explain("the user has no email address")
            return .transition(.emailNotSent)
        }
        let issuer = tx.time.configuration.issuer
        let text = "\(issuer) sends this email to \(recipient.user.name) with the template \(template)."
        let email = EmailContent(subject: "\(issuer): \(template)", text: text + "\n", html: Markup.document(tag("p") { text }))
        return .transition(try tx.send(email, to: recipient) ? .emailSent : .emailNotSent)
    }
}
