public import Foundation
import SignetAuthenticator
public import SignetCore
import SignetNetwork
import SignetStorage

/// An error of a ``PushClient``.
///
/// The texts never repeat secrets or whole URIs.
public enum PushError: RetryableError, LocalizedError, Sendable {
    /// The client was closed.
    case notInitialized
    /// The client could not be created.
    case initializationFailed(String, (any Error)?)
    /// The text isn't an enrollment URI for push, or lacks a required parameter.
    case invalidUri(String)
    /// The named parameter is missing.
    case missingRequiredParameter(String)
    /// A value is invalid.
    case invalidParameterValue(String)
    /// The credential cannot be represented as a URI.
    case uriFormatting(String)
    /// The type of the notification is unknown.
    case invalidPushType(String)
    /// The platform is unknown.
    case invalidPlatform(String)
    /// The storage failed or timed out, or it already has a credential of the account (``PushStorageError/duplicateCredential(_:)``).
    case storageFailure(String, (any Error)?)
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
    /// A notification with this id does not exist.
    case notificationNotFound(String)
    /// The device violates a policy of the issuer. Nothing was stored, and no request was sent.
    case policyViolation(String)
    /// The server has rejected the registration or has failed. Nothing was stored.
    case registrationFailed(String)
    /// The server could not be reached, has rejected the request, or has failed.
    case networkFailure(String, (any Error)?)

    /// A description of the error for people.
    public var errorDescription: String? {
        switch self {
        case .notInitialized: "The push client was closed; create a new one"
        case .deviceTokenNotSet: "This device has no push token yet: call setDeviceToken first"
        case .initializationFailed(let text, let cause): Self.text("Initialization failed", text, cause)
        case .invalidUri(let text): "Invalid Push URI: \(text)"
        case .missingRequiredParameter(let name): "Missing required parameter: \(name)"
        case .invalidParameterValue(let text): "Invalid parameter value: \(text)"
        case .uriFormatting(let text): "URI formatting failed: \(text)"
        case .invalidPushType(let name): "Invalid push type: \(name)"
        case .invalidPlatform(let name): "Invalid platform: \(name)"
        case .storageFailure(let text, let cause): Self.text("Storage failure", text, cause)
        case .noHandlerForPlatform(let name): "No handler available for platform: \(name)"
        case .messageParsingFailed(let text): "Message parsing failed: \(text)"
        case .credentialNotFound(let id): "Credential not found: \(id)"
        case .credentialLocked(let id): "Credential is locked: \(id)"
        case .notificationNotFound(let id): "Notification not found: \(id)"
        case .policyViolation(let text): "Policy violation: \(text)"
        case .registrationFailed(let text): "Registration failed: \(text)"
        case .networkFailure(let text, let cause): Self.text("Network failure", text, cause)
        }
    }

    /// True when the same call may succeed later without any change.
    public var isRetryable: Bool {
        switch self {
        case .storageFailure(_, let error as any RetryableError): error.isRetryable
        case .networkFailure(_, let error as any RetryableError): error.isRetryable
        default: false
        }
    }

    fileprivate static func text(_ title: String, _ text: String, _ cause: (any Error)?) -> String {
        guard let cause, let reason = reason(of: cause), reason != text else { return "\(title): \(text)" }
        return "\(title): \(text) - \(reason)"
    }

    private static func reason(of cause: any Error) -> String? {
        switch cause {
        case let error as any LocalizedError: error.errorDescription
        // The errors of the engine describe themselves.
        case is any RetryableError: "\(cause)"
        default: cause.localizedDescription
        }
    }

    /// Returns a name from outside as an error shows it: one short line without characters that disguise it.
    static func shown(_ name: String) -> String { name.isSafeToShow ? name.shortened : "(unprintable)" }
}

/// An error of a push storage.
public enum PushStorageError: LocalizedError, Sendable {
    /// The storage failed.
    case storageFailure(String, (any Error)?)
    /// The account has another push credential, with this id.
    case duplicateCredential(String)
    /// The storage has another notification with this id.
    case duplicateNotification(String)

    /// A description of the error for people.
    public var errorDescription: String? {
        switch self {
        case .storageFailure(let text, let cause): PushError.text("Storage failure", text, cause)
        case .duplicateCredential(let id): "Duplicate credential: \(id)"
        case .duplicateNotification(let id): "Duplicate notification: \(id)"
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

    init(_ error: EnrollmentError) {
        self =
            switch (error.code, error.part) {
            case (.missing, let part) where part != "label": .invalidUri("Missing required parameter: \(part)")
            case (_, "scheme"): .invalidUri("Invalid URI scheme (\(error.description))")
            case (.unsafe, "r"), (.unsafe, "a"):
                .invalidUri("\(error.description); PushConfiguration.plainHTTPHosts names the hosts that may use plain http")
            default: .invalidUri(error.description)
            }
    }

    private init(_ error: AuthenticatorError, id: String?) {
        self =
            switch error.code {
            case .unknownMechanism, .unknownAccount, .wrongKind: .credentialNotFound(id ?? "")
            case .unknownNotification: .notificationNotFound(id ?? "")
            case .accountLocked, .alreadyLocked: .credentialLocked(id ?? "")
            case .duplicateMechanism:
                .storageFailure(
                    "the account has a push credential already", PushStorageError.duplicateCredential(error.mechanismUID ?? ""))
            case .policyViolation: .policyViolation(error.reason)
            case .nothingOffered: .invalidUri(error.reason)
            case .registeredNotStored: .storageFailure(error.reason, error.storeError)
            case .unknownPlatform: .noHandlerForPlatform(id ?? "")
            case .refusedByServer, .serverMisbehaved, .notSupported, .noPushStream: .networkFailure(error.description, error)
            default: .invalidParameterValue(error.reason)
            }
    }
}
