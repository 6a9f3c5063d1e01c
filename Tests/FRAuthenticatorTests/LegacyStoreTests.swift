import FRAuthenticator
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("First start of an authenticator app that used the ForgeRock SDK")
struct LegacyStoreTests {
    private static func settings(_ directory: VaultDirectory) -> LegacySettings {
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.vault = directory
        return settings
    }

    @Test("The first start takes over all accounts, with their locks and counters, and a removed one does not come back")
    func takesOverAccountsOnce() async throws {
        try await TemporaryDirectory.with { directory in
            let location = VaultDirectory(path: directory.file("vault"))
            _ = try location.createVault(.keyFile)
            try FRAProcess.$current.withValue(FRAProcess(Self.settings(location))) {
                try FRAClient.setLegacyStore(LegacyArchive.fixture())
                FRAClient.start()
                let client = try #require(FRAClient.shared)
                let names = Set(client.getAllAccounts().map(\.accountName))
                #expect(names == ["mira", "joe", "ada"])
                let bank = try #require(client.getAccount(identifier: "Harbor Bank-mira"))
                #expect(bank.mechanisms.count == 2 && bank.displayAccountName == "mira p.")
                #expect(client.getAccount(identifier: "Old Bank-joe")?.lock == true)
                let isRemoved = client.removeAccount(account: bank)
                #expect(isRemoved)
                #expect(throws: FRAError.invalidStateForChangingStorage) { try FRAClient.setLegacyStore(nil) }
            }
            try FRAProcess.$current.withValue(FRAProcess(Self.settings(location))) {
                try FRAClient.setLegacyStore(LegacyArchive.fixture())
                FRAClient.start()
                let count = FRAClient.shared?.getAllAccounts().count
                #expect(count == 2)
            }
        }
    }

    @Test("A vault directory that cannot be read ends the start with its error, and the next start tries again")
    func reportsUnreadableDirectory() async throws {
        struct Locked: LegacyStore {
            func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem] {
                throw StoreError(.keyUnavailable, "read another SDK's items", "the device is locked")
            }
        }
        try await TemporaryDirectory.with { directory in
            let location = VaultDirectory(path: directory.file("vault"))
            _ = try location.createVault(.keyFile)
            try FRAProcess.$current.withValue(FRAProcess(Self.settings(location))) {
                try FRAClient.setLegacyStore(Locked())
                FRAClient.start()
                #expect(FRAClient.shared == nil)
                #expect((FRAClient.lastStorageError as? StoreError)?.code == .keyUnavailable)
                try FRAClient.setLegacyStore(LegacyArchive.fixture())
                FRAClient.start()
                let count = FRAClient.shared?.getAllAccounts().count
                #expect(count == 3)
            }
        }
    }
}
