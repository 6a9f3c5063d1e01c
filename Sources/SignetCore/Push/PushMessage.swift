#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The verified content of one push message, with which a server asks the user to approve a login (protocol/authenticator.md
/// section 4.1).
public struct PushMessage: Sendable, Hashable {
    /// The id of the mechanism that the message is for.
    public let mechanismUID: String
    /// The challenge to answer.
    public let challenge: [UInt8]
    /// The load balancer's routing cookie to send with the answer, `name=value`.
    public let loadBalancerCookie: String?
    /// The time that the server waits for the answer, in seconds.
    public let timeToLive: Int
    /// The time at which the server sent the message, by the server's clock.
    public let sentAt: Date?
    /// The text to show.
    public let text: String?
    /// The required kind of answer.
    public let kind: PushKind
    /// The custom payload, as it came.
    public let customPayload: String?
    /// The context of the login, as it came: JSON text with `location`, `userAgent`, `platform`.
    public let contextInfo: String?
    /// The user's id on the server.
    public let userID: String?
    /// All claims as they came, including those above.
    package let claims: [String: JSONValue]

    /// The default time to live, in seconds.
    public static let defaultTimeToLive = 120
}

/// The kind of answer that a push message requires.
public enum PushKind: Sendable, Hashable {
    /// The user taps.
    case tap
    /// The user picks the number that the login page shows.
    case number(choices: [Int])
    /// The user taps after the device has recognized the user.
    case biometric

    /// The value of the claim `k`.
    public var wireName: String {
        switch self {
        case .tap: "default"
        case .number: "challenge"
        case .biometric: "biometric"
        }
    }

    /// Reads the claims `k` and `n`. An unknown kind is answered by a tap.
    init(wireName: String?, numbers: JSONValue?) throws(PushMessageError) {
        switch wireName?.lowercased() {
        case "challenge": self = .number(choices: try Self.choices(numbers))
        case "biometric": self = .biometric
        default: self = .tap
        }
    }

    /// Parses `34,56,82`, or an array. Elements that are not numbers are ignored, as in the SDKs. A claim without any number is
    /// an error, because without choices any number would be accepted.
    private static func choices(_ numbers: JSONValue?) throws(PushMessageError) -> [Int] {
        guard let numbers else { return [] }
        let items = numbers.array ?? numbers.string?.split(separator: ",").map { .string($0.trimmingWhitespace()) } ?? []
        let choices = items.compactMap { $0.wholeNumber.map { Int($0) } }
        guard !choices.isEmpty else { throw .claim("n") }
        return choices
    }
}

/// A received push message: signed, and not yet verified.
public struct SealedPushMessage: Sendable {
    private let jws: CompactJWS

    /// Creates a message after checking only its form.
    public init(_ jwt: String) throws(PushMessageError) {
        do {
            jws = try CompactJWS(jwt)
        } catch {
            throw PushMessageError(error)
        }
    }

    /// Returns the id of the mechanism that the message names, without verification. Use it only to find the secret for
    /// ``open(with:)``.
    public func claimedMechanismUID() throws(PushMessageError) -> String {
        do {
            let claims = try Self.claims(try jws.unverifiedPayload())
            guard let uid = claims["u"]?.string, !uid.isEmpty else { throw PushMessageError.claim("u") }
            return uid
        } catch {
            throw PushMessageError(error)
        }
    }

    /// Verifies the algorithm and the signature, and returns the content.
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

/// An error that reports an invalid push message.
public enum PushMessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text isn't a compact JWS with a JSON object.
    case form
    /// The algorithm is not HS256.
    case algorithm
    /// The signature does not match the mechanism's secret.
    case signature
    /// The claim of this name is missing or invalid.
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

    /// A description of the error.
    public var description: String {
        switch self {
        case .form: "push message: not a compact JWS with a JSON object (form)"
        case .algorithm: "push message: the algorithm is not HS256 (algorithm)"
        case .signature: "push message: the signature is not the mechanism's (signature)"
        case .claim(let name): "push message: claim \(name) is missing or unusable"
        }
    }
}
