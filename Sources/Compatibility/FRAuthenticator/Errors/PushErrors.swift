import Foundation
public import SignetCore

/// An error from answering a notification or changing the device token.
///
/// Each case names the ForgeRock SDK's code.
public enum PushNotificationError: FRError {
    /// The app has not registered a device token (code 1100000).
    case missingDeviceToken
    /// The notification was already answered, is being answered, or has expired (code 1100001).
    case notificationInvalidStatus
    /// A record that belongs to the notification is missing from the store, with the details (code 1100002).
    case storageError(String)
    /// Some servers did not accept the new device token, with an error for each (code 1100003).
    case updateFailed(errors: [any Error])

    /// The error domain, `com.forgerock.ios.frauthenticator.pushnotification`.
    public static var domain: String { "com.forgerock.ios.frauthenticator.pushnotification" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .missingDeviceToken: (1_100_000, "no device token is known: register for remote notifications first")
        case .notificationInvalidStatus:
            (1_100_001, "the notification was answered before, is being answered, or its time is over")
        case .storageError(let reason): (1_100_002, "Storage error: \(reason)")
        case .updateFailed(let errors):
            (
                1_100_003,
                "\(errors.count) servers did not take the device token: "
                    + errors.map(\.localizedDescription).joined(separator: "; ")
            )
        }
    }
}

/// An error from processing a push message.
///
/// Each case names the ForgeRock SDK's code.
public enum NotificationError: FRError, Hashable {
    /// The message doesn't have the form of a server's message, with the reason (code 7000000).
    case invalidPayload(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.notification`.
    public static var domain: String { "com.forgerock.ios.frauthenticator.notification" }

    /// The ForgeRock SDK's code.
    public var code: Int { 7_000_000 }

    /// A description of the problem.
    public var description: String {
        switch self {
        case .invalidPayload(let reason): "Invalid notification payload: \(reason)"
        }
    }
}

/// An error about signed or encoded data.
///
/// Each case names the ForgeRock SDK's code.
public enum CryptoError: FRError, Hashable {
    /// A parameter is invalid, with its name (code 1200000).
    case invalidParam(String)
    /// A string could not be converted to bytes (code 1200001).
    case failToConvertData
    /// The signature was not made with the mechanism's key (code 1200002).
    case invalidJWT
    /// The algorithm is not HS256 (code 1200003).
    case unsupportedJWTType

    /// The error domain, `com.forgerock.ios.frauthenticator.crypto`.
    public static var domain: String { "com.forgerock.ios.frauthenticator.crypto" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidParam(let name): (1_200_000, "not usable: \(name)")
        case .failToConvertData: (1_200_001, "a text is not the encoding of any bytes")
        case .invalidJWT: (1_200_002, "the signature is not the mechanism's")
        case .unsupportedJWTType: (1_200_003, "the algorithm is not HS256")
        }
    }
}

/// An error of the network, or an unsuccessful answer.
///
/// Each case names the ForgeRock SDK's code.
public enum NetworkError: FRError, RetryableError, Hashable {
    /// The answer is not one that such a server sends (code 5000003).
    case invalidResponseDataType(String)
    /// The URL can't be requested (code 5000005).
    case invalidURL(String)
    /// The server rejected the request, failed, or could not be reached (code 5000010). With `isRetryable` the same call may
    /// succeed later without further action; the notification or enrollment is unchanged.
    case apiRequestFailure(String, isRetryable: Bool)

    /// The error domain, `com.forgerock.ios.frcore.network`.
    public static var domain: String { "com.forgerock.ios.frcore.network" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidResponseDataType(let reason): (5_000_003, reason)
        case .invalidURL(let reason): (5_000_005, reason)
        case .apiRequestFailure(let reason, _): (5_000_010, reason)
        }
    }

    /// True when the same call may succeed later without further action.
    public var isRetryable: Bool {
        if case .apiRequestFailure(_, let isRetryable) = self { isRetryable } else { false }
    }
}

/// An error from the setup of the SDK, or from its store.
///
/// Each case names the ForgeRock SDK's code.
public enum FRAError: FRError, Hashable {
    /// The storage client can't be changed, because the SDK has started (code 8000000).
    case invalidStateForChangingStorage
    /// The store failed, with the operation and the reason (code 8000001).
    case failToSaveIntoStorageClient(String)
    /// The policies can't be changed, because the SDK has started (code 8000002).
    case invalidStateForChangingPolicyEvaluator
    /// A policy can't be registered, with its name or the reason (code 8000003).
    case invalidPolicyRegisteredWithPolicyEvaluator(String)

    /// The error domain, `com.forgerock.ios.frauthenticator.fra`.
    public static var domain: String { "com.forgerock.ios.frauthenticator.fra" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidStateForChangingStorage: (8_000_000, "the storage client cannot be changed once the SDK has started")
        case .failToSaveIntoStorageClient(let reason): (8_000_001, reason)
        case .invalidStateForChangingPolicyEvaluator: (8_000_002, "the policies cannot be changed once the SDK has started")
        case .invalidPolicyRegisteredWithPolicyEvaluator(let reason): (8_000_003, "the policy cannot be registered: \(reason)")
        }
    }
}

/// An error from generating a code, which exists in the ForgeRock SDK's interface.
///
/// It is never thrown, as in the ForgeRock SDK. A secret that can't be read gives ``CryptoError/invalidParam(_:)``, or
/// ``MechanismError/invalidInformation(_:)`` when an account is enrolled.
public enum OathError: FRError, Hashable {
    /// The secret can't be used (code 9000000).
    case invalidSecret

    /// The error domain, `com.forgerock.ios.frauthenticator.oath`.
    public static var domain: String { "com.forgerock.ios.frauthenticator.oath" }

    /// The ForgeRock SDK's code.
    public var code: Int { 9_000_000 }

    /// A description of the problem.
    public var description: String { "the secret cannot be used" }
}
