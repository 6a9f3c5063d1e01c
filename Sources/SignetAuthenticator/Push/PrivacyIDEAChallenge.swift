import SignetCore

/// One open login in the answer to a poll of privacyIDEA (docs/protocol/privacyidea-push.md section 3).
///
/// The values are unverified until the signature of ``signedText`` has been checked.
struct PrivacyIDEAChallenge: Sendable {
    let nonce: String
    let serial: String
    let signature: String
    /// The text that the server has signed.
    let signedText: String
    private let question: String
    private let title: String
    /// The choices, joined by commas; nil when the user only approves.
    private let presence: String?

    private static let separator = "|"
    /// The greatest numbers of bytes and of choices that are accepted; the server has at most 10 choices.
    private static let maxTextLength = 8192
    private static let maxChoices = 32

    /// The member with the choices among the claims of a stored message.
    private static let presenceClaim = "presence"
    /// The members of the message that ``PushStreamListener`` makes of a challenge.
    private static let mechanismMember = "mechanism"
    private static let challengeMember = "privacyIDEA"

    /// Reads the challenge in a delivery.
    ///
    /// The server joins the signed values by vertical lines. So that a text with such lines has one meaning only, the values around
    /// the question and the title have none, and `sslverify` has one of its two values.
    /// - Throws: `PushMessageError` with the name of the first member that is missing or unusable.
    init(_ delivery: PushDelivery) throws(PushMessageError) {
        guard let envelope = try? JSON.value(of: delivery.message.utf8), let challenge = envelope[Self.challengeMember]?.object
        else { throw .form }
        func text(_ name: String) throws(PushMessageError) -> String {
            guard let text = challenge[name]?.string, text.utf8.count <= Self.maxTextLength else { throw .claim(name) }
            return text
        }
        func plain(_ name: String) throws(PushMessageError) -> String {
            let value = try text(name)
            // Bytes are compared, because a vertical line with a combining mark is another character.
            guard !value.isEmpty, value.isSafeToShow, !value.utf8.contains(UInt8(ascii: "|")) else { throw .claim(name) }
            return value
        }
        nonce = try plain("nonce")
        serial = try plain("serial")
        let url = try plain("url")
        (question, title) = (try text("question"), try text("title"))
        signature = try plain("signature")
        let sslverify = try plain("sslverify")
        guard sslverify == "0" || sslverify == "1" else { throw .claim("sslverify") }
        var signed = [nonce, url, serial, question, title, sslverify]
        if challenge["require_presence"] == nil {
            presence = nil
        } else {
            let choices = try plain("require_presence")
            guard (2...Self.maxChoices).contains(Self.choices(in: choices).count) else { throw .claim("require_presence") }
            signed.append(choices)
            presence = choices
        }
        signedText = signed.joined(separator: Self.separator)
    }

    /// Returns the content of the verified challenge as a message to a mechanism.
    ///
    /// The server does not say how long it waits. Its default is that of AM: 120 seconds.
    /// - Parameters:
    ///   - mechanismUID: The mechanism.
    ///   - requiresPresence: True when an approval without choices needs a check of the user's presence.
    /// - Returns: The message.
    func message(for mechanismUID: String, requiresPresence: Bool) -> PushMessage {
        var text = title.isEmpty || title == "privacyIDEA" ? question : "\(title): \(question)"
        var kind: PushKind = requiresPresence ? .biometric : .tap
        if let presence {
            let choices = Self.choices(in: presence)
            let numbers = Self.numbers(of: choices)
            kind = .number(choices: numbers ?? Array(1...choices.count))
            if numbers == nil {
                let legend = choices.enumerated().map { "\($0.offset + 1): \($0.element)" }
                text += " (\(legend.joined(separator: ", ")))"
            }
        }
        var claims: [String: JSONValue] = [:]
        if let presence { claims[Self.presenceClaim] = .string(presence) }
        return PushMessage(
            mechanismUID: mechanismUID, challenge: Array(nonce.utf8), kind: kind, timeToLive: PushMessage.defaultTimeToLive,
            sentAt: nil, text: text, otherClaims: claims)
    }

    /// Returns the choice of the server for which a number of ``message(for:requiresPresence:)`` stands; nil for another number.
    static func choice(_ number: Int, in message: PushMessage) -> String? {
        guard let presence = message.otherClaims[presenceClaim]?.string else { return nil }
        let choices = choices(in: presence)
        let numbers = numbers(of: choices) ?? Array(1...max(choices.count, 1))
        guard let index = numbers.firstIndex(of: number), index < choices.count else { return nil }
        return choices[index]
    }

    private static func choices(in presence: String) -> [String] {
        presence.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the choices as numbers; nil unless all of them are different numbers of at most nine digits.
    private static func numbers(of choices: [String]) -> [Int]? {
        let numbers = choices.compactMap { choice -> Int? in
            guard (1...9).contains(choice.utf8.count), choice.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            return Int(choice)
        }
        return numbers.count == choices.count && Set(numbers).count == choices.count ? numbers : nil
    }

    // MARK: The delivery

    /// Returns the delivery of a challenge, as an element of the server's list, to a mechanism.
    static func delivery(of challenge: JSONValue, to mechanismUID: String) -> PushDelivery {
        PushDelivery(
            messageId: challenge["nonce"]?.string ?? "",
            message: JSON.text(of: .object([mechanismMember: .string(mechanismUID), challengeMember: challenge])))
    }

    /// Returns the id of the mechanism in a delivery; nil when it is not a delivery of a challenge.
    static func mechanismUID(of delivery: PushDelivery) -> String? {
        guard delivery.message.hasPrefix("{"), let envelope = try? JSON.value(of: delivery.message.utf8),
            envelope[challengeMember] != nil, let uid = envelope[mechanismMember]?.string, !uid.isEmpty
        else { return nil }
        return uid
    }
}
