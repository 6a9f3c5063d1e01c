import FRAuthenticator
import Foundation

/// The app delegate of the document on push authentication.
final class AppDelegate: Sendable {
    private let (answers, answered) = AsyncStream<String>.makeStream()

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        // Register Push Notification for your app in AppDelegate.swift
        let center = UNUserNotificationCenter.current()
        center.requestAuthorization(options: [.alert, .sound, .badge]) { (granted, error) in }
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        // Upon successful registration and receiving device token from APNs, register the token to the Authenticator module
        FRAPushHandler.shared.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error) {
        // Upon receiving an error from APNs, notify Authenticator module to properly update the status
        FRAPushHandler.shared.application(application, didFailToRegisterForRemoteNotificationsWithError: error)
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        // Once you receive the remote notification, handle it with FRAPushHandler to get the PushNotification object.
        // If RemoteNotification does not contain the expected payload structured from AM, the Authenticator module does not return the PushNotification object.
        if let notification = FRAPushHandler.shared.application(application, didReceiveRemoteNotification: userInfo) {
            // With the PushNotification object, you can either accept or deny
            notification.accept(onSuccess: {
                self.answered.yield("accepted")
            }) { (error) in
                self.answered.yield("not accepted")
            }
        } else {
            self.answered.yield("no notification")
        }
    }

    /// Waits for the answer to the message that the delegate received.
    private func answer() async -> String {
        for await answer in answers { return answer }
        return "no answer"
    }

    // MARK: Samples

    /// Launches the app and registers the device token that the system provides.
    private func launch() -> Bool {
        let isLaunched = application(UIApplication.shared, didFinishLaunchingWithOptions: nil)
        application(UIApplication.shared, didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01]))
        return isLaunched
    }

    static func enroll(_ uri: String) async throws -> String {
        StorageSamples.start()
        guard AppDelegate().launch() else { throw AppError.notStarted }
        return try await StorageSamples.createMechanism(uri)
    }

    /// Enrolls after the system could not provide a token, which a push mechanism needs.
    static func enrollAfterFailedRegistration(_ uri: String) async throws -> String {
        StorageSamples.start()
        let delegate = AppDelegate()
        guard delegate.launch() else { throw AppError.notStarted }
        delegate.application(UIApplication.shared, didFailToRegisterForRemoteNotificationsWithError: AppError.noNotification)
        return try await StorageSamples.createMechanism(uri)
    }

    static func receive(messageId: String, data: String) async -> String {
        StorageSamples.start()
        let delegate = AppDelegate()
        delegate.application(
            UIApplication.shared, didReceiveRemoteNotification: ["aps": ["messageId": messageId, "data": data]],
            fetchCompletionHandler: { _ in })
        return await delegate.answer()
    }
}
