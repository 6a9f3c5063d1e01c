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

    /// Reads the claims `k` and `n`.
    ///
    /// An unknown kind is answered by a tap.
    init(wireName: String?, numbers: JSONValue?) {
        switch wireName?.lowercased() {
        case "challenge": self = .number(choices: Self.choices(numbers))
        case "biometric": self = .biometric
        default: self = .tap
        }
    }

    /// Parses `34,56,82`, or an array.
    ///
    /// Elements that are not numbers are ignored, as in the SDKs. Without choices the user types the number, which the server
    /// compares with the one that it shows.
    private static func choices(_ numbers: JSONValue?) -> [Int] {
        let items = numbers?.array ?? numbers?.string?.split(separator: ",").map { .string($0.trimmingWhitespace()) } ?? []
        return items.compactMap { $0.lenientInteger.map { Int($0) } }
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

    /// Returns the id of the mechanism that the message names, without verification.
    ///
    /// Use it only to find the secret for ``open(with:)``.
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
public struct PushMessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public struct Code: ErrorCode {
        /// The text isn't a compact JWS with a JSON object.
        public static let form = Code(rawValue: "form")
        /// The algorithm is not HS256.
        public static let algorithm = Code(rawValue: "algorithm")
        /// The signature does not match the mechanism's secret.
        public static let signature = Code(rawValue: "signature")
        /// A claim is missing or invalid; see ``PushMessageError/claim``.
        public static let claim = Code(rawValue: "claim")

        /// All codes of this version.
        public static let allCases: [Code] = [.form, .algorithm, .signature, .claim]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The name of the claim, for ``Code/claim``.
    public let claim: String?

    private init(_ code: Code, claim: String? = nil) {
        self.code = code
        self.claim = claim
    }

    /// The text isn't a compact JWS with a JSON object.
    public static let form = PushMessageError(.form)
    /// The algorithm is not HS256.
    public static let algorithm = PushMessageError(.algorithm)
    /// The signature does not match the mechanism's secret.
    public static let signature = PushMessageError(.signature)

    /// Returns the error for a claim that is missing or invalid.
    public static func claim(_ name: String) -> PushMessageError { PushMessageError(.claim, claim: name) }

    init(_ error: any Error) {
        self =
            switch error as? JWSError {
            case .algorithm: .algorithm
            case .signature: .signature
            default: error as? PushMessageError ?? .form
            }
    }

    /// A description of the error.
    public var description: String {
        switch code {
        case .algorithm: "push message: the algorithm is not HS256 (algorithm)"
        case .signature: "push message: the signature is not the mechanism's (signature)"
        case .claim: "push message: claim \(claim ?? "") is missing or unusable"
        default: "push message: not a compact JWS with a JSON object (form)"
        }
    }
}
