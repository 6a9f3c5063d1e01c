import SignetCore
public import SignetStorage

/// Why an ``OathClient`` did not do what it was asked. No text in it repeats what was put in: that may be a secret.
public enum OathError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No one-time-code credential has this id.
    case credentialNotFound(String)
    /// The account of the credential with this id is locked.
    case credentialLocked(String)
    /// The account has a credential of this type already: this one.
    case duplicateCredential(String)
    /// The text is no enrolment URI for one-time codes.
    case invalidUri(String)
    /// This part of the URI is missing.
    case missingRequiredParameter(String)
    /// A part cannot be what it should be.
    case invalidParameterValue(String)
    /// The credential cannot be written as a URI.
    case uriFormatting(String)
    /// The secret is missing, or no base32.
    case invalidSecret(String)
    /// There is no such type.
    case invalidOathType(String)
    /// There is no such algorithm.
    case invalidAlgorithm(String)
    /// No code could be made.
    case codeGenerationFailed(String)
    /// The device does not meet a policy of the issuer's. Nothing was stored.
    case policyViolation(String, credentialId: String?)
    /// The client could not be made.
    case initializationFailed(String, StoreError?)
    /// The client could not be closed.
    case cleanupFailed(String)

    /// What is wrong, in words.
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

/// Why the storage of an ``OathClient`` did not do what it was asked.
public enum OathStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It failed, or did not answer in time.
    case storageFailure(String, StoreError?)
    /// Never thrown: see ``OathError/duplicateCredential(_:)``. It is there for programs that name it.
    case duplicateCredential(String)
    /// What is stored is not what was written, or cannot be opened. It was left as it is.
    case storageCorrupted(String)
    /// The system refuses access.
    case accessDenied(String)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .storageFailure(let text, _), .storageCorrupted(let text), .accessDenied(let text): text
        case .duplicateCredential(let id): "the account has a credential of this type already: \(id)"
        }
    }

    init(_ error: StoreError) {
        self =
            switch error.code {
            case .corrupt, .newerFormat, .keyMismatch, .rolledBack, .otherType: .storageCorrupted(error.description)
            case .denied, .unsafePlace: .accessDenied(error.description)
            case .noVault, .exists, .busy, .full, .outcomeUnknown, .keyUnavailable, .givenUp, .invalid, .failed:
                .storageFailure(error.description, error)
            }
    }
}

extension OathError {
    /// What the engine threw, as this family calls it. What is its own already, or nobody's, stays as it is.
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
            case .notLocked, .invalidPolicy, .invalidName, .unknownNotification, .alreadyAnswered, .expired, .wrongNumber,
                .presenceRefused, .refusedByServer, .notSupported, .serverMisbehaved, .noPushStream, .unknownPlatform,
                .registeredNotStored:
                .invalidParameterValue(error.reason)
            }
    }
}
