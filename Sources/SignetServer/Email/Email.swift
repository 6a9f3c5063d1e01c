import SignetCore

/// An email that a journey sent.
///
/// A suspended journey resumes when the user follows the link of the email.
public struct Email: Sendable, Hashable {
    /// The user's name.
    ///
    /// For a user that doesn't exist yet it is the name that was typed; empty when the journey has asked for none.
    public let user: String
    /// The user's realm, as a path.
    public let realm: String
    /// The address; nil for a user without one.
    public let to: String?
    /// The subject.
    public let subject: String
    /// The text for programs that show no HTML.
    public let text: String
    /// The HTML document.
    public let html: String
    /// The link; nil for an email without one.
    ///
    /// Any client that has it can resume the journey as the user.
    public let link: String?
    /// The code that the user is to type; nil for an email without one.
    public let code: String?

    init(_ content: EmailContent, to recipient: EmailRecipient) {
        (user, realm, to) = (recipient.user.name, recipient.user.realm.description, recipient.address)
        (subject, text, html) = (content.subject, content.text, content.html)
        (link, code) = (content.link, content.code)
    }

    init(_ entry: SentEmails.Entry) {
        (user, realm, to) = (entry.user.name, entry.user.realm.description, entry.message?.to)
        (subject, text, html) = (entry.message?.subject ?? "", entry.message?.text ?? "", entry.message?.html ?? "")
        (link, code) = (entry.link, entry.message?.code)
    }
}

extension SentEmails.Entry {
    /// Returns true for an email to an address, without regard to case.
    func isTo(_ address: String) -> Bool { message?.to?.lowercased() == address.lowercased() }
}
