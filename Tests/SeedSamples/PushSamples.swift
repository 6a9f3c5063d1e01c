import FRAuthenticator
import Foundation
import SignetCore
import SignetTesting
import Testing

/// Waits for the result of an operation that a sample begins.
private final class Ending: Sendable {
    private let (endings, ended) = AsyncStream<Bool>.makeStream()

    func succeed() { ended.yield(true) }
    func fail() { ended.yield(false) }

    /// Waits for the end and returns `true` if the operation succeeded.
    func wait() async -> Bool {
        for await ending in endings { return ending }
        return false
    }
}

/// The app delegate of the document.
private final class AppDelegate: Sendable {
    let ending = Ending()

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        // Register Push Notification for your app in AppDelegate.swift
        let center = UNUserNotificationCenter.current()
        center.requestAuthorization(options: [.alert, .sound, .badge]) { (granted, error) in }
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        // Upon successful registration and receiving device token from APNs, register the token to the Authenticator module
        FRAPushHandler.shared.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {
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
            // swift-format-ignore: OnlyOneTrailingClosureArgument
            notification.accept(onSuccess: {
                self.ending.succeed()
            }) { (error) in
                self.ending.fail()
            }
        }
    }
}

/// The samples of the push document, word for word, each inside a test.
@Suite("Push samples of the ForgeRock documentation", OwnProcess())
struct PushSamples {
    /// The SDK as the storage sample starts it, with the device's token.
    private func started() throws -> (FRAClient, AppDelegate) {
        try FRAClient.setStorage(storage: CustomStorageClient()).get()
        FRAClient.start()
        let delegate = AppDelegate()
        delegate.application(UIApplication(), didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01]))
        guard let client = FRAClient.shared else { throw Missing() }
        return (client, delegate)
    }

    @Test("On iOS the app requests the device token, and the SDK stores and removes it")
    func storesAndRemovesDeviceToken() throws {
        let (_, delegate) = try started()
        let application = UIApplication()
        #expect(delegate.application(application, didFinishLaunchingWithOptions: nil))
        #expect(application.isRegistered)
        #expect(FRAPushHandler.shared.deviceToken == "AB01")
        delegate.application(UIApplication(), didFailToRegisterForRemoteNotificationsWithError: Missing())
        #expect(FRAPushHandler.shared.deviceToken == nil)
    }

    @Test("On iOS the app enrolls a scanned URI and accepts a push message")
    func enrollsURIAndAcceptsMessage() async throws {
        let (_, delegate) = try started()
        guard let url = URL(string: SampleApp.uri) else { throw Missing() }
        let ending = Ending()
        let made = Mutex<Mechanism?>(nil)

        guard let fraClient = FRAClient.shared else {
            throw Missing()
        }

        fraClient.createMechanismFromUri(
            uri: url,
            onSuccess: { (mechanism) in
                // Method call occurs when device enrollment is successful.
                made.withLock { $0 = mechanism }
                ending.succeed()
            },
            onError: { (error) in
                // Method call occurs when device enrollment fails.
                ending.fail()
            })

        #expect(await ending.wait())
        let enrolled = made.withLock { $0 }
        let mechanism = try #require(enrolled as? PushMechanism)
        let userInfo: [AnyHashable: Any] = [
            "aps": ["messageId": "AUTHENTICATE:1", "data": try SampleApp.message(to: mechanism.mechanismUUID)]
        ]
        delegate.application(
            UIApplication(), didReceiveRemoteNotification: userInfo, fetchCompletionHandler: { _ in })
        #expect(await delegate.ending.wait())
        #expect(fraClient.getAllNotifications().map(\.isApproved) == [true])
    }

    @Test(
        "On iOS the app answers each type of push message with its own method",
        arguments: [PushKind.tap, .number(choices: [34, 56, 82]), .biometric])
    func answersEachMessageType(kind: PushKind) async throws {
        struct Sensor: FRAUserPresence {
            func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {}
        }
        try FRAClient.setUserPresence(userPresence: Sensor())
        try FRAClient.setStorage(storage: CustomStorageClient()).get()
        await FRAClient.start()
        let client = try #require(FRAClient.shared)
        try client.registerForRemoteNotifications("token")
        let mechanism = try await client.createMechanismFromUri(SampleApp.uri)
        let notification = try client.handleMessage(
            "AUTHENTICATE:1", try SampleApp.message(to: mechanism.mechanismUUID, kind))
        let ending = Ending()
        let successCallback: SuccessCallback = { ending.succeed() }
        let errorCallback: ErrorCallback = { _ in ending.fail() }

        if notification.pushType == .challenge {
            notification.accept(
                challengeResponse: "34",
                onSuccess: successCallback,
                onError: errorCallback
            )
        } else if notification.pushType == .biometric {
            notification.accept(
                title: "title",
                allowDeviceCredentials: true,
                onSuccess: successCallback,
                onError: errorCallback
            )
        } else {
            notification.accept(
                onSuccess: successCallback,
                onError: errorCallback
            )
        }

        #expect(await ending.wait())
        #expect(notification.isApproved)
    }

    @Test("On iOS the app accepts or denies a message with two closures", arguments: [true, false])
    func answersWithTwoClosures(accepts: Bool) async throws {
        let (client, _) = try started()
        let mechanism = try await client.createMechanismFromUri(SampleApp.uri)
        let notification = try client.handleMessage("AUTHENTICATE:1", try SampleApp.message(to: mechanism.mechanismUUID))
        let ending = Ending()

        if accepts {
            notification.accept(
                onSuccess: {
                    // called when the answer was sent
                    ending.succeed()
                },
                onError: { (error) in
                    // called when the answer could not be sent
                    ending.fail()
                })
        } else {
            notification.deny(
                onSuccess: {
                    ending.succeed()
                },
                onError: { (error) in
                    ending.fail()
                })
        }

        #expect(await ending.wait())
        #expect(notification.isApproved == accepts && notification.isDenied != accepts)
    }

    @Test("On iOS a push notification exposes its payload, message and context")
    func exposesNotificationContent() async throws {
        let (client, _) = try started()
        let mechanism = try await client.createMechanismFromUri(SampleApp.uri)
        let notification = try client.handleMessage(
            "AUTHENTICATE:1", try SampleApp.message(to: mechanism.mechanismUUID, .number(choices: [34, 56, 82])))
        #expect(notification.customPayload == #"{"transaction":"42"}"#)
        #expect(notification.message == "Login attempt from Demo at ForgeRock")
        #expect(notification.contextInfo == SampleApp.contextInfo && notification.getContextInfo() == SampleApp.contextInfo)
        let context = try JSON.value(of: Data(try #require(notification.contextInfo).utf8)).object
        #expect(context?["location"]?.object?["latitude"] == .number(51.4517076))
        #expect(context?["userAgent"] == .string("Mozilla/5.0 (Macintosh)") && context?["remoteIp"] == .string("198.51.100.23"))
        #expect(notification.pushType == PushType.challenge)
        #expect(notification.numbersChallengeArray == [34, 56, 82])
        #expect(notification.timeAdded == SampleApp.start)
        let plain = try client.handleMessage("AUTHENTICATE:2", try SampleApp.message(to: mechanism.mechanismUUID))
        #expect(plain.pushType == PushType.default && plain.numbersChallengeArray == nil)
    }

    @Test(
        "On Android the app registers its token, enrolls a URI and answers each type of push message",
        arguments: [PushKind.tap, .number(choices: [34, 56, 82]), .biometric])
    func answersEachMessageTypeOnAndroid(kind: PushKind) async throws {
        struct Sensor: FRAUserPresence {
            func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {}
        }
        let fraClient = try await FRAClient.FRAClientBuilder()
            .withStorage(CustomStorageClient()).withUserPresence(Sensor()).withTransport(SampleApp.transport).start()
        let ending = Ending()
        let made = Mutex<Mechanism?>(nil)

        // Register the token with the SDK to enable Push mechanisms
        try fraClient.registerForRemoteNotifications("fcmToken")

        fraClient.createMechanismFromUri(
            SampleApp.uri,
            FRAListener<Mechanism>(
                onSuccess: { mechanism in
                    // called when device enrollment was successful.
                    made.withLock { $0 = mechanism }
                    ending.succeed()
                },
                onFailure: { _ in
                    // called when device enrollment has failed.
                    ending.fail()
                }))

        #expect(await ending.wait())
        let enrolled = made.withLock { $0 }
        let mechanism = try #require(enrolled)
        let signed = try SampleApp.message(to: mechanism.mechanismUUID, kind, at: SystemWallClock().now)
        let message = ["messageId": "1", "message": signed]
        let notification = try fraClient.handleMessage(message)
        let listener = FRAListener<Void>(onSuccess: { ending.succeed() }, onFailure: { _ in ending.fail() })
        let choice = "34"
        let activity = UIApplication()

        if notification.getPushType() == PushType.CHALLENGE {
            notification.accept(choice, listener)
        } else if notification.getPushType() == PushType.BIOMETRIC {
            notification.accept(nil, nil, true, activity, listener)
        } else {
            notification.accept(listener)
        }

        #expect(await ending.wait())
        #expect(notification.isApproved)
    }
}
