public import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// An error of an ``OathClient``.
///
/// The texts never repeat input, because input may be secret.
public enum OathError: Error, Sendable {
    /// A one-time-code credential with this id does not exist.
    case credentialNotFound(String)
    /// The account of the credential with this id is locked.
    case credentialLocked(String)
    /// The account already has a credential of this type; the value is that credential's id.
    case duplicateCredential(String)
    /// The text isn't an enrollment URI for one-time codes.
    case invalidUri(String)
    /// The named part of the URI is missing.
    case missingRequiredParameter(String)
    /// A value is invalid.
    case invalidParameterValue(String)
    /// The credential cannot be represented as a URI.
    case uriFormatting(String)
    /// The secret is missing or isn't base32.
    case invalidSecret(String)
    /// The type of the codes is unknown.
    case invalidOathType(String)
    /// The algorithm is unknown.
    case invalidAlgorithm(String)
    /// A code could not be generated.
    case codeGenerationFailed(String, (any Error)? = nil)
    /// The device violates a policy of the issuer: a text that names the policy, and the id of the credential, which is empty for
    /// a new one. Nothing was stored.
    case policyViolation(String, String)
    /// The client could not be created.
    case initializationFailed(String, (any Error)? = nil)
    /// The client could not be closed.
    case cleanupFailed(String, (any Error)? = nil)
}

/// An error of a storage of an ``OathClient``.
public enum OathStorageError: Error, Sendable {
    /// The storage failed or timed out. An error of the engine is a `StoreError`.
    case storageFailure(String, (any Error)? = nil)
    /// The account already has a credential of this type; the value is that credential's id.
    ///
    /// A client throws ``OathError/duplicateCredential(_:)`` instead.
    case duplicateCredential(String)
    /// Stored data are damaged or cannot be opened. They were left unchanged.
    case storageCorrupted(String)
    /// The system denies access.
    case accessDenied(String)
}

extension OathError: CustomStringConvertible, LocalizedError {
    /// A description of the error for people.
    public var description: String {
        switch self {
        case .credentialNotFound(let id): "no one-time-code credential has the id \(id)"
        case .credentialLocked(let id): "the account of credential \(id) is locked"
        case .duplicateCredential(let id): "the account has a credential of this type already: \(id)"
        case .missingRequiredParameter(let name): "\(name) is missing"
        case .invalidUri(let text), .invalidParameterValue(let text), .uriFormatting(let text), .invalidSecret(let text),
            .invalidOathType(let text), .invalidAlgorithm(let text), .codeGenerationFailed(let text, _),
            .policyViolation(let text, _), .initializationFailed(let text, _), .cleanupFailed(let text, _):
            text
        }
    }

    /// A sentence that says what happened, with the details of this error.
    public var errorDescription: String? { "\(summary): \(description)." }

    /// The general reason of the failure.
    public var failureReason: String? { "\(explanation.reason)." }

    /// Advice for the user or the developer of the app.
    public var recoverySuggestion: String? { "\(explanation.advice)." }

    private var summary: String {
        switch self {
        case .credentialNotFound, .credentialLocked, .codeGenerationFailed: "No code was generated"
        case .duplicateCredential, .policyViolation: "The account was not added"
        case .invalidUri, .missingRequiredParameter, .invalidParameterValue, .invalidSecret, .invalidOathType, .invalidAlgorithm:
            "The account's data are invalid"
        case .uriFormatting: "The account cannot be written as a URI"
        case .initializationFailed: "The accounts cannot be opened"
        case .cleanupFailed: "The accounts were not closed"
        }
    }

    private var explanation: (reason: String, advice: String) {
        switch self {
        case .credentialNotFound: ("The credential was removed or never stored", "List the credentials again")
        case .credentialLocked:
            ("The issuer's policy forbids codes on this device, or the account was locked in the app", "Unlock the account")
        case .duplicateCredential:
            ("An account has at most one credential of a type", "Delete the existing credential, or keep it")
        case .invalidUri: ("The text is not in the format of otpauth or mfauth URIs", "Scan a new QR code of the issuer")
        case .missingRequiredParameter: ("The issuer left out a part that codes need", "Scan a new QR code of the issuer")
        case .invalidParameterValue: ("A value is outside its limits", "Correct the value that the description names")
        case .uriFormatting: ("A value has no form in a URI", "Correct the credential and save it first")
        case .invalidSecret: ("A secret is a string in base32", "Enter the secret as the issuer shows it")
        case .invalidOathType: ("Codes are of the types totp and hotp", "Scan a new QR code of the issuer")
        case .invalidAlgorithm: ("Codes use SHA1, SHA256 or SHA512", "Scan a new QR code of the issuer")
        case .codeGenerationFailed: ("The credential gives no more codes", "Enroll the account again")
        case .policyViolation: ("This device does not meet a rule of the issuer", "Ask the issuer which devices may be used")
        case .initializationFailed:
            ("The storage of the accounts did not open", "Correct what the description names, and create the client again")
        case .cleanupFailed: ("The storage reported an error at the end", "Nothing has to be done")
        }
    }
}

extension OathStorageError: CustomStringConvertible, LocalizedError {
    /// A description of the error for people.
    public var description: String {
        switch self {
        case .storageFailure(let text, _), .storageCorrupted(let text), .accessDenied(let text): text
        case .duplicateCredential(let id): "the account has a credential of this type already: \(id)"
        }
    }

    /// A sentence that says what happened, with the details of this error.
    public var errorDescription: String? {
        switch self {
        case .storageFailure: "The storage of the accounts failed: \(description)."
        case .duplicateCredential: "The credential was not stored: \(description)."
        case .storageCorrupted: "The stored accounts cannot be read: \(description)."
        case .accessDenied: "The storage of the accounts is closed to this app: \(description)."
        }
    }

    /// The general reason of the failure.
    public var failureReason: String? {
        switch self {
        case .storageFailure: "The place of the accounts did not answer, or refused the change."
        case .duplicateCredential: "An account has at most one credential of a type."
        case .storageCorrupted: "The data are damaged, or were sealed with another key."
        case .accessDenied: "The system, or a setting of the storage, denies access."
        }
    }

    /// Advice for the user or the developer of the app.
    public var recoverySuggestion: String? {
        switch self {
        case .storageFailure: "Try again, and read the accounts to find out whether a change was made."
        case .duplicateCredential: "Delete the existing credential, or keep it."
        case .storageCorrupted: "Nothing was deleted; restore the data from a backup."
        case .accessDenied: "Unlock the device or the key, or change the setting that the description names."
        }
    }
}

/// Errors are equal when their cases and texts are; the errors that caused them are not compared.
extension OathError: Equatable {
    /// Returns true when the cases and the texts are equal.
    public static func == (left: OathError, right: OathError) -> Bool { left.identity == right.identity }

    private var identity: [String] {
        switch self {
        case .credentialNotFound(let id): ["credentialNotFound", id]
        case .credentialLocked(let id): ["credentialLocked", id]
        case .duplicateCredential(let id): ["duplicateCredential", id]
        case .invalidUri(let text): ["invalidUri", text]
        case .missingRequiredParameter(let text): ["missingRequiredParameter", text]
        case .invalidParameterValue(let text): ["invalidParameterValue", text]
        case .uriFormatting(let text): ["uriFormatting", text]
        case .invalidSecret(let text): ["invalidSecret", text]
        case .invalidOathType(let text): ["invalidOathType", text]
        case .invalidAlgorithm(let text): ["invalidAlgorithm", text]
        case .codeGenerationFailed(let text, _): ["codeGenerationFailed", text]
        case .policyViolation(let text, let id): ["policyViolation", text, id]
        case .initializationFailed(let text, _): ["initializationFailed", text]
        case .cleanupFailed(let text, _): ["cleanupFailed", text]
        }
    }
}
