import SignetAuthenticator
import SignetCore
import SignetStorage

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

    init(_ error: EnrollmentError) {
        self =
            switch (error.code, error.part) {
            case (_, "uri"), (_, "scheme"), (_, "type"), (.missing, "label"): .invalidUri(error.description)
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
            case .policyViolation: .policyViolation(error.reason, id ?? "")
            case .nothingOffered: .invalidUri(error.reason)
            case .counterExhausted, .counterBackwards: .codeGenerationFailed(error.reason, error)
            default: .invalidParameterValue(error.reason)
            }
    }
}

extension OathStorageError: ClientError {
    init(_ error: StoreError) {
        self =
            switch error.code {
            case .corrupt, .newerFormat, .keyMismatch, .rolledBack, .typeMismatch: .storageCorrupted(error.description)
            case .denied, .insecurePermissions: .accessDenied(error.description)
            default: .storageFailure(error.description, error)
            }
    }

    /// Converts an error of an ``OathKeychainStorage``.
    init(_ error: any Error) {
        self =
            switch OathError.translating(error, credentialId: nil) {
            case let error as OathStorageError: error
            case OathError.duplicateCredential(let id): .duplicateCredential(id)
            case let error as OathError: .storageFailure(error.description, error)
            default: .storageFailure("the storage failed (\(type(of: error)))", error)
            }
    }
}

extension StoreError {
    /// Converts an error that an ``OathStorage`` has thrown, without its text, which may repeat secrets.
    init(_ error: OathStorageError) {
        self =
            switch error {
            case .storageFailure(_, let cause as StoreError): cause
            case .storageFailure: StoreError(.failed, "use the app's storage", "the storage reports a failure")
            case .duplicateCredential:
                StoreError(.exists, "use the app's storage", "the storage has a credential of this account already")
            case .storageCorrupted: StoreError(.corrupt, "use the app's storage", "the storage reports damaged data")
            case .accessDenied: StoreError(.denied, "use the app's storage", "the storage reports that access is denied")
            }
    }
}
