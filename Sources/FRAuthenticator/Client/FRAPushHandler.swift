import SignetAuthenticator
import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Takes what the system's push service hands to the app. It works for ``FRAClient/shared``, so start the SDK first.
///
/// The first parameter of the `application` methods is whatever the system calls its application: it is not looked at, so no
/// user interface's library is needed.
public final class FRAPushHandler: Sendable {
    /// The handler of ``FRAClient/shared``.
    public static let shared = FRAPushHandler()

    private init() {}

    /// The token under which servers find this device, in upper-case hexadecimal; nil before the app was given one.
    public var deviceToken: String? {
        guard let engine = FRAClient.shared?.engine else { return nil }
        return engine.perform("read the device token", otherwise: nil) { try engine.token()?.token }
    }

    /// Takes the device's token. If it is another than before, it is stored, and the servers of all push mechanisms are told in
    /// the background; those that cannot be told are told when the app is next given the token.
    public func application<Application>(
        _ application: Application, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        guard let engine = FRAClient.shared?.engine else { return }
        engine.perform("store the device token", otherwise: ()) { try engine.take(token: Hexadecimal.text(of: deviceToken)) }
    }

    /// Forgets the device's token: the system could not give one.
    public func application<Application>(
        _ application: Application, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        clearDeviceToken()
    }

    /// Takes a message in: verifies it, and stores it if it is new. Nil for one that is not a message of an AM server to one
    /// of the mechanisms here, and when the store fails; ``FRAClient/lastStorageError-swift.property`` says why.
    /// - Parameters:
    ///   - application: The application, which is not looked at.
    ///   - userInfo: `aps`, with `data` and `messageId` in it.
    public func application<Application>(
        _ application: Application, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) -> PushNotification? {
        guard let engine = FRAClient.shared?.engine, let service = userInfo["aps"] as? [AnyHashable: Any],
            let message = service["data"] as? String, let messageID = service["messageId"] as? String
        else { return nil }
        return engine.perform("receive a push message", otherwise: nil) {
            try engine.receive(messageID: messageID, message: message)
        }
    }

    // MARK: Device token

    /// Stores a token, and tells the servers of all push mechanisms that do not know it.
    ///
    /// One of the callbacks is called, once, on the global executor of Swift's tasks.
    /// - Parameters:
    ///   - deviceToken: The device's token.
    ///   - onSuccess: Called when it is done.
    ///   - onFailure: Gets ``PushNotificationError/storageError(_:)`` when there is no push mechanism,
    ///     ``PushNotificationError/updateFailed(errors:)`` when some servers could not be told: the next call tells them again.
    public func updateDeviceToken(
        deviceToken: String, onSuccess: @escaping SuccessCallback, onFailure: @escaping ErrorCallback
    ) {
        Callbacks.run({ try await self.updateDeviceToken(deviceToken: deviceToken) }, onSuccess: onSuccess, onError: onFailure)
    }

    /// The same, awaited.
    public func updateDeviceToken(deviceToken: String) async throws {
        try await LegacyEngine.of(nil).updateAll(token: deviceToken)
    }

    /// Stores a token, tells the servers that do not know it, and says whether one mechanism's does now.
    ///
    /// One of the callbacks is called, once, on the global executor of Swift's tasks.
    public func updateDeviceToken(
        mechanism: PushMechanism, deviceToken: String, onSuccess: @escaping SuccessCallback,
        onFailure: @escaping ErrorCallback
    ) {
        Callbacks.run(
            { try await self.updateDeviceToken(mechanism: mechanism, deviceToken: deviceToken) }, onSuccess: onSuccess,
            onError: onFailure)
    }

    /// The same, awaited.
    public func updateDeviceToken(mechanism: PushMechanism, deviceToken: String) async throws {
        try await LegacyEngine.of(mechanism.held.origin).update(token: deviceToken, of: mechanism.mechanismUUID)
    }

    /// Forgets the device's token. Servers are told nothing.
    public func clearDeviceToken() {
        guard let engine = FRAClient.shared?.engine else { return }
        engine.perform("remove the device token", otherwise: ()) { try engine.clearToken() }
    }
}
