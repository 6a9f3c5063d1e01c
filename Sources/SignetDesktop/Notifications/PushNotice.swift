package import Foundation
package import SignetCore

/// The content of a desktop notification for a push message.
///
/// The summary contains the issuer and nothing else of the message, because some desktops show summaries on a locked screen.
/// Everything else is in the body. All texts of a server are in one line each, and shortened.
package struct PushNotice: Sendable, Hashable {
    /// The user's answer.
    package enum Answer: Sendable, Hashable {
        /// The user approves. For a biometric message, the user's presence must be checked after this.
        case approve
        /// The user approves with the number that the login page shows.
        case number(Int)
        /// The user denies.
        case deny

        /// The key of the action on the bus.
        ///
        /// It is never `default`, which notification servers use for a click on the notification itself.
        var key: String {
            switch self {
            case .approve: "approve"
            case .number(let number): "number-\(number)"
            case .deny: "deny"
            }
        }

        /// The text of the button.
        var label: String {
            switch self {
            case .approve: "Approve"
            case .number(let number): String(number)
            case .deny: "Deny"
            }
        }
    }

    /// The first line.
    package let summary: String
    /// The lines of the body, without markup.
    package let body: [String]
    /// The answers that the user can choose, in the order of the buttons; empty for a message whose number is typed in a terminal.
    package let answers: [Answer]
    /// The lines that are added to the body when the notification server has no buttons.
    package let commands: [String]
    /// The time at which the server of the login stops waiting, by this machine's clock.
    package let expiresAt: Date

    /// The maximum number of numbers that are buttons.
    ///
    /// AM sends three, and desktops show no more.
    private static let maxNumbers = 3

    /// Describes a push message.
    /// - Parameters:
    ///   - notification: The message, which is pending.
    ///   - issuer: The issuer of the message's account; nil when the account isn't known.
    ///   - accountName: The name of the user in the account.
    ///   - timeZone: The time zone of the time that the notice shows.
    package init(for notification: PushNotification, issuer: String?, accountName: String?, timeZone: TimeZone = .current) {
        let message = notification.message
        let id = String(notification.id.prefix(8))
        summary = Self.title(issuer)
        expiresAt = notification.expiresAt
        let offered = Self.offered(message.kind, id)
        answers = offered.answers
        commands = offered.commands

        var lines = [NoticeText.line(message.text ?? "", limit: 200)]
        // In quotation marks, so that it cannot pass for signed text.
        if let subject = notification.unsignedSubject.map({ NoticeText.line($0, limit: 100) }), !subject.isEmpty {
            lines.append("Not signed: “\(subject)”")
        }
        if let accountName { lines.append(Self.line("Account", NoticeText.line(accountName, limit: 80))) }
        let context = LoginContext(message.contextInfo)
        lines.append(Self.line("Address", context.address))
        lines.append(Self.line("Location", context.location))
        lines.append(Self.line("Browser", context.browser))
        // It also distinguishes two logins that are otherwise equal: dunst shows equal notifications as one.
        let began = notification.expiresAt.addingTimeInterval(-Double(message.timeToLive))
        lines.append("Time: \(Self.time(of: began, in: timeZone)), message \(id)")
        switch message.kind {
        case .number(let choices) where answers.isEmpty:
            if !choices.isEmpty { lines.append("Numbers: " + choices.prefix(10).map(String.init).joined(separator: ", ")) }
        case .number: lines.append("Choose the number that the login page shows.")
        case .biometric: lines.append("Your presence is checked after you approve.")
        case .tap: break
        }
        body = lines.filter { !$0.isEmpty }
    }

    private static func title(_ issuer: String?) -> String {
        let issuer = NoticeText.line(issuer ?? "", limit: 60)
        return issuer.isEmpty ? "Login request" : "Login request: \(issuer)"
    }

    /// Returns hours, minutes and seconds.
    private static func time(of date: Date, in timeZone: TimeZone) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + timeZone.secondsFromGMT(for: date)
        return [(seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60].map { number in
            number < 10 ? "0\(number)" : "\(number)"
        }.joined(separator: ":")
    }

    private static func line(_ name: String, _ value: String?) -> String {
        guard let value, !value.isEmpty else { return "" }
        return "\(name): \(value)"
    }

    /// Returns the buttons, and the lines with the commands of the terminal that do the same.
    private static func offered(_ kind: PushKind, _ id: String) -> (answers: [Answer], commands: [String]) {
        let deny = "Deny: signet push deny \(id)"
        switch kind {
        case .tap, .biometric: return ([.approve, .deny], ["Approve: signet push approve \(id)", deny])
        case .number(let choices):
            let commands = ["Approve: signet push approve \(id) --number NUMBER", deny]
            var numbers: [Int] = []
            for number in choices where !numbers.contains(number) && numbers.count <= maxNumbers { numbers.append(number) }
            // Without numbers the user types the number, which takes a terminal. Of many, some would have no button.
            guard 1...maxNumbers ~= numbers.count else { return ([], commands) }
            return (numbers.map { Answer.number($0) } + [Answer.deny], commands)
        }
    }
}

// MARK: On the bus

/// The capabilities of a notification server (Desktop Notifications Specification, "GetCapabilities").
package struct NotificationCapabilities: Sendable, Hashable {
    /// True when the server shows buttons.
    package let hasActions: Bool
    /// True when the server shows a body.
    package let hasBody: Bool
    /// True when the server reads markup in the body.
    package let hasMarkup: Bool

    /// Reads the names of the capabilities; unknown ones are ignored.
    package init(_ names: [String]) {
        hasActions = names.contains("actions")
        hasBody = names.contains("body")
        hasMarkup = names.contains("body-markup")
    }
}

extension PushNotice {
    /// The answers that are buttons at a server with these capabilities.
    ///
    /// A server without a body gets no buttons: it doesn't show the user what a button would approve.
    package func answers(at server: NotificationCapabilities) -> [Answer] {
        server.hasActions && server.hasBody ? answers : []
    }

    /// The summary at a server with these capabilities.
    package func summary(at server: NotificationCapabilities) -> String {
        guard !server.hasBody else { return summary }
        return "\(summary) (answer with: signet push)"
    }

    /// The body at a server with these capabilities.
    package func body(at server: NotificationCapabilities) -> String {
        let lines = body + (answers(at: server).isEmpty ? commands : [])
        let text = lines.joined(separator: "\n")
        return server.hasMarkup ? NoticeText.escaped(text) : text
    }
}
