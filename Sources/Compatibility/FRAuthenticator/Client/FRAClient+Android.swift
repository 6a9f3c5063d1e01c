public import Foundation
import SignetAuthenticator
import SignetCore

// The interface of the ForgeRock SDK for Android: its names, its order of parameters, and listeners with two closures.

extension FRAClient {
    /// Enrolls the mechanisms of a URI; see ``createMechanismFromUri(uri:onSuccess:onError:)``.
    public func createMechanismFromUri(_ uri: String, _ listener: FRAListener<Mechanism>) {
        Callbacks.run(
            { try await self.createMechanismFromUri(uri) }, onSuccess: listener.onSuccess, onError: listener.onFailure)
    }

    /// Enrolls the mechanisms of a URI and returns the mechanism that was created.
    public func createMechanismFromUri(_ uri: String) async throws -> Mechanism {
        try await engine.enroll(uri: uri)
    }

    /// Stores the push token of this device, which is needed to enroll push mechanisms.
    ///
    /// A second call with the same token changes nothing.
    /// - Throws: ``PushNotificationError/storageError(_:)`` when another token is registered: call ``updateDeviceToken(_:_:)``
    ///   for a new token, because the servers need it. ``FRAError/failToSaveIntoStorageClient(_:)``.
    public func registerForRemoteNotifications(_ deviceToken: String) throws {
        do {
            try engine.register(token: deviceToken)
        } catch {
            throw engine.logged(error, "store the device token")
        }
    }

    /// Stores a new token and sends it to the servers of all push mechanisms; see ``FRAPushHandler``.
    public func updateDeviceToken(_ deviceToken: String, _ listener: FRAListener<Void>) {
        Callbacks.run(
            { try await self.updateDeviceToken(deviceToken) }, onSuccess: listener.onSuccess, onError: listener.onFailure)
    }

    /// Stores a new token and sends it to the servers of all push mechanisms.
    public func updateDeviceToken(_ deviceToken: String) async throws {
        try await engine.updateAll(token: deviceToken)
    }

    /// Processes the data of a message from the push service: `message` and `messageId`.
    /// - Throws: ``NotificationError/invalidPayload(_:)``, ``CryptoError/invalidJWT`` or ``CryptoError/unsupportedJWTType`` for a
    ///   message that the server of a mechanism did not sign; ``PushNotificationError/storageError(_:)`` for a message to a
    ///   mechanism that doesn't exist here. Nothing is stored then.
    public func handleMessage(_ message: [String: String]) throws -> PushNotification {
        guard let id = message["messageId"], let text = message["message"] else {
            throw NotificationError.invalidPayload("the message has no messageId or no message in it")
        }
        return try handleMessage(id, text)
    }

    /// Processes a message from the push service; see ``handleMessage(_:)``.
    public func handleMessage(_ messageId: String, _ message: String) throws -> PushNotification {
        try engine.receive(messageID: messageId, message: message)
    }
}

extension PushNotification {
    /// Approves a notification of the type ``PushType/default``.
    public func accept(_ listener: FRAListener<Void>) {
        accept(onSuccess: { listener.onSuccess(()) }, onError: listener.onFailure)
    }

    /// Approves a notification of the type ``PushType/challenge`` with the number from the login page.
    public func accept(_ challengeResponse: String, _ listener: FRAListener<Void>) {
        accept(
            challengeResponse: challengeResponse, onSuccess: { listener.onSuccess(()) }, onError: listener.onFailure)
    }

    /// Approves a notification of the type ``PushType/biometric``.
    ///
    /// The activity is ignored.
    public func accept<Activity>(
        _ title: String?, _ subtitle: String?, _ allowDeviceCredentials: Bool, _ activity: Activity,
        _ listener: FRAListener<Void>
    ) {
        let text = [title, subtitle].compactMap { $0 }.joined(separator: "\n")
        accept(
            title: text, allowDeviceCredentials: allowDeviceCredentials, onSuccess: { listener.onSuccess(()) },
            onError: listener.onFailure)
    }

    /// Denies a notification of any type.
    public func deny(_ listener: FRAListener<Void>) {
        deny(onSuccess: { listener.onSuccess(()) }, onError: listener.onFailure)
    }

    /// The custom payload of the message.
    public func getCustomPayload() -> String? { customPayload }
    /// The text of the message.
    public func getMessage() -> String? { message }
    /// The context information of the message.
    public func getContextInfo() -> String? { contextInfo }
    /// The type of the push message.
    public func getPushType() -> PushType { pushType }
    /// The numbers of the challenge; nil for other types.
    public func getNumbersChallenge() -> [Int]? { numbersChallengeArray }
    /// The time when the message arrived.
    public func getTimeAdded() -> Date { timeAdded }
}
