import SignetCore
import SignetNetwork
public import SignetStorage

/// Why a ``PushClient`` did not do what it was asked. No text in it repeats what was put in: that may be a secret.
public enum PushError: Error, Sendable, CustomStringConvertible {
    /// The client was closed.
    case notInitialized
    /// The client could not be made.
    case initializationFailed(String, (any Error)?)
    /// The text is no enrolment URI for push.
    case invalidUri(String)
    /// This part is missing.
    case missingRequiredParameter(String)
    /// A part cannot be what it should be.
    case invalidParameterValue(String)
    /// The credential cannot be written as a URI.
    case uriFormatting(String)
    /// There is no such type.
    case invalidPushType(String)
    /// There is no such platform.
    case invalidPlatform(String)
    /// The storage failed, or did not answer in time.
    case storageFailure(String, StoreError?)
    /// The device has no token: set it first, with ``PushClient/setDeviceToken(_:credentialId:)``.
    case deviceTokenNotSet
    /// The credential's platform has no handler here.
    case noHandlerForPlatform(String)
    /// A message is not what its credential's server signed. It was not stored.
    case messageParsingFailed(String)
    /// No push credential has this id.
    case credentialNotFound(String)
    /// The account of the credential, or of the notification's credential, with this id is locked.
    case credentialLocked(String)
    /// The account has a push credential already: this one.
    case duplicateCredential(String)
    /// No notification has this id.
    case notificationNotFound(String)
    /// The device does not meet a policy of the issuer's. Nothing was stored, and no server asked.
    case policyViolation(String, credentialId: String?)
    /// The server has refused the registration, or is out of order. Nothing was stored.
    case registrationFailed(String)
    /// The server could not be reached, has refused, or is out of order.
    case networkFailure(String, (any Error)?)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .notInitialized: "the client was closed"
        case .deviceTokenNotSet: "the device has no token: set it with setDeviceToken first"
        case .missingRequiredParameter(let name): "\(name) is missing"
        case .noHandlerForPlatform(let name): "the push platform \(name) has no handler here"
        case .credentialNotFound(let id): "no push credential has the id \(id)"
        case .credentialLocked(let id): "the account of \(id) is locked"
        case .duplicateCredential(let id): "the account has a push credential already: \(id)"
        case .notificationNotFound(let id): "no notification has the id \(id)"
        case .invalidUri(let text), .invalidParameterValue(let text), .uriFormatting(let text), .invalidPushType(let text),
            .invalidPlatform(let text), .messageParsingFailed(let text), .registrationFailed(let text),
            .initializationFailed(let text, _), .storageFailure(let text, _), .policyViolation(let text, _),
            .networkFailure(let text, _):
            text
        }
    }

    /// Whether the same call may succeed later without anybody doing anything.
    public var isRetryable: Bool {
        switch self {
        case .storageFailure(_, let error): error?.isRetryable ?? false
        case .networkFailure(_, let error as TransportError): error.isRetryable
        case .networkFailure(_, let error as AuthenticatorError): error.isRetryable
        default: false
        }
    }
}

extension PushError {
    /// What the engine threw, as this family calls it. What is its own already, or nobody's, stays as it is.
    static func translating(_ error: any Error, id: String?) -> any Error {
        switch error {
        case let error as StoreError: PushError.storageFailure(error.description, error)
        case let error as EnrollmentError: PushError(error)
        case let error as TransportError: PushError.networkFailure(error.description, error)
        case let error as PushMessageError: PushError.messageParsingFailed(error.description)
        case let error as AuthenticatorError: PushError(error, id: id)
        default: error
        }
    }

    private init(_ error: EnrollmentError) {
        self =
            switch (error.code, error.part) {
            case (.missing, let part) where part != "label": .missingRequiredParameter(part)
            case (_, "scheme"), (_, "type"), (_, "label"): .invalidUri(error.description)
            default: .invalidParameterValue(error.description)
            }
    }

    private init(_ error: AuthenticatorError, id: String?) {
        self =
            switch error.code {
            case .unknownMechanism, .unknownAccount, .wrongKind: .credentialNotFound(id ?? "")
            case .unknownNotification: .notificationNotFound(id ?? "")
            case .accountLocked, .alreadyLocked: .credentialLocked(id ?? "")
            case .duplicateMechanism: .duplicateCredential(error.mechanismUID ?? "")
            case .policyViolation: .policyViolation(error.reason, credentialId: id)
            case .nothingOffered: .invalidUri(error.reason)
            case .registeredNotStored: .storageFailure(error.reason, error.storeError)
            case .unknownPlatform: .noHandlerForPlatform(id ?? "")
            case .refusedByServer, .serverMisbehaved, .notSupported, .noPushStream: .networkFailure(error.description, error)
            case .alreadyAnswered, .expired, .wrongNumber, .presenceRefused, .notLocked, .invalidPolicy, .invalidName,
                .counterExhausted, .counterBackwards:
                .invalidParameterValue(error.reason)
            }
    }
}
