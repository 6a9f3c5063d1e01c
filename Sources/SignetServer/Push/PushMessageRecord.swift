import Foundation
import SignetCore

/// The contents of a push message, before it is signed.
struct PushPrompt: Sendable, Hashable {
    var kind: PushKind
    var text: String
    /// A JSON text.
    var customPayload: String?
    /// A JSON text.
    var contextInfo: String?
    /// The lifetime in seconds; nil for the server's default.
    var lifetime: Int?
}

/// A message that was sent to a device, with its state.
struct PushMessageRecord: Codable, Sendable {
    enum State: String, Codable, Sendable, Hashable {
        case waiting
        case approved
        case denied
    }

    let messageID: String
    let realm: RealmPath
    let mechanismUID: String
    let secret: Secret
    let challenge: [UInt8]
    /// The correct number of a message that asks the user to choose a number; nil for other messages.
    let number: Int?
    let sentAt: Date
    /// The time after which the server accepts no answer.
    let deadline: Date
    /// The signed message.
    let sealed: String
    /// The id of the event that carries the message.
    ///
    /// Later messages have higher ids.
    var eventID: UInt64 = 0
    private(set) var state = State.waiting
    private var wrongNumbers = 0
    /// True when the login has ended without the answer to this message; nil for false, and in rows that an earlier version wrote.
    var isWithdrawn: Bool?
    /// The number of times that the message was sent again; nil for none.
    var resends: Int?

    /// The number of wrong numbers that a login permits; one more denies it.
    ///
    /// The user chooses from three numbers. One wrong number can be a mistake. After two, the remaining number is always correct,
    /// so two wrong numbers are treated as guessing.
    static let wrongNumbersAllowed = 1

    /// The number of times that a message may be sent again.
    private static var maxResends: Int { 3 }

    init(_ prompt: PushPrompt, to device: PushDevice, _ time: RequestTime) {
        let lifetime = prompt.lifetime ?? time.configuration.pushLifetime
        messageID = MessageID.make("AUTHENTICATE", at: time.now)
        realm = device.owner.realm
        mechanismUID = device.mechanismUID
        secret = device.secret
        challenge = RandomID.bytes(32)
        number = if case .number(let choices) = prompt.kind { choices.randomElement() } else { nil }
        sentAt = time.now
        deadline = time.now.addingTimeInterval(Double(lifetime))
        sealed = PushMessage(
            mechanismUID: device.mechanismUID, challenge: challenge, kind: prompt.kind, timeToLive: lifetime, sentAt: sentAt,
            text: prompt.text, loadBalancerCookie: time.configuration.loadBalancerCookie, customPayload: prompt.customPayload,
            contextInfo: prompt.contextInfo, userID: device.owner.name
        ).sealed(with: device.secret)
    }

    /// Returns true when the message waits for its answer, and was not sent too often.
    func canBeResent(at now: Date) -> Bool {
        state == .waiting && isWithdrawn != true && now < deadline && (resends ?? 0) < Self.maxResends
    }

    /// Takes the device's answer.
    ///
    /// It verifies the signature over the received bytes first, and then checks the claims. The first valid answer counts. The
    /// same decision is accepted again and changes nothing, so that a device that lost the server's response can send it again.
    /// - Throws: ``PushResponseError`` when the answer is not valid.
    mutating func take(_ jwt: String, at now: Date) throws(PushResponseError) -> PushAnswer {
        let claims = try SignedClaims(jwt, secret: secret)
        guard now < deadline else { throw .expired }
        try claims.checkResponse(to: challenge, secret: secret)
        guard wrongNumbers <= Self.wrongNumbersAllowed else { throw .deniedByGuesses }
        let decision: State
        switch claims["deny"] {
        case .bool(true): decision = .denied
        case nil: decision = .approved
        default: throw .claim("deny")
        }
        guard state == .waiting else {
            guard decision == state else { throw .contradiction }
            return PushAnswer(state: state, isRepeated: true)
        }
        if decision == .approved { try checkNumber(claims["challengeResponse"]) }
        state = decision
        return PushAnswer(state: state, isRepeated: false)
    }

    /// Decides in the place of the device, for a tester.
    /// - Parameters:
    ///   - isApproved: True to approve the message, whatever number it asks for.
    ///   - now: The present time.
    /// - Returns: The answer, as one of the device.
    /// - Throws: ``PushResponseError`` when the message has expired, or was answered with the other decision.
    mutating func decide(_ isApproved: Bool, at now: Date) throws(PushResponseError) -> PushAnswer {
        let decision: State = isApproved ? .approved : .denied
        guard state == .waiting else {
            guard decision == state else { throw .contradiction }
            return PushAnswer(state: state, isRepeated: true)
        }
        guard now < deadline else { throw .expired }
        state = decision
        return PushAnswer(state: state, isRepeated: false)
    }

    private mutating func checkNumber(_ claim: JSONValue?) throws(PushResponseError) {
        guard let number else { return }
        guard let claim, claim != .null else { throw .numberMissing }
        guard let text = claim.string else { throw .claim("challengeResponse") }
        guard !ConstantTime.areEqual(text, String(number)) else { return }
        wrongNumbers += 1
        if wrongNumbers > Self.wrongNumbersAllowed { state = .denied }
        throw .numberWrong
    }
}

/// The result of a device's valid answer.
struct PushAnswer: Sendable, Hashable {
    /// The state of the message: the decision of the first valid answer.
    let state: PushMessageRecord.State
    /// True for an answer to a message that was answered before.
    let isRepeated: Bool
}

/// The claims of a JWT with a verified signature.
struct SignedClaims: Sendable {
    private let claims: [String: JSONValue]
    let payload: [UInt8]

    init(_ jwt: String, secret: Secret) throws(PushResponseError) {
        do {
            payload = try CompactJWS(jwt).payload(verifiedWith: secret)
        } catch {
            throw error == .form ? .form : .signature
        }
        guard let claims = try? JSON.value(of: payload).object else { throw .form }
        self.claims = claims
    }

    subscript(name: String) -> JSONValue? { claims[name] }

    func checkResponse(to challenge: [UInt8], secret: Secret) throws(PushResponseError) {
        guard let response = claims["response"]?.string else { throw .claim("response") }
        guard ConstantTime.areEqual(response, PushClaims.response(to: challenge, secret: secret)) else { throw .response }
    }
}

/// The reason for which the server rejected an answer or a registration.
///
/// As in AM, the client gets the same response for all of them.
enum PushResponseError: Error, Sendable, Hashable {
    case unknownMessage
    case expired
    /// The message was answered with the other decision.
    case contradiction
    /// Too many wrong numbers have denied the message.
    case deniedByGuesses
    case form
    case signature
    case claim(String)
    case response
    case numberMissing
    case numberWrong
    case mechanismTaken
    /// The configuration has no platform application for devices of this communication type.
    case noApplication(String)
    /// SNS rejected the device's token.
    case tokenRefused
}

/// The ids of messages, in the format of AM: a UUID and the time in milliseconds.
enum MessageID {
    static func make(_ kind: String, at now: Date) -> String {
        "\(kind):\(RandomID.uuid())\(Int64(now.timeIntervalSince1970 * 1000))"
    }
}

extension ServerConfiguration {
    /// ``pushTimeout`` in seconds, limited to the range that a message can express (1 to 86,400).
    var pushLifetime: Int { min(max(pushTimeout, 1), 86_400) }
}
