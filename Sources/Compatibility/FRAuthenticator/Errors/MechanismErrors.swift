public import FRCore

/// An error from creating or changing a mechanism.
///
/// Each case names the ForgeRock SDK's code.
public enum MechanismError: CodedFRError, Hashable {
    /// The text isn't an enrollment URI, or its scheme is unknown (code 6000000).
    case invalidQRCode
    /// The URI is for an unknown type of mechanism (code 6000001).
    case invalidType
    /// A part of the URI is missing, with the name of the part (code 6000002).
    case missingInformation(String)
    /// A part of the URI or a parameter is invalid, with its name and the reason (code 6000003).
    case invalidInformation(String)
    /// The account already has a mechanism of this type, with the identifier of the existing mechanism (code 6000004).
    case alreadyExists(String)
    /// The mechanism could not be stored, with its identifier (code 6000005).
    case failedToUpdateInformation(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.mechanism`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.mechanism" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidQRCode:
            (6_000_000, "Not an enrollment URI", "this is not an otpauth, pushauth or mfauth URI, or it offers nothing")
        case .invalidType:
            (6_000_001, "Unknown type of mechanism", "the URI is for neither totp, hotp nor push")
        case .missingInformation(let part):
            (6_000_002, "Missing information: \(part)", "missing: \(part)")
        case .invalidInformation(let part):
            (6_000_003, "Invalid information: \(part)", "not usable: \(part)")
        case .alreadyExists(let identifier):
            (
                6_000_004, "\(identifier) is enrolled already",
                "\(identifier) is enrolled already; remove it first to enroll it again"
            )
        case .failedToUpdateInformation(let identifier):
            (6_000_005, "\(identifier) could not be stored", "\(identifier) could not be stored; nothing was changed")
        }
    }
}

/// An error from locking, unlocking, using or enrolling an account.
///
/// Each case names the ForgeRock SDK's code.
public enum AccountError: CodedFRError, Hashable {
    /// The account is locked, with the policy that locks it (code 6100000).
    case accountLocked(String)
    /// The policy has no name (code 6100001).
    case failToLockMissingPolicyName
    /// The policy doesn't belong to the account (code 6100002).
    case failToLockInvalidPolicy
    /// The account is already locked (code 6100003).
    case failToLockAccountAlreadyLocked
    /// The account is not locked (code 6100004).
    case failToUnlockAccountNotLocked
    /// This device doesn't satisfy a policy of the issuer, with the policy (code 6100005).
    case failToRegisterPolicyViolation(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.account`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.account" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .accountLocked(let policy):
            (6_100_000, "The account is locked by the policy \(policy)", "the account is locked by the policy \(policy)")
        case .failToLockMissingPolicyName:
            (6_100_001, "The policy has no name", "the policy has no name")
        case .failToLockInvalidPolicy:
            (6_100_002, "The account does not have this policy", "the account does not have this policy")
        case .failToLockAccountAlreadyLocked:
            (6_100_003, "The account is locked already", "the account is locked already")
        case .failToUnlockAccountNotLocked:
            (6_100_004, "The account has no lock", "the account is not locked")
        case .failToRegisterPolicyViolation(let policy):
            (
                6_100_005, "This device does not meet the policy \(policy)",
                "this device does not meet the issuer's policy \(policy)"
            )
        }
    }
}

/// An error from the setup of the SDK, or from its store.
///
/// Each case names the ForgeRock SDK's code.
public enum FRAError: CodedFRError, Hashable {
    /// The storage client can't be changed, because the SDK has started (code 8000000).
    case invalidStateForChangingStorage
    /// The store failed, with the operation and the reason (code 8000001).
    case failToSaveIntoStorageClient(String)
    /// The policies and the other settings can't be changed, because the SDK has started (code 8000002).
    case invalidStateForChangingPolicyEvaluator
    /// A policy can't be registered, with the name of its type (code 8000003).
    case invalidPolicyRegisteredWithPolicyEvaluator(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.fra`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.fra" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidStateForChangingStorage:
            (
                8_000_000, "The SDK has started with another storage client",
                "the storage client cannot be changed once the SDK has started"
            )
        case .failToSaveIntoStorageClient(let reason):
            (8_000_001, "The store failed: \(reason)", reason)
        case .invalidStateForChangingPolicyEvaluator:
            (
                8_000_002, "The SDK has started with other settings",
                "the policies and the other settings cannot be changed once the SDK has started"
            )
        case .invalidPolicyRegisteredWithPolicyEvaluator(let policy):
            (8_000_003, "The policy \(policy) has no name", "the policy cannot be registered: \(policy) has no name")
        }
    }
}

/// An error from generating a code, which exists in the ForgeRock SDK's interface.
///
/// It is never thrown, as in the ForgeRock SDK. A secret that can't be read gives ``CryptoError/invalidParam(_:)``, or
/// ``MechanismError/invalidInformation(_:)`` when an account is enrolled.
public enum OathError: CodedFRError, Hashable {
    /// The secret can't be used (code 9000000).
    case invalidSecret

    /// The error domain, `com.forgerock.ios.frauthenticator.oath`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.oath" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidSecret:
            (9_000_000, "The secret cannot be used", "the secret cannot be used")
        }
    }
}
