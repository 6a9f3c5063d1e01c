public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The names of the Ping SDK for what a notification says. `id`, `sentAt` and the decision are the type's own.
extension PushNotification {
    /// The credential that is asked.
    public var credentialId: String { message.mechanismUID }
    /// The server's id of the message.
    public var messageId: String { messageID }
    /// The seconds that the server waits.
    public var ttl: Int { message.timeToLive }
    /// The text to show.
    public var messageText: String? { message.text }
    /// What the app put in, as it came.
    public var customPayload: String? { message.customPayload }
    /// Where the login comes from: JSON text.
    public var contextInfo: String? { message.contextInfo }
    /// The challenge in base64.
    public var challenge: String { Base64.encode(message.challenge, as: .standard) }
    /// The numbers to pick from, with commas between; nil if none are offered.
    public var numbersChallenge: String? {
        let numbers = getNumbersChallenge()
        return numbers.isEmpty ? nil : numbers.map(String.init).joined(separator: ",")
    }
    /// The routing cookie, `name=value`.
    public var loadBalancer: String? { message.loadBalancerCookie }
    /// How it wants to be answered.
    public var pushType: PushType {
        switch message.kind {
        case .tap: .default
        case .number: .challenge
        case .biometric: .biometric
        }
    }
    /// The same as ``pushType``.
    public var type: PushType { pushType }
    /// When it came.
    public var createdAt: Date { receivedAt }
    /// When the server sent it, by the server's clock.
    public var sentAt: Date? { message.sentAt }
    /// Claims that have no meaning here, by name.
    public var additionalData: [String: JSONValue] { message.otherClaims }
    /// Whether it was approved.
    public var approved: Bool { decision == .approved }
    /// Whether nobody has answered; also of one whose time is over, see ``isExpired``.
    public var pending: Bool { decision == nil }
    /// Whether somebody has answered.
    public var responded: Bool { decision != nil }
    /// Whether its time is over by now, and nobody has answered. It counts from when the server sent it.
    public var isExpired: Bool { state(at: SystemWallClock().now) == .expired }

    /// The numbers to pick from; none if none are offered.
    public func getNumbersChallenge() -> [Int] {
        if case .number(let choices) = message.kind { choices } else { [] }
    }
}
