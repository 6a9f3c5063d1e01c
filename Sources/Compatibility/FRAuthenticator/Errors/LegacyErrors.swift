import FRCore
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// Conversions from the engine's errors to the documented errors.
enum LegacyErrors {
    /// Returns the documented error for an error of the engine.
    ///
    /// A documented error stays unchanged.
    /// - Parameters:
    ///   - error: The error to convert.
    ///   - identifier: The identifier of the mechanism, if the caller knows it.
    /// - Returns: The documented error. An error of an unknown type becomes
    ///   `NetworkError/apiRequestFailure(_:_:_:)` with the name of the type.
    static func error(_ error: any Error, identifier: String? = nil) -> any CodedFRError {
        switch error {
        case let error as any CodedFRError: error
        case let error as EnrollmentError: enrollment(error)
        case let error as AuthenticatorError: authenticator(error, identifier: identifier)
        case let error as PushMessageError: message(error)
        case let error as StoreError: FRAError.failToSaveIntoStorageClient(error.description)
        case let error as TransportError: transport(error)
        case is CancellationError: NetworkError.apiRequestFailure(nil, nil, error)
        default: NetworkError.apiRequestFailure(nil, nil, UnknownError(description: "\(type(of: error))"))
        }
    }

    /// An error of which only the type is told, because its text may contain secrets.
    private struct UnknownError: Error, CustomStringConvertible {
        let description: String
    }

    private static func enrollment(_ error: EnrollmentError) -> MechanismError {
        switch (error.part, error.code) {
        // The ForgeRock SDK for iOS checks the authority first: section 1.1 of protocol/authenticator.md.
        case ("scheme", .unsupported), ("type", .unsupported): .invalidType
        case ("uri", _), ("scheme", _), ("type", _), ("query", .missing): .invalidQRCode
        case (let part, .missing): .missingInformation(part)
        case (let part, .unsafe) where error.reason.hasPrefix("plain http to "):
            .invalidInformation(
                "\(part): \(error.reason) (FRAClient.allowPlainHTTP(to:), FRAClientBuilder.withPlainHTTP(to:))")
        default: .invalidInformation(error.part + ": " + error.reason)
        }
    }

    /// Returns the documented error for a message that isn't a signed JSON object.
    ///
    /// The ForgeRock SDK first counts the parts of the text, and then decodes them.
    static func form(of message: String) -> CryptoError {
        message.split(separator: ".").count == 3 ? .failToConvertData : .invalidJWT
    }

    private static func authenticator(_ error: AuthenticatorError, identifier: String?) -> any CodedFRError {
        let policy = error.policy ?? error.reason
        return switch error.code {
        case .duplicateMechanism: MechanismError.alreadyExists(identifier ?? error.mechanismUID ?? error.reason)
        case .nothingOffered: MechanismError.invalidQRCode
        case .policyViolation: AccountError.failToRegisterPolicyViolation(policy)
        case .registeredNotStored: FRAError.failToSaveIntoStorageClient(error.reason)
        case .unknownAccount, .unknownMechanism, .unknownNotification: PushNotificationError.storageError(error.reason)
        case .accountLocked: AccountError.accountLocked(policy)
        case .alreadyLocked: AccountError.failToLockAccountAlreadyLocked
        case .notLocked: AccountError.failToUnlockAccountNotLocked
        // The engine's error names the policy if the policy has a name.
        case .invalidPolicy where error.policy == nil: AccountError.failToLockMissingPolicyName
        case .invalidPolicy: AccountError.failToLockInvalidPolicy
        case .counterExhausted, .counterBackwards: MechanismError.failedToUpdateInformation(identifier ?? error.reason)
        case .alreadyAnswered, .expired: PushNotificationError.notificationInvalidStatus
        case .serverMisbehaved where (error.status ?? 0) < 300: NetworkError.invalidResponseDataType
        case .refusedByServer, .notSupported, .serverMisbehaved: NetworkError.apiRequestFailure(nil, nil, error)
        default: MechanismError.invalidInformation(error.reason)
        }
    }

    private static func message(_ error: PushMessageError) -> any CodedFRError {
        switch error.code {
        case .algorithm: CryptoError.unsupportedJWTType
        case .signature, .form: CryptoError.invalidJWT
        default: NotificationError.invalidPayload(error.description)
        }
    }

    private static func transport(_ error: TransportError) -> NetworkError {
        switch error.code {
        case .invalidRequest: .invalidRequest(error.description)
        case .notHTTP, .tooLarge: .invalidResponseDataType
        default: .apiRequestFailure(nil, nil, error)
        }
    }
}
