import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A push message that was verified and kept: what a server asks a person to approve.
///
/// It is an object, as in the original SDK, and may be shared between tasks. Once it has been answered, this object shows it;
/// another object for the same message does when it is read again.
public final class PushNotification: Sendable, Codable {
    let held: Held<SignetCore.PushNotification>

    init(_ value: SignetCore.PushNotification, origin: Origin?) {
        held = Held(value, origin: origin)
    }

    var core: SignetCore.PushNotification { held.value }

    /// The server's id of the message.
    public var messageId: String { core.messageID }
    /// The mechanism that is asked.
    public var mechanismUUID: String { core.message.mechanismUID }
    /// The id of the notification here: one for each mechanism and message id, however often the message comes.
    ///
    /// The original makes it of the mechanism and a time, by which two messages of one millisecond were one.
    public var identifier: String { core.id }
    /// How many seconds the server waits for the answer.
    public var ttl: Double { Double(core.message.timeToLive) }
    /// When the server sent the message; when it came, if the server does not say.
    public var timeAdded: Date { core.message.sentAt ?? core.receivedAt }
    /// When the server stops waiting.
    public var timeExpired: Date { core.expiresAt }
    /// The text to show.
    public var message: String? { core.message.text }
    /// What the app put in: JSON text.
    public var customPayload: String? { core.message.customPayload }
    /// Where the login comes from: JSON text with `location`, `userAgent`, `remoteIp`, as far as the server knows them.
    public var contextInfo: String? { core.message.contextInfo }
    /// How it wants to be answered.
    public var pushType: PushType {
        switch core.message.kind {
        case .tap: .default
        case .number: .challenge
        case .biometric: .biometric
        }
    }
    /// The numbers to choose from, for ``PushType/challenge``; nil for the other types.
    public var numbersChallengeArray: [Int]? {
        if case .number(let choices) = core.message.kind { choices } else { nil }
    }
    /// ``numbersChallengeArray`` as text, with commas.
    public var numbersChallenge: String? { numbersChallengeArray?.map(String.init).joined(separator: ",") }

    /// Whether it is not answered. An expired one stays pending; see ``isExpired``.
    public var isPending: Bool { core.decision == nil }
    /// Whether it was answered with yes.
    public var isApproved: Bool { core.decision == .approved }
    /// Whether it was answered with no.
    public var isDenied: Bool { core.decision == .denied }
    /// Whether the server no longer waits for an answer.
    public var isExpired: Bool { (held.origin?.engine.clock ?? SystemWallClock()).now > core.expiresAt }

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
        // Ours: what the legacy members have no place for.
        members["receivedAt"] = .milliseconds(value.receivedAt)
        members["claims"] = .object(message.claims)
        members["clockOffset"] = value.clockOffset.map { .number($0) }
        return members
    }

    private static func value(_ members: JSONMembers) throws -> SignetCore.PushNotification {
        let timeAdded = try members.moment("timeAdded")
        let decision: SignetCore.PushNotification.Decision? =
            if try members.optionalTruth("pending") ?? true { nil } else {
                try members.optionalTruth("approved") == true ? .approved : .denied
            }
        return SignetCore.PushNotification(
            messageID: try members.text("messageId"), message: try PushMessage(claims: claims(members)),
            receivedAt: try members.optionalMoment("receivedAt") ?? timeAdded, decision: decision,
            clockOffset: try members.optionalNumber("clockOffset"))
    }

    /// The claims as they came, or what the legacy members tell of them.
    private static func claims(_ members: JSONMembers) throws -> [String: JSONValue] {
        if let claims = try members.optionalObject("claims") { return claims.all }
        var claims = Dictionary(texts: [
            "u": try members.text("mechanismUID"), "c": try members.text("challenge"),
            "l": try members.optionalText("amlbCookie"),
            "m": try members.optionalText("message"), "p": try members.optionalText("customPayload"),
            "x": try members.optionalText("contextInfo"), "n": try members.optionalText("numbersChallenge"),
            "k": try members.optionalText("pushType"),
        ])
        claims["t"] = members["ttl"]
        claims["i"] = .milliseconds(try members.moment("timeAdded"))
        return claims
    }

    /// The notification as JSON text, in the form of the legacy iOS SDK.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads what ``toJson()`` of either legacy SDK's form wrote.
    /// - Throws: `DecodingError`, which names the member that is missing or wrong and never what is in it.
    public static func fromJson(_ json: String) throws -> PushNotification {
        try LegacyJSON.read("push notification", json) { PushNotification(try value($0), origin: nil) }
    }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try LegacyJSON.read("push notification", from: decoder, Self.value), origin: nil)
    }
}
