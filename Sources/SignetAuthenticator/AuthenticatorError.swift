package import SignetCore
public import SignetStorage

/// An error of the authenticator. Failures of the store, the network, a URI or a signed message keep their own types:
/// `StoreError`, `TransportError`, `EnrollmentError`, `PushMessageError`.
public struct AuthenticatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public enum Code: String, Sendable, CaseIterable {
        /// The account already has a mechanism of this kind.
        case duplicateMechanism
        /// The enrollment offers neither codes nor push.
        case nothingOffered
        /// The device violates a policy of the enrollment. Nothing was stored, and no request was sent.
        case policyViolation
        /// The server has registered the device, but the store failed afterwards. Enroll the same URI again.
        case registeredNotStored
        /// No account has this identity.
        case unknownAccount
        /// No mechanism has this id.
        case unknownMechanism
        /// No notification has this id.
        case unknownNotification
        /// The mechanism is of another kind.
        case wrongKind
        /// The account is locked, manually or because the device violates a policy.
        case accountLocked
        /// The account is already locked manually.
        case alreadyLocked
        /// The account is not locked manually.
        case notLocked
        /// The policy of a lock has no name, or isn't a policy of the account.
        case invalidPolicy
        /// The display name contains characters that cannot be shown safely.
        case invalidName
        /// The HOTP counter has reached its end.
        case counterExhausted
        /// The HOTP counter would move back.
        case counterBackwards
        /// The notification was answered before.
        case alreadyAnswered
        /// The notification has expired.
        case expired
        /// The number is missing, or isn't one of the numbers offered.
        case wrongNumber
        /// The device could not confirm the user's presence.
        case presenceRefused
        /// The server has rejected the request.
        case refusedByServer
        /// The server doesn't support the operation. Trying again does not help.
        case notSupported
        /// The server's response is a server error, or violates the protocol.
        case serverMisbehaved
        /// The server has no push stream.
        case noPushStream
        /// The mechanism belongs to a push platform that this authenticator doesn't have.
        case unknownPlatform
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error for people, without secrets.
    public let reason: String
    /// The HTTP status of the server's response, when the server caused the error.
    public let status: Int?
    /// The mechanism that already exists, for ``Code/duplicateMechanism``.
    public let mechanismUID: String?
    /// The name of the policy, for ``Code/accountLocked``, ``Code/policyViolation`` and the codes about locks.
    public let policy: String?
    /// The error of the store, for ``Code/registeredNotStored``.
    public let storeError: StoreError?

    /// Creates an error. The initializer is public so that a ``PushPlatform`` of an app can throw it.
    public init(
        _ code: Code, _ reason: String, status: Int? = nil, mechanismUID: String? = nil, policy: String? = nil,
        storeError: StoreError? = nil
    ) {
        self.code = code
        self.reason = reason
        self.status = status
        self.mechanismUID = mechanismUID
        self.policy = policy
        self.storeError = storeError
    }

    /// True when the same call may succeed later without any change: the server has failed, or the store was busy.
    public var isRetryable: Bool {
        switch code {
        case .serverMisbehaved: (status ?? 0) >= 500
        case .registeredNotStored: storeError?.isRetryable ?? false
        default: false
        }
    }

    /// The reason and the HTTP status.
    public var description: String { reason + (status.map { " (HTTP \($0))" } ?? "") }
}

extension AuthenticatorError {
    static let nothingOffered = AuthenticatorError(.nothingOffered, "the enrollment offers neither codes nor push")
    static let noCodes = AuthenticatorError(.wrongKind, "this mechanism makes no codes")
    /// The error for a mechanism of another kind where push is needed.
    package static let noPush = AuthenticatorError(.wrongKind, "this mechanism takes no push messages")

    static func duplicate(_ existing: Mechanism) -> AuthenticatorError {
        AuthenticatorError(
            .duplicateMechanism,
            "\(existing.account.issuer): \(existing.account.accountName) has a \(existing.kindName.rawValue) mechanism already",
            mechanismUID: existing.uid)
    }

    static func unknownAccount(_ id: AccountID) -> AuthenticatorError {
        AuthenticatorError(.unknownAccount, "there is no account \(id.issuer): \(id.accountName)")
    }

    static func unknownMechanism(_ uid: String) -> AuthenticatorError {
        AuthenticatorError(.unknownMechanism, "no mechanism has the id \(uid)")
    }

    static func unknownNotification(_ id: String) -> AuthenticatorError {
        AuthenticatorError(.unknownNotification, "no notification has the id \(id)")
    }

    static func unknownPlatform(_ name: String) -> AuthenticatorError {
        AuthenticatorError(.unknownPlatform, "the push platform \(name) is not known here")
    }

    static func tokenNotTaken(_ mechanism: Mechanism) -> AuthenticatorError {
        AuthenticatorError(
            .notSupported, "\(mechanism.push?.registrationEndpoint.host ?? "the server") said that it does not take new tokens")
    }

    static func violated(_ policy: String) -> AuthenticatorError {
        AuthenticatorError(.policyViolation, "this device does not meet the issuer's policy \(policy)", policy: policy)
    }

    package static func locked(_ lock: AccountLock) -> AuthenticatorError {
        let reason =
            switch lock {
            case .byHand(let policy): "the account is locked (\(policy)); unlock it first"
            case .byPolicy(let policy): "the account is locked: this device does not meet the issuer's policy \(policy)"
            }
        return AuthenticatorError(.accountLocked, reason, policy: lock.policy)
    }

    static func registeredNotStored(_ error: StoreError) -> AuthenticatorError {
        AuthenticatorError(
            .registeredNotStored,
            "the server has registered this device, but storing it failed; repair the store and enroll the same code again: "
                + error.description, storeError: error)
    }
}
