import Foundation
import SignetCore

/// A push message as text for the user or as JSON.
struct NotificationDescription {
    private let notification: PushNotification
    private let date: Date

    init(_ notification: PushNotification, at date: Date) {
        self.notification = notification
        self.date = date
    }

    func line(json: Bool) -> TerminalText { json ? JSONText.line(self.json) : text }

    private var text: TerminalText {
        let message = notification.message
        var parts = [
            String(notification.id.prefix(8)), notification.state(at: date).rawValue, message.kind.wireName,
            message.text ?? "(no text)",
        ]
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
            "mechanism": .string(message.mechanismUID), "state": .string(notification.state(at: date).rawValue),
            "type": .string(message.kind.wireName), "message": .string(message.text), "numbers": numbers,
            "customPayload": .string(message.customPayload), "contextInfo": .string(message.contextInfo),
            "receivedAt": .string(notification.receivedAt.text), "expiresAt": .string(notification.expiresAt.text),
        ])
    }
}
