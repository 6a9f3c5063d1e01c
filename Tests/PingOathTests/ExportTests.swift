// Only PingOath: the test compiles only if one import is enough.
import PingOath
import Testing

/// An app's place for everything that a client keeps.
private actor AppItem: Storage {
    private var item: StoredAccounts?

    func save(item: StoredAccounts) async throws { self.item = item }
    func get() async throws -> StoredAccounts? { item }
    func delete() async throws { item = nil }
}

@Suite("An app that imports PingOath only")
struct ExportTests {
    @Test("A view shows the text of an error and the progress of a code")
    func showsTextsWithPingOathOnly() {
        let error: any Error = OathError.credentialNotFound("c-7")
        #expect(error.localizedDescription.contains("c-7"))
        #expect(OathCodeInfo.forTotp(code: "123456", timeRemaining: 15, totalPeriod: 30).progress == 0.5)
    }

    @Test("An app reads an enrollment URI and writes one")
    func readsAndWritesURI() async throws {
        let read = try await OathCredential.fromUri("otpauth://totp/Harbor:mira?secret=JBSWY3DPEHPK3PXP&b=FF0000")
        #expect((read.issuer, read.accountName, read.backgroundColor) == ("Harbor", "mira", "#FF0000"))
        let made = OathCredential(issuer: "Harbor", accountName: "mira", oathType: .totp, secretKey: "JBSWY3DPEHPK3PXP")
        let again = try await OathCredential.fromUri(try await made.toUri())
        #expect((again.issuer, again.accountName, again.digits, again.period) == ("Harbor", "mira", 6, 30))
    }

    @Test("A client over the app's own storage keeps a credential, and a timeout of zero is the default")
    func keepsOathCredentialInStorageOfApp() async throws {
        let item = AppItem()
        let client = try await OathClient.createClient {
            $0.timeoutMs = 0
            $0.storage = item
        }
        let made = OathCredential(issuer: "Harbor", accountName: "mira", oathType: .totp, secretKey: "JBSWY3DPEHPK3PXP")
        let credential = try await client.saveCredential(made)
        #expect(try await client.generateCode(credential.id).count == 6)
        #expect(try await item.get() != nil)
    }
}
