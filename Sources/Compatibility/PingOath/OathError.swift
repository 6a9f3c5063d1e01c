import SignetAuthenticator
import SignetCore
public import SignetStorage

/// An error of an ``OathClient``.
///
/// The texts never repeat input, because input may be secret.
public enum OathError: Error, Sendable, Hashable, CustomStringConvertible {
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
    case codeGenerationFailed(String)
    /// The device violates a policy of the issuer. Nothing was stored.
    case policyViolation(String, credentialId: String?)
    /// The client could not be created.
    case initializationFailed(String, StoreError?)
    /// The client could not be closed.
    case cleanupFailed(String)

    /// A description of the error for people.
    public var description: String {
        switch self {
        case .credentialNotFound(let id): "no one-time-code credential has the id \(id)"
        case .credentialLocked(let id): "the account of credential \(id) is locked"
        case .duplicateCredential(let id): "the account has a credential of this type already: \(id)"
        case .missingRequiredParameter(let name): "\(name) is missing"
        case .invalidUri(let text), .invalidParameterValue(let text), .uriFormatting(let text), .invalidSecret(let text),
            .invalidOathType(let text), .invalidAlgorithm(let text), .codeGenerationFailed(let text),
            .policyViolation(let text, _), .initializationFailed(let text, _), .cleanupFailed(let text):
            text
        }
    }
}

/// An error of the storage of an ``OathClient``.
public enum OathStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The storage failed or timed out.
    case storageFailure(String, StoreError?)
    /// Never thrown; see ``OathError/duplicateCredential(_:)``. The case exists for programs that refer to it.
    case duplicateCredential(String)
    /// Stored data are damaged or cannot be opened. They were left unchanged.
    case storageCorrupted(String)
    /// The system denies access.
    case accessDenied(String)

    /// A description of the error for people.
    public var description: String {
        switch self {
        case .storageFailure(let text, _), .storageCorrupted(let text), .accessDenied(let text): text
        case .duplicateCredential(let id): "the account has a credential of this type already: \(id)"
        }
    }

    init(_ error: StoreError) {
        self =
            switch error.code {
            case .corrupt, .newerFormat, .keyMismatch, .rolledBack, .typeMismatch: .storageCorrupted(error.description)
            case .denied, .insecurePermissions: .accessDenied(error.description)
            default: .storageFailure(error.description, error)
            }
    }
}

extension OathError: ClientError {
    /// Converts an error of the engine to the types of this API.
    ///
    /// Errors that already have these types, and errors from outside the SDK, are returned unchanged.
    static func translating(_ error: any Error, credentialId: String?) -> any Error {
        switch error {
        case let error as StoreError: OathStorageError(error)
        case let error as EnrollmentError: OathError(error)
        case let error as AuthenticatorError: OathError(error, credentialId: credentialId)
        default: error
        }
    }

    private init(_ error: EnrollmentError) {
        self =
            switch (error.code, error.part) {
            case (_, "scheme"): .invalidUri(error.description)
            case (_, "type"): .invalidOathType(error.description)
            case (.missing, "label"): .invalidUri(error.description)
            case (.missing, let part): .missingRequiredParameter(part)
            case (_, "secret"): .invalidSecret(error.description)
            case (_, "algorithm"): .invalidAlgorithm(error.description)
            default: .invalidParameterValue(error.description)
            }
    }

    private init(_ error: AuthenticatorError, credentialId id: String?) {
        self =
            switch error.code {
            case .unknownMechanism, .wrongKind, .unknownAccount: .credentialNotFound(id ?? "")
            case .accountLocked, .alreadyLocked: .credentialLocked(id ?? "")
            case .duplicateMechanism: .duplicateCredential(error.mechanismUID ?? "")
            case .policyViolation: .policyViolation(error.reason, credentialId: id)
            case .nothingOffered: .invalidUri(error.reason)
            case .counterExhausted, .counterBackwards: .codeGenerationFailed(error.reason)
            default: .invalidParameterValue(error.reason)
            }
    }
}
