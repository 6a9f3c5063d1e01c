/// Why a notification was not answered, or a device token not changed.
public enum PushNotificationError: FRError {
    /// The app has not been given a device token yet (1100000).
    case missingDeviceToken
    /// The notification was answered before, is being answered, or is expired (1100001).
    case notificationInvalidStatus
    /// What belongs to the notification is not in the store; what (1100002).
    case storageError(String)
    /// Some servers did not take the new device token; an error for each (1100003).
    case updateFailed(errors: [any Error])

    /// `com.forgerock.ios.frauthenticator.pushnotification`
    public static var domain: String { "com.forgerock.ios.frauthenticator.pushnotification" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .missingDeviceToken: 1_100_000
        case .notificationInvalidStatus: 1_100_001
        case .storageError: 1_100_002
        case .updateFailed: 1_100_003
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .missingDeviceToken: "no device token is known: register for remote notifications first"
        case .notificationInvalidStatus: "the notification was answered before, is being answered, or its time is over"
        case .storageError(let reason): reason
        case .updateFailed(let errors):
            "\(errors.count) servers did not take the device token: "
                + errors.map { "\($0)" }.joined(separator: "; ")
        }
    }
}

/// Why a push message was not taken in.
public enum NotificationError: FRError, Hashable {
    /// The message is not what a server sends; what is wrong with it (7000000).
    case invalidPayload(String)

    /// `com.forgerock.ios.frauthenticator.notification`
    public static var domain: String { "com.forgerock.ios.frauthenticator.notification" }

    /// The original SDK's number.
    public var code: Int { 7_000_000 }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidPayload(let reason): reason
        }
    }
}

/// Why something that is signed or encoded was refused.
public enum CryptoError: FRError, Hashable {
    /// An input is not usable; which (1200000).
    case invalidParam(String)
    /// Bytes could not be made of a text (1200001).
    case failToConvertData
    /// The signature is not the mechanism's (1200002).
    case invalidJWT
    /// The algorithm is not HS256 (1200003).
    case unsupportedJWTType

    /// `com.forgerock.ios.frauthenticator.crypto`
    public static var domain: String { "com.forgerock.ios.frauthenticator.crypto" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidParam: 1_200_000
        case .failToConvertData: 1_200_001
        case .invalidJWT: 1_200_002
        case .unsupportedJWTType: 1_200_003
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidParam(let name): "not usable: \(name)"
        case .failToConvertData: "a text is not the encoding of any bytes"
        case .invalidJWT: "the signature is not the mechanism's"
        case .unsupportedJWTType: "the algorithm is not HS256"
        }
    }
}

/// Why a server's answer did not come, or was no success.
public enum NetworkError: FRError, Hashable {
    /// What came is not what such a server answers (5000003).
    case invalidResponseDataType(String)
    /// The address cannot be asked (5000005).
    case invalidURL(String)
    /// The server refused, is out of order, or could not be reached. `isRetryable`: the same call may succeed later without
    /// anybody doing anything; the notification or enrolment is as it was (5000010).
    case apiRequestFailure(String, isRetryable: Bool)

    /// `com.forgerock.ios.frcore.network`
    public static var domain: String { "com.forgerock.ios.frcore.network" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidResponseDataType: 5_000_003
        case .invalidURL: 5_000_005
        case .apiRequestFailure: 5_000_010
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidResponseDataType(let reason), .invalidURL(let reason), .apiRequestFailure(let reason, _): reason
        }
    }

    /// Whether the same call may succeed later without anybody doing anything.
    public var isRetryable: Bool {
        if case .apiRequestFailure(_, let isRetryable) = self { isRetryable } else { false }
    }
}

/// Why the SDK itself could not be set up, or its store not be used.
public enum FRAError: FRError, Hashable {
    /// The storage client cannot be changed any more: the SDK has started (8000000).
    case invalidStateForChangingStorage
    /// The store did not do what it was asked; what, and why (8000001).
    case failToSaveIntoStorageClient(String)
    /// The policies cannot be changed any more: the SDK has started (8000002).
    case invalidStateForChangingPolicyEvaluator
    /// A policy cannot be registered; which, or why (8000003).
    case invalidPolicyRegisteredWithPolicyEvaluator(String)

    /// `com.forgerock.ios.frauthenticator.fra`
    public static var domain: String { "com.forgerock.ios.frauthenticator.fra" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidStateForChangingStorage: 8_000_000
        case .failToSaveIntoStorageClient: 8_000_001
        case .invalidStateForChangingPolicyEvaluator: 8_000_002
        case .invalidPolicyRegisteredWithPolicyEvaluator: 8_000_003
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidStateForChangingStorage: "the storage client cannot be changed once the SDK has started"
        case .failToSaveIntoStorageClient(let reason): reason
        case .invalidStateForChangingPolicyEvaluator: "the policies cannot be changed once the SDK has started"
        case .invalidPolicyRegisteredWithPolicyEvaluator(let reason): "the policy cannot be registered: \(reason)"
        }
    }
}

/// Why no code was made, by the documented name. Nothing throws it, as in the original: a secret that cannot be read is
/// ``CryptoError/invalidParam(_:)``, or ``MechanismError/invalidInformation(_:)`` when an account is enrolled.
public enum OathError: FRError, Hashable {
    /// The secret cannot be used (9000000).
    case invalidSecret

    /// `com.forgerock.ios.frauthenticator.oath`
    public static var domain: String { "com.forgerock.ios.frauthenticator.oath" }

    /// The original SDK's number.
    public var code: Int { 9_000_000 }

    /// What is wrong, in words.
    public var description: String { "the secret cannot be used" }
}
