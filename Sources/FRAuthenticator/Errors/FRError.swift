/// What every error of this module tells: the original SDK's code, and words with nothing secret in them.
public protocol FRError: Error, Sendable, CustomStringConvertible {
    /// The original SDK's number for this kind of failure; it never changes.
    var code: Int { get }
    /// The original SDK's name for the part that failed, for example `com.forgerock.ios.frauthenticator.mechanism`.
    static var domain: String { get }
    /// What is wrong and, where there is one, the way on.
    var description: String { get }
}

/// Why a mechanism was not made or changed.
public enum MechanismError: FRError, Hashable {
    /// The text is no enrolment URI, or one of no known scheme (6000000).
    case invalidQRCode
    /// The URI is for a type of mechanism that does not exist (6000001).
    case invalidType
    /// A part of the URI is missing; which (6000002).
    case missingInformation(String)
    /// A part of the URI, or of a call, cannot be what it should be; which, and why (6000003).
    case invalidInformation(String)
    /// The account has a mechanism of this type; the identifier of the one that is there (6000004).
    case alreadyExists(String)
    /// The mechanism could not be stored; its identifier (6000005).
    case failedToUpdateInformation(String)

    /// `com.forgerock.ios.frauthenticator.mechanism`
    public static var domain: String { "com.forgerock.ios.frauthenticator.mechanism" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidQRCode: 6_000_000
        case .invalidType: 6_000_001
        case .missingInformation: 6_000_002
        case .invalidInformation: 6_000_003
        case .alreadyExists: 6_000_004
        case .failedToUpdateInformation: 6_000_005
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidQRCode: "this is no otpauth, pushauth or mfauth URI, or it offers nothing"
        case .invalidType: "the URI is for neither totp, hotp nor push"
        case .missingInformation(let part): "missing: \(part)"
        case .invalidInformation(let part): "not usable: \(part)"
        case .alreadyExists(let identifier): "\(identifier) is enrolled already; remove it first to enrol it again"
        case .failedToUpdateInformation(let identifier): "\(identifier) could not be stored; nothing was changed"
        }
    }
}

/// Why an account was not locked, unlocked, used or enrolled.
public enum AccountError: FRError, Hashable {
    /// The account is locked; the policy that locks it (6100000).
    case accountLocked(String)
    /// The policy has no name (6100001).
    case failToLockMissingPolicyName
    /// The policy is none of the account's (6100002).
    case failToLockInvalidPolicy
    /// The account is locked already (6100003).
    case failToLockAccountAlreadyLocked
    /// The account is not locked (6100004).
    case failToUnlockAccountNotLocked
    /// The issuer asks for what this device does not meet; the policy (6100005).
    case failToRegisterPolicyViolation(String)

    /// `com.forgerock.ios.frauthenticator.account`
    public static var domain: String { "com.forgerock.ios.frauthenticator.account" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .accountLocked: 6_100_000
        case .failToLockMissingPolicyName: 6_100_001
        case .failToLockInvalidPolicy: 6_100_002
        case .failToLockAccountAlreadyLocked: 6_100_003
        case .failToUnlockAccountNotLocked: 6_100_004
        case .failToRegisterPolicyViolation: 6_100_005
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .accountLocked(let policy): "the account is locked by the policy \(policy)"
        case .failToLockMissingPolicyName: "the policy has no name"
        case .failToLockInvalidPolicy: "the policy is none of the account's"
        case .failToLockAccountAlreadyLocked: "the account is locked already"
        case .failToUnlockAccountNotLocked: "the account is not locked"
        case .failToRegisterPolicyViolation(let policy): "this device does not meet the issuer's policy \(policy)"
        }
    }
}
