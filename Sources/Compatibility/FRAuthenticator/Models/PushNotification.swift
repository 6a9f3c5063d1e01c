public import Foundation
import SignetCore

/// A push message that was verified and stored: a login that the user is asked to approve.
///
/// It is an object, as in the ForgeRock SDK, and tasks may share it. After an answer, the object with which it was answered has
/// the new state. Other objects for the same message keep their state until they are read again.
public final class PushNotification: Sendable, Codable {
    let box: Box<SignetCore.PushNotification>

    init(_ value: SignetCore.PushNotification, _ token: CacheToken? = nil) {
        box = Box(value, token)
    }

    var core: SignetCore.PushNotification { box.value }

    /// The message's identifier on the server.
    public var messageId: String { core.messageID }
    /// The identifier of the mechanism that the message is for.
    public var mechanismUUID: String { core.message.mechanismUID }
    /// The notification's identifier in this store.
    ///
    /// A mechanism and a message identifier together give one identifier, even when the message arrives several times.
    ///
    /// The ForgeRock SDK builds it from the mechanism and a time, so that two messages of the same millisecond are treated as
    /// one.
    public var identifier: String { core.id }
    /// The number of seconds that the server waits for the answer.
    public var ttl: Double { Double(core.message.timeToLive) }
    /// The time at which the server sent the message; the time of its arrival if the server does not say.
    public var timeAdded: Date { core.message.sentAt ?? core.receivedAt }
    /// The time at which the server stops waiting.
    public var timeExpired: Date { core.expiresAt }
    /// The text to show.
    public var message: String? { core.message.text }
    /// The app's custom data, as JSON text.
    public var customPayload: String? { core.message.customPayload }
    /// The origin of the login: JSON text with those of `location`, `userAgent` and `remoteIp` that the server knows.
    public var contextInfo: String? { core.message.contextInfo }
    /// The type of answer that the notification requires.
    public var pushType: PushType {
        switch core.message.kind {
        case .tap: .default
        case .number: .challenge
        case .biometric: .biometric
        }
    }
    /// The numbers to choose from for ``PushType/challenge``; nil for the other types.
    public var numbersChallengeArray: [Int]? {
        if case .number(let choices) = core.message.kind { choices } else { nil }
    }
    /// ``numbersChallengeArray`` as a string, separated by commas.
    public var numbersChallenge: String? { numbersChallengeArray?.map(String.init).joined(separator: ",") }

    /// True while the notification is not answered.
    ///
    /// An expired notification stays pending; see ``isExpired``.
    public var isPending: Bool { core.decision == nil }
    /// True when the user approved the notification.
    public var isApproved: Bool { core.decision == .approved }
    /// True when the user denied the notification.
    public var isDenied: Bool { core.decision == .denied }
    /// True when the server no longer waits for an answer.
    public var isExpired: Bool { (box.token?.engine.settings.clock ?? SystemWallClock()).now > core.expiresAt }

    // MARK: JSON

    private var members: [String: JSONValue] {
        let value = core
        let message = value.message
        var members = Dictionary(textsOrNull: [
            "id": value.id, "mechanismUID": message.mechanismUID, "messageId": value.messageID,
            "challenge": Base64.encode(message.challenge, as: .standard), "amlbCookie": message.loadBalancerCookie,
            "message": message.text, "customPayload": message.customPayload, "contextInfo": message.contextInfo,
            "numbersChallenge": numbersChallenge, "pushType": pushType.rawValue,
        ])
        members["ttl"] = .integer(Int64(message.timeToLive))
        members["timeAdded"] = .milliseconds(message.sentAt ?? value.receivedAt)
        members["timeExpired"] = .milliseconds(value.expiresAt)
        members["pending"] = .bool(value.decision == nil)
        members["approved"] = .bool(value.decision == .approved)
        // Members that only this SDK has, for data without a legacy member.
        members["receivedAt"] = .milliseconds(value.receivedAt)
        members["claims"] = .object(message.claims)
        members["clockOffset"] = value.clockOffset.map { .number($0) }
        return members
    }

    /// Returns the notification as JSON text, in the form of the ForgeRock SDK for iOS.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads a notification from the output of ``toJson()``, in the iOS or the Android form.
    /// - Throws: `DecodingError`, which names the missing or invalid member but never its content.
    public static func fromJson(_ json: String) throws -> PushNotification {
        PushNotification(
            try LegacyJSON.read("push notification", json) { try SignetCore.PushNotification(forgeRock: $0) })
    }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        self.init(
            try LegacyJSON.read("push notification", from: decoder) { try SignetCore.PushNotification(forgeRock: $0) })
    }
}
