// Only PingPush: the test compiles only if one import is enough.
import PingPush
import Testing

/// An app's place for everything that a client keeps.
private actor AppItem: Storage {
    private var item: StoredAccounts?

    func save(item: StoredAccounts) async throws { self.item = item }
    func get() async throws -> StoredAccounts? { item }
    func delete() async throws { item = nil }
}

@Suite("An app that imports PingPush only")
struct ExportTests {
    private static let uri =
        "pushauth://push/Harbor:mira?a=aHR0cHM6Ly9hbS5leGFtcGxlLnRlc3QvcD9fYWN0aW9uPWF1dGhlbnRpY2F0ZQ"
        + "&r=aHR0cHM6Ly9hbS5leGFtcGxlLnRlc3QvcD9fYWN0aW9uPXJlZ2lzdGVy&s=b3uYLkQ7dRPjBaIzV0t_aijoXRgMq-NP5AwVAvRfa_E"

    /// The text of a view for a notification.
    private func shown(_ notification: PushNotification) -> String { notification.messageText ?? "" }

    @Test("A view shows the text of a notification and that of an error")
    func showsTextsWithPingPushOnly() {
        let notification = PushNotification(
            credentialId: "c-1", ttl: 60, messageId: "m-1", messageText: "Log in?", pushType: .default)
        #expect(shown(notification) == "Log in?")
        let error: any Error = PushError.deviceTokenNotSet
        #expect(error.localizedDescription.contains("setDeviceToken"))
    }

    @Test("An app reads an enrollment URI and the name of a platform")
    func readsURIWithPingPushOnly() async throws {
        let credential = try await PushCredential.fromUri(Self.uri)
        #expect((credential.issuer, credential.accountName, credential.platform) == ("Harbor", "mira", .pingAM))
        #expect(throws: (any Error).self) { try JSONDecoder().decode(PushPlatform.self, from: Data(#""invalid""#.utf8)) }
    }

    @Test("A client over the app's own storage keeps a credential, and refuses a blank token and a short shared secret")
    func keepsPushCredentialInStorageOfApp() async throws {
        let item = AppItem()
        let client = try await PushClient.createClient { $0.storage = item }
        let credential = try await client.saveCredential(try await PushCredential.fromUri(Self.uri))
        #expect(try await client.getCredential(credentialId: credential.id)?.accountName == "mira")
        #expect(try await item.get() != nil)
        await #expect(throws: PushError.self) { try await client.setDeviceToken("   ") }
        let short = PushCredential(
            issuer: "Other", accountName: "mira", serverEndpoint: "https://am.example.test/p", sharedSecret: "c2VjcmV0")
        await #expect(throws: PushError.self) { try await client.saveCredential(short) }
    }
}
