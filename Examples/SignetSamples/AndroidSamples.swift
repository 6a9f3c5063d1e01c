import FRAuthenticator
import Foundation

// The samples of the ForgeRock documentation for Android, in Swift. Their names (`AndroidStorageClient`, `FRAClientBuilder`,
// `FRAListener`, the getters) are those of forgerock-android-sdk, which Signet has for apps that come from there.

/// The activity of the document, which Signet ignores.
final class Activity: Sendable {}

/// The storage client of the app in the form of the document for Android, without argument labels.
final class LabelFreeStorageClient: AndroidStorageClient {
    private var accounts: [String: Account] = [:]
    private var mechanisms: [String: Mechanism] = [:]
    private var notifications: [String: PushNotification] = [:]

    func getAccount(_ accountId: String) -> Account? { accounts[accountId] }

    func getAllAccounts() -> [Account] { Array(accounts.values) }

    func removeAccount(_ account: Account) -> Bool { accounts.removeValue(forKey: account.identifier) != nil }

    func setAccount(_ account: Account) -> Bool {
        accounts[account.identifier] = account
        return true
    }

    func getMechanismsForAccount(_ account: Account) -> [Mechanism] {
        mechanisms.values.filter { $0.issuer == account.issuer && $0.accountName == account.accountName }
    }

    func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? {
        mechanisms.values.first { $0.mechanismUUID == mechanismUID }
    }

    func removeMechanism(_ mechanism: Mechanism) -> Bool { mechanisms.removeValue(forKey: mechanism.identifier) != nil }

    func setMechanism(_ mechanism: Mechanism) -> Bool {
        mechanisms[mechanism.identifier] = mechanism
        return true
    }

    func getAllNotificationsForMechanism(_ mechanism: Mechanism) -> [PushNotification] {
        notifications.values.filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }

    func removeNotification(_ pushNotification: PushNotification) -> Bool {
        notifications.removeValue(forKey: pushNotification.identifier) != nil
    }

    func setNotification(_ pushNotification: PushNotification) -> Bool {
        notifications[pushNotification.identifier] = pushNotification
        return true
    }

    func isEmpty() -> Bool { accounts.isEmpty && mechanisms.isEmpty && notifications.isEmpty }
}

/// The samples of the ForgeRock documentation for Android.
enum AndroidSamples {
    /// Starts the SDK with a storage client with argument labels.
    private static func startWithLabels() throws -> FRAClient {
        //Initiate your custom StorageClient
        let customStorageClient = CustomStorageClient()

        //Register it to FRAClient
        let fraClient = try FRAClient.FRAClientBuilder()
            .withContext(Activity())
            .withStorage(customStorageClient)
            .start()
        return fraClient
    }

    /// Starts the SDK with a storage client without argument labels.
    private static func startWithoutLabels() throws -> FRAClient {
        let customStorageClient = LabelFreeStorageClient()
        return try FRAClient.FRAClientBuilder()
            .withContext(Activity())
            .withStorage(customStorageClient)
            .start()
    }

    /// Starts the SDK with the default storage client.
    private static func start() throws -> FRAClient {
        try FRAClient.FRAClientBuilder()
            .withContext(Activity())
            .withUserPresence(RecognizedUser())
            .start()
    }

    static func enroll(_ uri: String) async throws -> String {
        let fraClient = try startWithLabels()
        _ = try await createMechanism(uri, fraClient)
        return issuers(of: fraClient)
    }

    static func enrollWithoutLabels(_ uri: String) async throws -> String {
        let fraClient = try startWithoutLabels()
        let mechanism = try await createMechanism(uri, fraClient)
        return "\(issuers(of: fraClient)) \(fraClient.getMechanismByUUID(mechanism) != nil)"
    }

    static func enrollPush(_ uri: String) async throws -> String {
        let fraClient = try start()
        let fcmToken = "token-1"
        // Register the token with the SDK to enable Push mechanisms
        try fraClient.registerForRemoteNotifications(fcmToken)
        return try await createMechanism(uri, fraClient)
    }

    /// Enrolls with requests that the transport of the app answers, without a network.
    static func enrollOverOwnTransport(_ uri: String) async throws -> String {
        let fraClient = try await FRAClient.FRAClientBuilder()
            .withStorage(LabelFreeStorageClient())
            .withTransport(OwnTransport())
            .start()
        try fraClient.registerForRemoteNotifications("token-1")
        _ = try await createMechanism(uri, fraClient)
        return issuers(of: fraClient)
    }

    /// Answers a message in the way that its type needs, with the user's choice of a number.
    static func answer(messageId: String, message: String, choice: String) async throws -> String {
        let fraClient = try start()
        let notification = try fraClient.handleMessage(["messageId": messageId, "message": message])
        let activity = Activity()
        let _: Void = try await withCheckedThrowingContinuation { done in
            let listener = FRAListener<Void>(onSuccess: { done.resume() }, onFailure: { e in done.resume(throwing: e) })

            if notification.getPushType() == PushType.CHALLENGE {
                notification.accept(choice, listener)
            } else if notification.getPushType() == PushType.BIOMETRIC {
                notification.accept(nil, nil, true, activity, listener)
            } else {
                notification.accept(listener)
            }
        }
        let numbers = notification.getNumbersChallenge().map { "\($0)" } ?? "no numbers"
        return "\(notification.isApproved) \(notification.getPushType()) \(numbers) \(notification.getMessage() ?? "")"
    }

    /// Enrolls the device and returns the mechanism's UUID.
    private static func createMechanism(_ uri: String, _ fraClient: FRAClient) async throws -> String {
        try await withCheckedThrowingContinuation { done in
            fraClient.createMechanismFromUri(
                uri,
                FRAListener<Mechanism>(
                    onSuccess: { mechanism in
                        // called when device enrollment was successful.
                        done.resume(returning: mechanism.mechanismUUID)
                    },
                    onFailure: { e in
                        // called when device enrollment has failed.
                        done.resume(throwing: e)
                    }))
        }
    }

    private static func issuers(of fraClient: FRAClient) -> String {
        fraClient.getAllAccounts().map { $0.issuer }.joined(separator: " ")
    }
}
