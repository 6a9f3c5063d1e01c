public import Foundation
public import SignetCore

/// The properties of a notification under the names of the Ping SDK. `id` and the decision are properties of the type itself.
extension PushNotification {
    /// The id of the credential that the message is for.
    public var credentialId: String { message.mechanismUID }
    /// The server's message id.
    public var messageId: String { messageID }
    /// The seconds for which the server waits for an answer.
    public var ttl: Int { message.timeToLive }
    /// The text to show.
    public var messageText: String? { message.text }
    /// The custom payload of the message, unchanged.
    public var customPayload: String? { message.customPayload }
    /// The context of the login, such as its origin, as JSON text.
    public var contextInfo: String? { message.contextInfo }
    /// The challenge in base64.
    public var challenge: String { Base64.encode(message.challenge, as: .standard) }
    /// The numbers to pick from, separated by commas; nil when no numbers are offered.
    public var numbersChallenge: String? {
        let numbers = getNumbersChallenge()
        return numbers.isEmpty ? nil : numbers.map(String.init).joined(separator: ",")
    }
    /// The load balancer cookie, `name=value`.
    public var loadBalancer: String? { message.loadBalancerCookie }
    /// The kind of answer that the notification asks for.
    public var pushType: PushType {
        switch message.kind {
        case .tap: .default
        case .number: .challenge
        case .biometric: .biometric
        }
    }
    /// The value of ``pushType``.
    public var type: PushType { pushType }
    /// The time at which the message arrived.
    public var createdAt: Date { receivedAt }
    /// The time at which the server sent the message, by the server's clock.
    public var sentAt: Date? { message.sentAt }
    /// The claims of the message that have no property of their own, by name.
    public var additionalData: [String: JSONValue] { message.otherClaims }
    /// True when the notification was approved.
    public var approved: Bool { decision == .approved }
    /// True when the notification has not been answered, even if it has expired; see ``isExpired``.
    public var pending: Bool { decision == nil }
    /// True when the notification was answered.
    public var responded: Bool { decision != nil }
    /// True when the notification has expired without an answer.
    ///
    /// The time to live starts when the server sent the message.
    public var isExpired: Bool { state(at: SystemWallClock().now) == .expired }

    /// Returns the numbers to pick from; an empty list when no numbers are offered.
    public func getNumbersChallenge() -> [Int] {
        if case .number(let choices) = message.kind { choices } else { [] }
    }
}
