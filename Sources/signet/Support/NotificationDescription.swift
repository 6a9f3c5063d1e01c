import Foundation
import SignetAuthenticator
import SignetCore

/// A push message with its account, as text for the user or as JSON.
struct NotificationDescription {
    private let notification: PushNotification
    private let account: EnrolledAccount?
    private let date: Date

    /// Describes a message.
    /// - Parameters:
    ///   - notification: The message.
    ///   - accounts: The accounts in the vault. The account of the message's mechanism is shown, because the messages of some
    ///     servers have no text.
    ///   - date: The current time.
    init(_ notification: PushNotification, of accounts: [EnrolledAccount], at date: Date) {
        self.notification = notification
        let uid = notification.message.mechanismUID
        account = accounts.first { account in account.mechanisms.contains { $0.uid == uid } }
        self.date = date
    }

    func line(json: Bool) -> TerminalText { json ? JSONText.line(self.json) : text }

    private var text: TerminalText {
        let message = notification.message
        var parts = [
            String(notification.id.prefix(8)), notification.state(at: date).rawValue, message.kind.wireName,
            account?.shownName ?? "(unknown account)", message.text ?? "(no text)",
        ]
        // In quotation marks with escapes, so that a subject cannot pass for another part of the line.
        if let subject = notification.unsignedSubject { parts.append("unsigned: \(JSON.text(of: .string(subject)))") }
        if case .number(let choices) = message.kind { parts.append("numbers " + choices.map(String.init).joined(separator: " ")) }
        if notification.state(at: date) == .pending {
            parts.append("\(max(0, Int(notification.expiresAt.timeIntervalSince(date)))) s left")
        }
        return TerminalText(parts.joined(separator: "  "))
    }

    private var json: JSONValue {
        let message = notification.message
        var numbers: JSONValue?
        if case .number(let choices) = message.kind { numbers = .array(choices.map { .integer(Int64($0)) }) }
        return JSONText.object([
            "id": .string(notification.id), "messageId": .string(notification.messageID),
            "mechanism": .string(message.mechanismUID),
            "issuer": .string(account?.account.id.issuer), "account": .string(account?.account.id.accountName),
            "state": .string(notification.state(at: date).rawValue),
            "type": .string(message.kind.wireName), "message": .string(message.text), "numbers": numbers,
            "unsignedSubject": .string(notification.unsignedSubject),
            "customPayload": .string(message.customPayload), "contextInfo": .string(message.contextInfo),
            "receivedAt": .string(notification.receivedAt.text), "expiresAt": .string(notification.expiresAt.text),
        ])
    }
}
