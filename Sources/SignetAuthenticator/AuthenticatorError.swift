public import Foundation
public import SignetCore
public import SignetStorage

/// An error of the authenticator.
///
/// Failures of the store, the network, a URI or a signed message keep their own types: `StoreError`, `TransportError`,
/// `EnrollmentError`, `PushMessageError`.
public struct AuthenticatorError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: ErrorCode {
        /// The account already has a mechanism of this kind.
        public static let duplicateMechanism = Code(rawValue: "duplicateMechanism")
        /// The enrollment offers neither codes nor push.
        public static let nothingOffered = Code(rawValue: "nothingOffered")
        /// The device violates a policy of the enrollment.
        ///
        /// Nothing was stored, and no request was sent.
        public static let policyViolation = Code(rawValue: "policyViolation")
        /// The server has registered the device, but the store failed afterwards.
        ///
        /// Enroll the same URI again.
        public static let registeredNotStored = Code(rawValue: "registeredNotStored")
        /// No account has this identity.
        public static let unknownAccount = Code(rawValue: "unknownAccount")
        /// No mechanism has this id.
        public static let unknownMechanism = Code(rawValue: "unknownMechanism")
        /// No notification has this id.
        public static let unknownNotification = Code(rawValue: "unknownNotification")
        /// The mechanism is of another kind.
        public static let wrongKind = Code(rawValue: "wrongKind")
        /// The account is locked, manually or because the device violates a policy.
        public static let accountLocked = Code(rawValue: "accountLocked")
        /// The account is already locked manually.
        public static let alreadyLocked = Code(rawValue: "alreadyLocked")
        /// The account is not locked manually.
        public static let notLocked = Code(rawValue: "notLocked")
        /// The policy of a lock has no name, or isn't a policy of the account.
        public static let invalidPolicy = Code(rawValue: "invalidPolicy")
        /// The display name contains characters that cannot be shown safely.
        public static let invalidName = Code(rawValue: "invalidName")
        /// The HOTP counter has reached its end.
        public static let counterExhausted = Code(rawValue: "counterExhausted")
        /// The HOTP counter belongs to another machine that shares the account.
        ///
        /// `signet sync take` moves it to this machine.
        public static let counterElsewhere = Code(rawValue: "counterElsewhere")
        /// The HOTP counter would move back.
        public static let counterBackwards = Code(rawValue: "counterBackwards")
        /// The notification was answered before.
        public static let alreadyAnswered = Code(rawValue: "alreadyAnswered")
        /// The notification has expired.
        public static let expired = Code(rawValue: "expired")
        /// The number is missing, or isn't one of the numbers offered.
        public static let wrongNumber = Code(rawValue: "wrongNumber")
        /// The device could not confirm the user's presence.
        public static let presenceRefused = Code(rawValue: "presenceRefused")
        /// The server has rejected the request.
        public static let refusedByServer = Code(rawValue: "refusedByServer")
        /// The server doesn't support the operation.
        ///
        /// Trying again does not help.
        public static let notSupported = Code(rawValue: "notSupported")
        /// The server's response is a server error, or violates the protocol.
        public static let serverMisbehaved = Code(rawValue: "serverMisbehaved")
        /// The server has no push stream.
        public static let noPushStream = Code(rawValue: "noPushStream")
        /// The mechanism belongs to a push platform that this authenticator doesn't have.
        public static let unknownPlatform = Code(rawValue: "unknownPlatform")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .duplicateMechanism, .nothingOffered, .policyViolation, .registeredNotStored, .unknownAccount, .unknownMechanism,
            .unknownNotification, .wrongKind, .accountLocked, .alreadyLocked, .notLocked, .invalidPolicy, .invalidName,
            .counterExhausted, .counterBackwards, .alreadyAnswered, .expired, .wrongNumber, .presenceRefused, .refusedByServer,
            .notSupported, .serverMisbehaved, .noPushStream, .unknownPlatform, .counterElsewhere,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
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

    /// Creates an error.
    ///
    /// The initializer is public so that a ``PushPlatform`` of an app can throw it.
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
    /// The error for a mechanism of another kind where codes are needed.
    package static let noCodes = AuthenticatorError(.wrongKind, "this mechanism makes no codes")
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
            .notSupported, "\(mechanism.push?.registrationEndpoint.host ?? "the server") does not accept new device tokens")
    }

    static func counterElsewhere(_ account: AccountID, owner: String) -> AuthenticatorError {
        AuthenticatorError(
            .counterElsewhere,
            "the codes of \(account.issuer): \(account.accountName) are generated on \(owner), so that no code repeats")
    }

    static func violated(_ policy: String) -> AuthenticatorError {
        AuthenticatorError(.policyViolation, "this device does not meet the issuer's policy \(policy)", policy: policy)
    }

    package static func locked(_ lock: AccountLock) -> AuthenticatorError {
        let reason =
            switch lock {
            case .manual(let policy): "the account is locked (\(policy)); unlock it first"
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

extension AuthenticatorError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
