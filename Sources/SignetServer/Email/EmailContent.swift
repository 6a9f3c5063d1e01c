import SignetCore

/// The content of an email that a node sends.
struct EmailContent: Sendable, Hashable {
    var subject: String
    /// The text for programs that show no HTML.
    var text: String
    var html: String
    /// The link that the user is to open; nil for an email without one.
    var link: String?
    /// The code that the user is to type; nil for an email without one.
    var code: String?

    /// Returns the server's own email with a link.
    /// - Parameters:
    ///   - link: The link.
    ///   - issuer: The name of the server.
    ///   - language: The language of the user.
    /// - Returns: The content of the email.
    static func link(_ link: String, issuer: String, in language: PageLanguage) -> EmailContent {
        let button = tag("a", ["href": link]) { language.sentence(.continueLabel) }
        var content = EmailContent(
            showing: link, as: button, title: .emailLinkTitle, about: .emailLinkAbout, issuer: issuer, in: language)
        content.link = link
        return content
    }

    /// Returns the server's own email with a code.
    /// - Parameters:
    ///   - code: The code.
    ///   - issuer: The name of the server.
    ///   - language: The language of the user.
    /// - Returns: The content of the email.
    static func code(_ code: String, issuer: String, in language: PageLanguage) -> EmailContent {
        var content = EmailContent(
            showing: code, as: tag("strong") { code }, title: .emailCodeTitle, about: .emailCodeAbout, issuer: issuer,
            in: language)
        content.code = code
        return content
    }

    private static func document(_ title: String, _ content: Markup, in language: PageLanguage) -> String {
        Markup.document(
            tag("html", ["lang": language.tag.text, "dir": language.tag.isRightToLeft ? "rtl" : nil]) {
                tag("head") {
                    void("meta", ["charset": "utf-8"])
                    tag("title") { title }
                }
                tag("body") {
                    tag("h1") { title }
                    content
                }
            })
    }
}

extension EmailContent {
    /// Creates the server's own email, which shows a link or a code.
    fileprivate init(
        showing proof: String, as markup: Markup, title: PageText, about: PageText, issuer: String, in language: PageLanguage
    ) {
        let (title, about) = (language.sentence(title, ["issuer": issuer]), language.sentence(about, ["issuer": issuer]))
        let ignore = language.sentence(.emailIgnore)
        subject = title
        text = "\(about)\n\n\(proof)\n\n\(ignore)\n"
        html = Self.document(title, tag("p") { markup } + tag("p") { ignore }, in: language)
    }
}

/// The recipient of the emails of a journey.
struct EmailRecipient: Sendable, Hashable {
    /// The user; the name is the one that was typed, and may be empty, when the user doesn't exist.
    let user: UserKey
    /// True when the user exists.
    let exists: Bool
    /// The address; nil for a user without one, whose emails are only kept for the tester.
    let address: String?
}

extension ServerTransaction {
    /// Returns the recipient of emails of a journey.
    ///
    /// An existing user gets emails at the user's own address only, because an email may let its reader log in as the user. A user
    /// that does not exist yet, as in a registration, gets them at the address that the journey has collected.
    /// - Parameters:
    ///   - journey: The journey.
    ///   - attribute: The attribute with the address.
    /// - Returns: The recipient; nil when the user doesn't exist and the journey has collected no address.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func emailRecipient(of journey: JourneyState, attribute: String = "mail") throws -> EmailRecipient? {
        let user = journey.user ?? UserKey(realm: journey.realm, name: "")
        if let record = try directory[user] {
            let claim = CreateObjectNode.claims[attribute] ?? attribute
            return EmailRecipient(user: user, exists: true, address: record.claims[claim]?.string)
        }
        guard let address = journey.attributes[attribute]?.string, address.isEmailAddress else { return nil }
        return EmailRecipient(user: user, exists: false, address: address)
    }

    /// Sends an email, unless too many earlier ones are unanswered.
    ///
    /// It is stored for later inspection, passed to the observers of the server's events, and delivered over SMTP if that is
    /// configured.
    /// - Parameters:
    ///   - content: The content.
    ///   - recipient: The recipient.
    /// - Returns: True when the email was sent. The client must get the same answer in both cases.
    /// - Throws: The error of a row that cannot be read, or of the store.
    @discardableResult
    mutating func send(_ content: EmailContent, to recipient: EmailRecipient) throws -> Bool {
        guard try !isPaused(recipient) else { return false }
        try pacing.sent(to: recipient, time.configuration.messageLimits)
        var message = SentEmail(content, to: recipient, at: now)
        if time.configuration.smtp != nil {
            message.delivery = recipient.address == nil ? .failed("the user has no address") : .queued
        }
        try emails.keep(message, for: recipient)
        effects.append(.email(Email(content, to: recipient)))
        if message.delivery == .queued { effects.append(.deliver(EmailDelivery(message, to: recipient))) }
        return true
    }
}
