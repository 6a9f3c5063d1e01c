import FRAuthenticator
import Foundation

// The user check for a biometric message: forgerock-ios-sdk shows the system's prompt and does not have these names. Signet
// asks the app.

/// A check that recognizes each user.
struct RecognizedUser: FRAUserPresence {
    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {}
}

/// The biometric sample of the document on push authentication, with a user that the device recognizes.
enum UserPresenceSamples {
    static func enroll(_ uri: String) async throws -> String {
        await FRAClient.start()
        FRAPushHandler.shared.application(
            Activity(), didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01]))
        guard let fraClient = FRAClient.shared else { throw AppError.notStarted }
        return try await fraClient.createMechanismFromUri(uri).mechanismUUID
    }

    static func answer(messageId: String, data: String) async throws -> String {
        try FRAClient.setUserPresence(userPresence: RecognizedUser())
        await FRAClient.start()
        let userInfo: [AnyHashable: Any] = ["aps": ["messageId": messageId, "data": data]]
        guard let notification = FRAPushHandler.shared.application(Activity(), didReceiveRemoteNotification: userInfo)
        else { throw AppError.noNotification }
        let _: Void = try await withCheckedThrowingContinuation { done in
            notification.accept(
                title: "title",
                allowDeviceCredentials: true,
                onSuccess: { done.resume() },
                onError: { (error) in done.resume(throwing: error) })
        }
        return notification.isApproved ? "approved" : "pending"
    }
}
