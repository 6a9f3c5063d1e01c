import SignetCore

/// A node that sends the one-time password of HOTP Generator by email.
struct OneTimePasswordSMTPSenderNode: Node {
    static let type = NodeType(
        "OneTimePasswordSmtpSenderNode", "OTP Email Sender",
        "Sends the one-time password of HOTP Generator by email: to the address of an existing user, and without one to the collected `emailAttribute`. `{{OTP}}` in `emailContent` is the password. `/admin/emails` has the emails; the mail server is that of this server.",
        ignoring: [
            "hostName", "hostPort", "username", "password", "passwordPurpose", "fromEmailAddress", "sslOption",
            "smsGatewayImplementationClass", "gatewaySMSImplementationClass", "transportAdapterSecretId",
        ]
    ) { decoder in
        Self(
            attribute: decoder.string("emailAttribute", "mail"), subject: decoder.optionalLocalizedText("emailSubject"),
            content: decoder.optionalLocalizedText("emailContent"))
    }

    /// The attribute with the address.
    var attribute = "mail"
    /// The subject; nil for the server's own.
    var subject: LocalizedText?
    /// The text with `{{OTP}}` in place of the password; nil for the server's own.
    var content: LocalizedText?

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let password = journey.oneTimePassword?.password.text else {
            return .fail("there is no one-time password to send: HOTP Generator comes first")
        }
        // The journey continues without a recipient too, so that it does not reveal which users exist.
        guard let recipient = try tx.emailRecipient(of: journey, attribute: attribute) else { return .transition(.outcome) }
        var email = EmailContent.code(password, issuer: tx.time.configuration.issuer, in: tx.pageLanguage)
        if let subject { email.subject = tx.text(subject) }
        if let content {
            email.html = tx.text(content).replacing("{{OTP}}", with: password)
            email.text = email.html.withoutTags
        }
        journey.emailAddress = recipient.address
        try tx.send(email, to: recipient)
        return .transition(.outcome)
    }
}

extension String {
    /// The text without HTML tags, for programs that show no HTML.
    fileprivate var withoutTags: String {
        var text = ""
        var isTag = false
        for character in self {
            if character == "<" {
                isTag = true
            } else if character == ">", isTag {
                isTag = false
            } else if !isTag {
                text.append(character)
            }
        }
        return text
    }
}
