package import SignetCore
public import SignetStorage

/// Why the authenticator did not do what it was asked. Failures of the store, the network, a URI or a signed message keep
/// their own types: `StoreError`, `TransportError`, `EnrollmentError`, `PushMessageError`.
public struct AuthenticatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// The account has a mechanism of this kind already.
        case duplicateMechanism
        /// The enrolment offers neither codes nor push.
        case nothingOffered
        /// The device does not meet a policy that the enrolment names. Nothing was stored and nobody asked.
        case policyViolation
        /// The server has registered this device, and the store failed then. Enrol the same URI again.
        case registeredNotStored
        /// No account has this identity.
        case unknownAccount
        /// No mechanism has this id.
        case unknownMechanism
        /// No notification has this id.
        case unknownNotification
        /// The mechanism is of another kind.
        case wrongKind
        /// The account is locked, by hand or because a policy is not met.
        case accountLocked
        /// The account was locked by hand before.
        case alreadyLocked
        /// The account was not locked by hand.
        case notLocked
        /// The policy to lock with has no name, or is none of the account's.
        case invalidPolicy
        /// The name to show cannot be shown safely.
        case invalidName
        /// The HOTP counter has reached its end.
        case counterExhausted
        /// The HOTP counter would move back.
        case counterBackwards
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
        /// The server cannot do what it was asked; asking again does not help.
        case notSupported
        /// The server answered with what no such server answers.
        case serverMisbehaved
        /// The server has no desk to listen at.
        case noPushStream
        /// The mechanism is of a push platform that this authenticator was not given.
        case unknownPlatform
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, in words, with nothing secret in them.
    public let reason: String
    /// The HTTP status, when the server is what went wrong.
    public let status: Int?
    /// The mechanism that is in the way, for ``Code/duplicateMechanism``.
    public let mechanismUID: String?
    /// The name of the policy, for ``Code/accountLocked``, ``Code/policyViolation`` and the codes about locks.
    public let policy: String?
    /// How the store failed, for ``Code/registeredNotStored``.
    public let storeError: StoreError?

    /// An error; public so that a ``PushPlatform`` of an app's own can throw it.
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

    /// Whether the same call may succeed later without anybody doing anything: the server is out of order, or the store busy.
    public var isRetryable: Bool {
        switch code {
        case .serverMisbehaved: (status ?? 0) >= 500
        case .registeredNotStored: storeError?.isRetryable ?? false
        default: false
        }
    }

    /// The reason, and the server's status.
    public var description: String { reason + (status.map { " (HTTP \($0))" } ?? "") }
}

extension AuthenticatorError {
    static let nothingOffered = AuthenticatorError(.nothingOffered, "the enrolment offers neither codes nor push")
    static let noCodes = AuthenticatorError(.wrongKind, "this mechanism makes no codes")
    static let noPush = AuthenticatorError(.wrongKind, "this mechanism takes no push messages")

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
            "the server has registered this device, and it could not be stored; mend the store and enrol the same code again: "
                + error.description, storeError: error)
    }
}
