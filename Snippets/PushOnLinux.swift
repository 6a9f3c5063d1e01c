// Receive and answer push messages on Linux in an app over FRAuthenticator; and completions that change a main-actor object.
import FRAuthenticator
import Foundation
import SignetAuthenticator
import SignetNetwork
import SignetStorage

// snippet.hide
func answerPushes(uri: URL, ask: @escaping @Sendable (String) async -> Bool) async throws {
    // snippet.show
    await FRAClient.start()
    guard let client = FRAClient.shared else { return }  // FRAClient.lastStorageError says why.
    if FRAPushHandler.shared.deviceToken == nil {
        // A random text takes the place of Apple's device token. The SDK stores it.
        FRAPushHandler.shared.application((), didRegisterForRemoteNotificationsWithDeviceToken: Data(UUID().uuidString.utf8))
    }
    let mechanism = try await client.createMechanismFromUri(uri: uri)  // Once for each account.

    // The listener uses the vault in which FRAClient has stored the account.
    let protectors = DefaultKeyProtectors.all(environment: ProcessInfo.processInfo.environment)
    let vault = try await VaultDirectory.default().unlockVault(protectors: protectors)
    let authenticator = Authenticator(
        store: AccountRecords(vault), transport: AsyncHTTPTransport(), device: PushDevice(token: "listener", name: "listener"))
    try await PushStreamListener(authenticator, mechanismUID: mechanism.mechanismUUID).run { event in
        guard case .received = event else { return }
        for notification in client.getAllNotifications() where notification.isPending && !notification.isExpired {
            if await ask(notification.message ?? "Do you log in now?") {
                try await notification.accept()
            } else {
                try await notification.deny()
            }
        }
    }
    // snippet.hide
}

// snippet.show
@MainActor
final class EnrollmentModel {
    private(set) var status = ""

    func enroll(_ uri: URL, with client: FRAClient) {
        client.createMechanismFromUri(
            uri: uri,
            onSuccess: { _ in Task { @MainActor in self.status = "enrolled" } },
            onError: { error in Task { @MainActor in self.status = error.localizedDescription } })
    }
}
// snippet.hide
