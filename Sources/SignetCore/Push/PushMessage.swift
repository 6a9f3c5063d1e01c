#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a server asks a person to approve: the verified content of one push message (protocol/authenticator.md section 4.1).
public struct PushMessage: Sendable, Hashable {
    /// The mechanism that is asked.
    public let mechanismUID: String
    /// The bytes to answer.
    public let challenge: [UInt8]
    /// The routing cookie to send with the answer, `name=value`.
    public let loadBalancerCookie: String?
    /// How many seconds the server waits for the answer.
    public let timeToLive: Int
    /// When the server sent it, by the server's clock.
    public let sentAt: Date?
    /// The text to show.
    public let text: String?
    /// How it wants to be answered.
    public let kind: PushKind
    /// What the app put in, as it came.
    public let customPayload: String?
    /// Where the login comes from, as it came: JSON text with `location`, `userAgent`, `platform`.
    public let contextInfo: String?
    /// The user's id on the server.
    public let userID: String?
    /// The claims as they came, those above among them.
    package let claims: [String: JSONValue]

    /// The seconds a server waits when it does not say.
    public static let defaultTimeToLive = 120
}

/// How a push message wants to be answered.
public enum PushKind: Sendable, Hashable {
    /// By a tap.
    case tap
    /// By picking the number that the login page shows.
    case number(choices: [Int])
    /// By a tap, after the device has made sure who is tapping.
    case biometric

    /// The value of the claim `k`.
    public var wireName: String {
        switch self {
        case .tap: "default"
        case .number: "challenge"
        case .biometric: "biometric"
        }
    }

    /// Reads the claims `k` and `n`. A kind that nobody knows is answered by a tap.
    init(wireName: String?, numbers: JSONValue?) throws(PushMessageError) {
        switch wireName?.lowercased() {
        case "challenge": self = .number(choices: try Self.choices(numbers))
        case "biometric": self = .biometric
        default: self = .tap
        }
    }

    /// `34,56,82`, or an array. What is no number among others is left out, as the SDKs do; nothing but that is refused, since
    /// without choices any number would do.
    private static func choices(_ numbers: JSONValue?) throws(PushMessageError) -> [Int] {
        guard let numbers else { return [] }
        let items = numbers.array ?? numbers.string?.split(separator: ",").map { .string($0.trimmingWhitespace()) } ?? []
        let choices = items.compactMap { $0.wholeNumber.map { Int($0) } }
        guard !choices.isEmpty else { throw .claim("n") }
        return choices
    }
}

/// A push message as it arrives: signed, and not yet believed.
public struct SealedPushMessage: Sendable {
    private let jws: CompactJWS

    /// Checks only the form.
    public init(_ jwt: String) throws(PushMessageError) {
        do {
            jws = try CompactJWS(jwt)
        } catch {
            throw PushMessageError(error)
        }
    }

    /// The mechanism that the message says it is for, unverified: only for looking up whose secret to ``open(with:)`` it with.
    public func claimedMechanismUID() throws(PushMessageError) -> String {
        do {
            let claims = try Self.claims(try jws.unverifiedPayload())
            guard let uid = claims["u"]?.string, !uid.isEmpty else { throw PushMessageError.claim("u") }
            return uid
        } catch {
            throw PushMessageError(error)
        }
    }

    /// The content, after algorithm and signature have been checked.
    public func open(with secret: Secret) throws(PushMessageError) -> PushMessage {
        do {
            return try PushMessage(claims: try Self.claims(try jws.payload(verifiedWith: secret)))
        } catch {
            throw PushMessageError(error)
        }
    }

    private static func claims(_ payload: [UInt8]) throws -> [String: JSONValue] {
        let value = try JSON.value(of: payload)
        guard let claims = value.object, value.isStorable else { throw PushMessageError.form }
        return claims
    }
}

/// Why a push message was refused.
public enum PushMessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not a compact JWS with a JSON object in it.
    case form
    /// The algorithm is not HS256.
    case algorithm
    /// The signature is not the mechanism's.
    case signature
    /// The claim of this name is missing or unusable.
    case claim(String)

    init(_ error: any Error) {
        self =
            switch error {
            case let error as PushMessageError: error
            case JWSError.algorithm: .algorithm
            case JWSError.signature: .signature
            default: .form
            }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .form: "push message: not a compact JWS with a JSON object (form)"
        case .algorithm: "push message: the algorithm is not HS256 (algorithm)"
        case .signature: "push message: the signature is not the mechanism's (signature)"
        case .claim(let name): "push message: claim \(name) is missing or unusable"
        }
    }
}
