import SignetAuthenticator
public import SignetCore
import SignetNetwork
public import SignetStorage

/// An error of a ``PushClient``.
///
/// The texts never repeat input, because input may be secret.
public enum PushError: RetryableError, Sendable, CustomStringConvertible {
    /// The client was closed.
    case notInitialized
    /// The client could not be created.
    case initializationFailed(String, (any Error)?)
    /// The text isn't an enrollment URI for push.
    case invalidUri(String)
    /// The named part is missing.
    case missingRequiredParameter(String)
    /// A value is invalid.
    case invalidParameterValue(String)
    /// The credential cannot be represented as a URI.
    case uriFormatting(String)
    /// The type of the notification is unknown.
    case invalidPushType(String)
    /// The platform is unknown.
    case invalidPlatform(String)
    /// The storage failed or timed out.
    case storageFailure(String, StoreError?)
    /// The device token has not been set; call ``PushClient/setDeviceToken(_:credentialId:)`` first.
    case deviceTokenNotSet
    /// The configuration has no handler for the credential's platform.
    case noHandlerForPlatform(String)
    /// The server of the credential has not signed this message. The message was not stored.
    case messageParsingFailed(String)
    /// A push credential with this id does not exist.
    case credentialNotFound(String)
    /// The account of the credential, or of the notification's credential, with this id is locked.
    case credentialLocked(String)
    /// The account already has a push credential; the value is that credential's id.
    case duplicateCredential(String)
    /// A notification with this id does not exist.
    case notificationNotFound(String)
    /// The device violates a policy of the issuer. Nothing was stored, and no request was sent.
    case policyViolation(String, credentialId: String?)
    /// The server has rejected the registration or has failed. Nothing was stored.
    case registrationFailed(String)
    /// The server could not be reached, has rejected the request, or has failed.
    case networkFailure(String, (any Error)?)

    /// A description of the error for people.
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

    /// True when the same call may succeed later without any change.
    public var isRetryable: Bool {
        switch self {
        case .storageFailure(_, let error): error?.isRetryable ?? false
        case .networkFailure(_, let error as any RetryableError): error.isRetryable
        default: false
        }
    }
}

extension PushError: ClientError {
    /// Converts an error of the engine to this type.
    ///
    /// Errors that already have this type, and errors from outside the SDK, are returned unchanged.
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
            default: .invalidParameterValue(error.reason)
            }
    }
}
