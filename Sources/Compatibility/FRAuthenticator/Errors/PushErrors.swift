public import FRCore

/// An error from answering a notification or changing the device token.
///
/// Each case names the ForgeRock SDK's code.
public enum PushNotificationError: CodedFRError {
    /// The app has not registered a device token (code 1100000).
    case missingDeviceToken
    /// The notification was already answered, is being answered, or has expired (code 1100001).
    case notificationInvalidStatus
    /// A record that belongs to the notification is missing from the store, with the details (code 1100002).
    case storageError(String)
    /// Some servers did not accept the new device token, with an error for each (code 1100003).
    case updateFailed(errors: [any Error])

    /// The error domain, `com.forgerock.ios.frauthenticator.pushnotification`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.pushnotification" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .missingDeviceToken:
            (1_100_000, "No device token is known", "no device token is known: register for remote notifications first")
        case .notificationInvalidStatus:
            (
                1_100_001, "The notification cannot be answered",
                "the notification was answered before, is being answered, or its time is over"
            )
        case .storageError(let reason):
            (1_100_002, "Storage error: \(reason)", reason)
        case .updateFailed(let errors):
            (
                1_100_003, "\(errors.count) servers did not take the device token",
                "\(errors.count) servers did not take the device token: " + errors.map { "\($0)" }.joined(separator: "; ")
            )
        }
    }
}

/// An error from processing a push message.
///
/// Each case names the ForgeRock SDK's code.
public enum NotificationError: CodedFRError, Hashable {
    /// The message doesn't have the form of a server's message, with the reason (code 7000000).
    case invalidPayload(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.notification`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.notification" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidPayload(let reason):
            (7_000_000, "Invalid notification payload: \(reason)", reason)
        }
    }
}

/// An error about signed or encoded data.
///
/// Each case names the ForgeRock SDK's code.
public enum CryptoError: CodedFRError, Hashable {
    /// A parameter is invalid, with its name (code 1200000).
    case invalidParam(String)
    /// A string could not be converted to bytes, or bytes to the values that were expected (code 1200001).
    case failToConvertData
    /// The text has no three parts, or the signature was not made with the mechanism's key (code 1200002).
    case invalidJWT
    /// The algorithm is not HS256 (code 1200003).
    case unsupportedJWTType

    /// The error domain, `com.forgerock.ios.frauthenticator.crypto`.
    public static var errorDomain: String { "com.forgerock.ios.frauthenticator.crypto" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description that `localizedDescription` has.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ``code``.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidParam(let name):
            (1_200_000, "A parameter can't be used: \(name)", "not usable: \(name)")
        case .failToConvertData:
            (1_200_001, "The data cannot be read", "a string is not the encoding of the expected data")
        case .invalidJWT:
            (1_200_002, "The JWT is not genuine", "the text is not a JWT, or the signature is not the mechanism's")
        case .unsupportedJWTType:
            (1_200_003, "The JWT has an algorithm other than HS256", "the algorithm is not HS256")
        }
    }
}
