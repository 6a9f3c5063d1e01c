public import Foundation

/// An error of this module.
///
/// It has the ForgeRock SDK's domain and code, also as an `NSError`, and a description without secrets.
public protocol FRError: CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
    /// The ForgeRock SDK's code for this kind of error. It never changes.
    var code: Int { get }
    /// The ForgeRock SDK's error domain, for example `com.forgerock.ios.frauthenticator.mechanism`.
    static var domain: String { get }
    /// A description of the problem and, if one exists, of the remedy.
    var description: String { get }
}

extension FRError {
    /// The same as ``domain``.
    public static var errorDomain: String { domain }
    /// The same as ``code``.
    public var errorCode: Int { code }
    /// The ``description``, under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
    /// The ``description``.
    public var errorDescription: String? { description }
    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }
}

/// An error from creating or changing a mechanism.
///
/// Each case names the ForgeRock SDK's code.
public enum MechanismError: FRError, Hashable {
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
    public static var domain: String { "com.forgerock.ios.frauthenticator.mechanism" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidQRCode: (6_000_000, "this is no otpauth, pushauth or mfauth URI, or it offers nothing")
        case .invalidType: (6_000_001, "the URI is for neither totp, hotp nor push")
        case .missingInformation(let part): (6_000_002, "Missing information: \(part)")
        case .invalidInformation(let part): (6_000_003, "Invalid information: \(part)")
        case .alreadyExists(let identifier): (6_000_004, "\(identifier) is enrolled already; remove it first to enroll it again")
        case .failedToUpdateInformation(let identifier): (6_000_005, "\(identifier) could not be stored; nothing was changed")
        }
    }
}

/// An error from locking, unlocking, using or enrolling an account.
///
/// Each case names the ForgeRock SDK's code.
public enum AccountError: FRError, Hashable {
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
    public static var domain: String { "com.forgerock.ios.frauthenticator.account" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .accountLocked(let policy): (6_100_000, "the account is locked by the policy \(policy)")
        case .failToLockMissingPolicyName: (6_100_001, "the policy has no name")
        case .failToLockInvalidPolicy: (6_100_002, "the account does not have this policy")
        case .failToLockAccountAlreadyLocked: (6_100_003, "the account is locked already")
        case .failToUnlockAccountNotLocked: (6_100_004, "the account is not locked")
        case .failToRegisterPolicyViolation(let policy): (6_100_005, "this device does not meet the issuer's policy \(policy)")
        }
    }
}
