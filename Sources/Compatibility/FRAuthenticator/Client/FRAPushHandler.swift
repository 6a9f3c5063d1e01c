public import Foundation
import SignetAuthenticator
import SignetCore

/// Handles the callbacks from the system's push service.
///
/// It works with ``FRAClient/shared``. Before the start of the SDK, a device token is kept until the start, and a message is
/// received with the storage client that the app has set, or with the user's own vault.
///
/// The first parameter of the `application` methods is the system's application object. It is ignored, so that no user interface
/// library is needed.
public final class FRAPushHandler: NSObject, Sendable {
    /// The handler of ``FRAClient/shared``.
    public static let shared = FRAPushHandler()

    private override init() { super.init() }

    /// The push token of this device, in uppercase hexadecimal; nil before the app got one.
    public var deviceToken: String? {
        let process = FRAProcess.current
        if let handed = process.handedToken { return handed }
        guard let engine = process.openEngine else { return nil }
        return engine.perform("read the device token", default: nil) { try engine.token()?.token }
    }

    /// Takes the device's push token.
    ///
    /// A changed token is stored and sent to the servers of all push mechanisms in the background. A server that could not be
    /// reached gets it when the app passes the token again. Before the start of the SDK the token is kept, and stored and sent by
    /// the start.
    public func application<Application>(
        _ application: Application, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        FRAProcess.current.handle(.token(Hexadecimal.text(of: deviceToken)))
    }

    /// Removes the device's push token, because the system could not provide one.
    public func application<Application>(
        _ application: Application, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        clearDeviceToken()
    }

    /// Verifies a push message and stores it if it is new.
    /// - Parameters:
    ///   - application: The application, which is ignored.
    ///   - userInfo: A dictionary with `aps`, which contains `data` and `messageId`.
    /// - Returns: The notification; nil for a dictionary without a message, for a message that doesn't come from the AM server of
    ///   a mechanism in this store, and when the store fails. In the last two cases, ``FRAClient/lastStorageError-type.property``
    ///   has the error.
    public func application<Application>(
        _ application: Application, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) -> PushNotification? {
        guard let service = userInfo["aps"] as? [AnyHashable: Any], let message = service["data"] as? String,
            let messageID = service["messageId"] as? String, let engine = try? FRAProcess.current.engine()
        else { return nil }
        return engine.perform("receive a push message", default: nil) {
            try engine.receive(messageID: messageID, message: message)
        }
    }

    // MARK: Device token

    /// Stores a token and sends it to the servers of all push mechanisms that don't have it yet.
    ///
    /// One of the callbacks is called, once, on the global executor of Swift's tasks.
    /// - Parameters:
    ///   - deviceToken: The device's token.
    ///   - onSuccess: Called when all servers have the token.
    ///   - onFailure: Gets ``PushNotificationError/storageError(_:)`` when the store has no push mechanism, or
    ///     ``PushNotificationError/updateFailed(errors:)`` when some servers could not be updated. The next call tries those
    ///     again.
    public func updateDeviceToken(
        deviceToken: String, onSuccess: @escaping SuccessCallback, onFailure: @escaping ErrorCallback
    ) {
        Callbacks.run({ try await self.updateDeviceToken(deviceToken: deviceToken) }, onSuccess: onSuccess, onError: onFailure)
    }

    /// Stores a token and sends it to the servers of all push mechanisms that don't have it yet.
    public func updateDeviceToken(deviceToken: String) async throws {
        try await LegacyEngine.of(nil).updateAll(token: deviceToken)
    }

    /// Stores a token and sends it to the servers of all push mechanisms that don't have it yet.
    ///
    /// The result is that of the server of one mechanism; failures of other servers are not reported.
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

    /// Stores a token and sends it to all servers that don't have it yet.
    ///
    /// Throws when the server of this mechanism could not be updated; failures of other servers are not reported.
    public func updateDeviceToken(mechanism: PushMechanism, deviceToken: String) async throws {
        try await LegacyEngine.of(mechanism.box.token).update(token: deviceToken, of: mechanism.mechanismUUID)
    }

    /// Removes the device's token from the store.
    ///
    /// The servers are not notified.
    public func clearDeviceToken() {
        FRAProcess.current.handle(.removed)
    }
}
