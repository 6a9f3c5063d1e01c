public import Foundation
import SignetCore

/// A push notification, as a value.
///
/// A ``PushClient`` returns notifications that it has verified. ``markApproved()`` and ``markDenied()`` change only the value: the
/// client's methods send an answer and store the decision after the server has accepted it.
public struct PushNotification: Codable, Identifiable, Hashable, Sendable {
    /// The id of the notification.
    public let id: String
    /// The id of the credential that the message is for.
    public let credentialId: String
    /// The seconds for which the server waits for an answer.
    public let ttl: Int
    /// The server's id of the message.
    public let messageId: String
    /// The text to show.
    public let messageText: String?
    /// The custom payload of the message, unchanged.
    public let customPayload: String?
    /// The challenge in base64.
    public let challenge: String?
    /// The numbers to pick from, separated by commas.
    public var numbersChallenge: String?
    /// The load balancer cookie, `name=value`.
    public let loadBalancer: String?
    /// The context of the login, such as its origin, as JSON text.
    public let contextInfo: String?
    /// The kind of answer that the notification asks for.
    public let pushType: PushType
    /// The time at which the message arrived.
    public let createdAt: Date
    /// The time at which the server sent the message, by the server's clock.
    public let sentAt: Date?
    /// The time at which the notification was answered; nil when it was not, and for answers that earlier versions stored.
    public var respondedAt: Date?
    /// True when the notification was approved.
    public var approved: Bool
    /// True while the notification has not been answered, even if it has expired; see ``isExpired``.
    public var pending: Bool
    /// The members of ``additionalData``.
    var otherMembers: [String: JSONValue]?
    /// The difference between the server's clock and this machine's, if it was known when the message arrived.
    var clockOffset: Double?

    /// Creates a notification.
    /// - Parameters:
    ///   - id: The id of the notification; nil to generate one.
    ///   - credentialId: The id of the credential that the message is for.
    ///   - ttl: The seconds for which the server waits for an answer.
    ///   - messageId: The server's id of the message.
    ///   - messageText: The text to show.
    ///   - customPayload: The custom payload.
    ///   - challenge: The challenge in base64.
    ///   - numbersChallenge: The numbers to pick from, separated by commas.
    ///   - loadBalancer: The load balancer cookie, `name=value`.
    ///   - contextInfo: The context of the login as JSON text.
    ///   - pushType: The kind of answer that the notification asks for.
    ///   - createdAt: The time at which the message arrived; nil for the current time.
    ///   - sentAt: The time at which the server sent the message.
    ///   - respondedAt: The time at which the notification was answered.
    ///   - additionalData: Further values. Those that JSON can't express are left out.
    ///   - approved: True when the notification was approved.
    ///   - pending: True while the notification has not been answered.
    public init(
        id: String? = nil, credentialId: String, ttl: Int, messageId: String, messageText: String? = nil,
        customPayload: String? = nil, challenge: String? = nil, numbersChallenge: String? = nil, loadBalancer: String? = nil,
        contextInfo: String? = nil, pushType: PushType, createdAt: Date? = nil, sentAt: Date? = nil, respondedAt: Date? = nil,
        additionalData: [String: Any]? = nil, approved: Bool = false, pending: Bool = true
    ) {
        self.id = id ?? RandomID.uuid()
        self.credentialId = credentialId
        self.ttl = ttl
        self.messageId = messageId
        self.messageText = messageText
        self.customPayload = customPayload
        self.challenge = challenge
        self.numbersChallenge = numbersChallenge
        self.loadBalancer = loadBalancer
        self.contextInfo = contextInfo
        self.pushType = pushType
        self.createdAt = createdAt ?? SystemWallClock().now
        self.sentAt = sentAt
        self.respondedAt = respondedAt
        self.approved = approved
        self.pending = pending
        otherMembers = additionalData.flatMap { JSONValue(any: $0)?.object }
    }

    /// The members of the JSON form.
    ///
    /// It leaves out ``additionalData``.
    private enum CodingKeys: String, CodingKey {
        case id, credentialId, ttl, messageId, messageText, customPayload, challenge, numbersChallenge, loadBalancer, contextInfo
        case pushType, createdAt, sentAt, respondedAt, approved, pending
    }
}

extension PushNotification {
    /// The name of ``pushType``.
    public var type: String { pushType.rawValue }
    /// True when the notification was answered.
    public var responded: Bool { approved || !pending }
    /// True when the server no longer waits for an answer.
    public var isExpired: Bool { SystemWallClock().now > engineForm.expiresAt }

    /// Values of the message that have no property of their own, by name.
    ///
    /// The JSON form leaves them out.
    ///
    /// Values that JSON can't express are left out when the property is set.
    public var additionalData: [String: Any]? {
        get { otherMembers?.mapValues(\.any) }
        set { otherMembers = newValue.flatMap { JSONValue(any: $0)?.object } }
    }

    /// Marks this value as approved now.
    ///
    /// Nothing is sent or stored.
    public mutating func markApproved() { mark(approved: true) }

    /// Marks this value as denied now.
    ///
    /// Nothing is sent or stored.
    public mutating func markDenied() { mark(approved: false) }

    private mutating func mark(approved: Bool) {
        self.approved = approved
        pending = false
        respondedAt = SystemWallClock().now
    }

    /// Returns the numbers to pick from; an empty list when no numbers are offered.
    ///
    /// Parts that are not numbers are left out.
    public func getNumbersChallenge() -> [Int] {
        numbersChallenge?.split(separator: ",").compactMap { Int($0.trimmingWhitespace()) } ?? []
    }
}

extension PushNotification: CustomStringConvertible {
    /// The id, the type and the state, without the content of the message.
    public var description: String {
        "PushNotification(id: \(id), type: \(type), approved: \(approved), pending: \(pending), expired: \(isExpired))"
    }
}

/// The conversion between the values of this API and of the engine.
extension PushNotification {
    /// Creates the value for a notification of the engine.
    init(_ engine: SignetCore.PushNotification) {
        let message = engine.message
        var numbers: String?
        if case .number(let choices) = message.kind, !choices.isEmpty {
            numbers = message.claims["n"]?.string ?? choices.map(String.init).joined(separator: ",")
        }
        self.init(
            id: engine.id, credentialId: message.mechanismUID, ttl: message.timeToLive, messageId: engine.messageID,
            messageText: message.text, customPayload: message.customPayload,
            challenge: message.challenge.isEmpty ? nil : Base64.encode(message.challenge, as: .standard),
            numbersChallenge: numbers, loadBalancer: message.loadBalancerCookie, contextInfo: message.contextInfo,
            pushType: PushType(message.kind), createdAt: engine.receivedAt, sentAt: message.sentAt,
            respondedAt: engine.decidedAt, approved: engine.decision == .approved, pending: engine.decision == nil)
        let others = message.otherClaims
        otherMembers = others.isEmpty ? nil : others
        clockOffset = engine.clockOffset
    }

    /// The engine's notification with this id and content.
    var engineForm: SignetCore.PushNotification {
        let isHeader = loadBalancer?.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ?? false
        let message = PushMessage(
            mechanismUID: credentialId, challenge: challenge.flatMap { try? Base64.decode($0) } ?? [],
            kind: pushType.kind(getNumbersChallenge()), timeToLive: ttl, sentAt: sentAt, text: messageText,
            loadBalancerCookie: isHeader ? loadBalancer : nil, customPayload: customPayload, contextInfo: contextInfo,
            otherClaims: otherMembers ?? [:])
        var engine = SignetCore.PushNotification(
            id: id, messageID: messageId, message: message, receivedAt: createdAt,
            decision: approved ? .approved : pending ? nil : .denied, decidedAt: respondedAt)
        engine.clockOffset = clockOffset
        return engine
    }

    /// Returns this value with the decision of the engine's notification.
    func deciding(as engine: SignetCore.PushNotification) -> PushNotification {
        var decided = self
        decided.approved = engine.decision == .approved
        decided.pending = engine.decision == nil
        decided.respondedAt = engine.decidedAt
        decided.clockOffset = engine.clockOffset
        return decided
    }
}

extension PushType {
    init(_ kind: PushKind) {
        self =
            switch kind {
            case .tap: .default
            case .number: .challenge
            case .biometric: .biometric
            }
    }

    func kind(_ numbers: [Int]) -> PushKind {
        switch self {
        case .default: .tap
        case .challenge: .number(choices: numbers)
        case .biometric: .biometric
        }
    }
}
