public import Foundation
import SignetCore

/// A push message that was verified and stored: a login that the user is asked to approve.
///
/// It is an object, as in the ForgeRock SDK, and tasks may share it. Two objects are equal when they are the same object. After an
/// answer, the object with which it was answered has the new state. Other objects for the same message keep their state until
/// they are read again.
public final class PushNotification: NSObject, NSSecureCoding, Codable, Sendable {
    let box: Box<SignetCore.PushNotification>

    init(_ value: SignetCore.PushNotification, _ token: CacheToken? = nil) {
        box = Box(value, token)
        super.init()
    }

    var core: SignetCore.PushNotification { box.value }

    /// The message's identifier on the server.
    public var messageId: String { core.messageID }
    /// The identifier of the mechanism that the message is for.
    public var mechanismUUID: String { core.message.mechanismUID }
    /// `mechanismUUID-timeAdded`, with the time in milliseconds since 1970, as in the ForgeRock SDK.
    ///
    /// Two messages that a server sends to one mechanism in the same millisecond have the same identifier: a storage client that
    /// stores notifications by it keeps the one that arrived last.
    public var identifier: String { core.legacyIdentifier }
    /// The number of seconds that the server waits for the answer.
    ///
    /// A new value changes this object only, and is rounded to an integer. A value outside 1 to 86,400 changes nothing.
    public var ttl: Double {
        get { Double(core.message.timeToLive) }
        set { if let seconds = Int64(exactly: newValue.rounded()) { change("t", to: .integer(seconds)) } }
    }
    /// The time at which the server sent the message; the time of its arrival if the server does not say.
    ///
    /// A new value changes this object only, and is rounded to a millisecond. It counts as a time of this machine's clock.
    public var timeAdded: Date {
        get { core.timeAdded }
        set { change("i", to: .milliseconds(newValue), receivedAt: newValue) }
    }
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
    /// The numbers to choose from for ``PushType/challenge``; nil for the other types, and when the server sent none.
    ///
    /// Parts of ``numbersChallenge`` that aren't numbers are left out, as in the ForgeRock SDK.
    public var numbersChallengeArray: [Int]? {
        guard case .number(let choices) = core.message.kind, numbersChallenge != nil else { return nil }
        return choices
    }
    /// The numbers to choose from as the server sent them, separated by commas; nil for the other types.
    public var numbersChallenge: String? {
        let message = core.message
        guard case .number(let choices) = message.kind, let claim = message.claims["n"], claim != .null else { return nil }
        return claim.string ?? choices.map(String.init).joined(separator: ",")
    }

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

    /// Changes a claim of the message that this object shows, unless no message can have the value.
    private func change(_ claim: String, to value: JSONValue, receivedAt: Date? = nil) {
        box.change { notification in
            var claims = notification.message.claims
            claims[claim] = value
            guard let message = try? PushMessage(claims: claims) else { return }
            notification = SignetCore.PushNotification(
                messageID: notification.messageID, message: message, receivedAt: receivedAt ?? notification.receivedAt,
                decision: notification.decision, clockOffset: receivedAt == nil ? notification.clockOffset : nil)
        }
    }

    // MARK: JSON

    private var members: [String: JSONValue] {
        let value = core
        let message = value.message
        var members = Dictionary(textsOrNull: [
            "id": value.legacyIdentifier, "mechanismUID": message.mechanismUID, "messageId": value.messageID,
            "challenge": Base64.encode(message.challenge, as: .standard), "amlbCookie": message.loadBalancerCookie,
            "message": message.text, "customPayload": message.customPayload, "contextInfo": message.contextInfo,
            "numbersChallenge": numbersChallenge, "pushType": pushType.rawValue,
        ])
        members["ttl"] = .integer(Int64(message.timeToLive))
        members["timeAdded"] = .milliseconds(value.timeAdded)
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

    // MARK: NSSecureCoding

    /// True: an unarchiver can require the class.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the notification under the keys of the ForgeRock SDK for iOS.
    public func encode(with coder: NSCoder) {
        LegacyArchive.notification.write(members, [("timeAdded", timeAdded)], to: coder)
    }

    /// Reads a notification from an archive of this SDK or of the ForgeRock SDK for iOS; nil when a value is missing or damaged.
    public convenience init?(coder: NSCoder) {
        let members = JSONMembers(LegacyArchive.notification.read(coder))
        guard let value = try? SignetCore.PushNotification(forgeRock: members) else { return nil }
        self.init(value)
    }
}

extension SignetCore.PushNotification {
    /// The time at which the server sent the message; the time of its arrival if the server does not say.
    var timeAdded: Date { message.sentAt ?? receivedAt }

    /// `mechanismUUID-timeAdded`, the identifier in the ForgeRock SDKs.
    var legacyIdentifier: String {
        let time = (timeAdded.timeIntervalSince1970 * 1000).rounded()
        return "\(message.mechanismUID)-\(Int64(exactly: time) ?? 0)"
    }
}
