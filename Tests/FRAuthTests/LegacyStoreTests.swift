import FRAuth
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

import struct SignetCore.AccessToken

@Suite("First start of an app that used the ForgeRock SDK")
struct LegacyStoreTests {
    private static func archive() throws -> LegacyArchive {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try LegacyArchive(try Data(contentsOf: tests.appending(path: "SignetTransferTests/Fixtures/keychain.plist")))
    }

    private static let application = "com.example.app"

    /// Starts the SDK in a process of its own and waits until that is complete.
    private static func start(_ keychain: VaultProvider, _ lockFile: String, url: String = "https://am.example.test/am")
        async throws
    {
        try await FRAuthProcess.$current.withValue(process(keychain, lockFile)) {
            try FRAuth.setLegacyStore(Self.archive())
            try FRAuth.start(options: FROptions(url: url, realm: "alpha"))
            await FRAuth.shared?.ready()
        }
    }

    private static func process(_ keychain: VaultProvider, _ lockFile: String) -> FRAuthProcess {
        FRAuthProcess(
            LegacyAuthSettings {
                $0.keychain = keychain
                $0.application = application
                $0.lockFile = lockFile
                $0.folders = []
                $0.transport = ScriptedTransport { _ in HTTPResponse(status: 500) }
            })
    }

    private static func token(_ keychain: VaultProvider) async throws -> AccessToken? {
        try await KeychainStorage<AccessToken>(account: "frauth/app/\(application)/tokens", in: keychain).get()
    }

    private static func session(_ keychain: VaultProvider) -> KeychainStorage<SSOToken> {
        KeychainStorage(account: "frauth/app/\(application)/session", in: keychain)
    }

    private static func keychain() -> VaultProvider {
        let store = MemoryStore()
        return VaultProvider { () throws(StoreError) in store }
    }

    @Test("The first start takes over the session and the tokens, and the next one does not bring them back")
    func takesOverSessionOnce() async throws {
        let keychain = Self.keychain()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            try await Self.start(keychain, directory.file("lock"))
            #expect(try await Self.token(keychain)?.value == Secret(text: "forgerock-access"))
            let session = try await Self.session(keychain).get()
            #expect(session?.value == Secret(text: "forgerock-session"))

            try await Self.session(keychain).delete()
            try await Self.start(keychain, directory.file("lock"))
            let removed = try await Self.session(keychain).get()
            #expect(removed == nil)
        }
    }

    @Test("When a save of the first start fails, the next start takes over what is missing", arguments: 1...5)
    func continuesAfterFailedSave(number: Int) async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = VaultProvider { () throws(StoreError) in store }
        try await TemporaryDirectory.with(inMemory: true) { directory in
            store.inject(StoreFault(.full, at: .put, .call(number)))
            try await Self.start(keychain, directory.file("lock"))
            store.reset()
            for _ in 0..<2 {
                try await Self.start(keychain, directory.file("lock"))
                #expect(try await Self.token(keychain)?.value == Secret(text: "forgerock-access"))
                let session = try await Self.session(keychain).get()
                #expect(session?.value == Secret(text: "forgerock-session"))
            }
            try await Self.session(keychain).delete()
            try await Self.start(keychain, directory.file("lock"))
            let removed = try await Self.session(keychain).get()
            #expect(removed == nil)
        }
    }

    @Test("After a failed save of a token the SDK can be used, and after a logout nothing is taken over")
    func takesOverNothingAfterLogout() async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = VaultProvider { () throws(StoreError) in store }
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let path = directory.file("lock")
            try await FRAuthProcess.$current.withValue(Self.process(keychain, path)) {
                try FRAuth.setLegacyStore(Self.archive())
                // The settings are saved, and nothing else.
                store.inject(StoreFault(.full, at: .put, .when { $0.number > 1 }))
                try FRAuth.start(options: FROptions(url: "https://am.example.test/am", realm: "alpha"))
                await FRAuth.shared?.ready()
                #expect(FRAuth.shared?.lastStorageError?.code == .full)
                store.reset()
                let report = try #require(await FRAuth.shared?.logout())
                #expect(report.local == .done)
            }
            try await Self.start(keychain, path)
            let session = try await Self.session(keychain).get()
            #expect(session == nil)
            #expect(try await Self.token(keychain) == nil)
        }
    }

    /// A store during whose first read the SDK is started with the settings of another server.
    private final class RestartingStore: LegacyStore {
        private let archive: LegacyArchive
        private unowned let process: FRAuthProcess
        private let hasRestarted = Latch()

        init(_ archive: LegacyArchive, _ process: FRAuthProcess) { (self.archive, self.process) = (archive, process) }

        func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem] {
            if !hasRestarted.isSet {
                hasRestarted.set()
                FRAuthProcess.$current.withValue(process) {
                    try? FRAuth.start(options: FROptions(url: "https://other.example.test/am", realm: "alpha"))
                }
            }
            return archive.items(of: service, sealedBy: key)
        }
    }

    @Test("A first start that a start for another server replaces stores nothing of what it takes over")
    func storesNothingAfterRestart() async throws {
        let keychain = Self.keychain()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let process = Self.process(keychain, directory.file("lock"))
            try await FRAuthProcess.$current.withValue(process) {
                try FRAuth.setLegacyStore(RestartingStore(try Self.archive(), process))
                try FRAuth.start(options: FROptions(url: "https://am.example.test/am", realm: "alpha"))
                // The first start is complete, and then the second one, which began meanwhile.
                for _ in 0..<2 { await FRAuth.shared?.ready() }
                #expect(FRAuth.shared?.options?.url == "https://other.example.test/am")
                // The second start had no session to end.
                #expect(await FRAuth.shared?.formerSession() == nil)
                #expect(FRAuth.shared?.lastStorageError == nil)
            }
            let session = try await Self.session(keychain).get()
            #expect(session == nil)
            #expect(try await Self.token(keychain) == nil)
        }
    }

    @Test("A first start for another server takes over nothing")
    func ignoresOtherServer() async throws {
        let keychain = Self.keychain()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            try await Self.start(keychain, directory.file("lock"), url: "https://other.example.test/am")
            let session = try await Self.session(keychain).get()
            #expect(session == nil)
            #expect(try await Self.token(keychain) == nil)
        }
    }
}
