import SignetCore

/// Why the authenticator did not do what it was asked. Failures of the store, the network, a URI or a signed message keep
/// their own types: `StoreError`, `TransportError`, `EnrollmentError`, `PushMessageError`.
public struct AuthenticatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// The account has a mechanism of this kind already.
        case duplicateMechanism
        /// The enrolment offers neither codes nor push.
        case nothingOffered
        /// No mechanism has this id.
        case unknownMechanism
        /// No notification has this id.
        case unknownNotification
        /// The mechanism is of another kind.
        case wrongKind
        /// The HOTP counter has reached its end.
        case counterExhausted
        /// The notification was answered before.
        case alreadyAnswered
        /// The notification's time is over.
        case expired
        /// The number is missing, or is none of those offered.
        case wrongNumber
        /// The device did not recognise the person, or cannot.
        case presenceRefused
        /// The server took the request and said no.
        case refusedByServer
        /// The server answered with what no such server answers.
        case serverMisbehaved
        /// The server has no desk to listen at.
        case noDesk
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, in words, with nothing secret in them.
    public let reason: String
    /// The HTTP status, when the server is what went wrong.
    public let status: Int?
    /// The mechanism that is in the way, for ``Code/duplicateMechanism``.
    public let mechanismUID: String?

    init(_ code: Code, _ reason: String, status: Int? = nil, mechanismUID: String? = nil) {
        self.code = code
        self.reason = reason
        self.status = status
        self.mechanismUID = mechanismUID
    }

    /// Whether the same call may succeed later without anybody doing anything: the server is out of order.
    public var isRetryable: Bool { code == .serverMisbehaved && (status ?? 0) >= 500 }

    /// The reason, and the server's status.
    public var description: String { reason + (status.map { " (HTTP \($0))" } ?? "") }

    static let nothingOffered = AuthenticatorError(.nothingOffered, "the enrolment offers neither codes nor push")

    static func duplicate(_ existing: Mechanism) -> AuthenticatorError {
        AuthenticatorError(
            .duplicateMechanism,
            "\(existing.account.issuer): \(existing.account.accountName) has a \(existing.kindName.rawValue) mechanism already",
            mechanismUID: existing.uid)
    }
}
