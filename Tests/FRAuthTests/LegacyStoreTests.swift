import FRAuth
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

import struct SignetCore.AccessToken

@Suite("First start of an app that used the ForgeRock SDK")
struct LegacyStoreTests {
    private static let application = "com.example.app"

    /// Starts the SDK in a process of its own and waits until that is complete.
    private static func start(
        _ keychain: VaultProvider, _ lockFile: String, url: String = "https://am.example.test/am", cookieName: String? = nil
    ) async throws {
        try await FRAuthProcess.$current.withValue(process(keychain, lockFile)) {
            try FRAuth.setLegacyStore(LegacyArchive.fixture())
            try FRAuth.start(options: FROptions(url: url, realm: "alpha", cookieName: cookieName))
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

    /// Expects the session and the token that the first start takes over.
    private static func expectTakenOver(_ keychain: VaultProvider) async throws {
        let (token, session) = (try await token(keychain), try await session(keychain).get())
        #expect(token?.value == Secret(text: "forgerock-access"))
        #expect(session?.value == Secret(text: "forgerock-session"))
    }

    /// Removes the session, and expects that the next start does not bring it back.
    private static func expectRemoval(_ keychain: VaultProvider, _ lockFile: String) async throws {
        try await session(keychain).delete()
        try await start(keychain, lockFile)
        let removed = try await session(keychain).get()
        #expect(removed == nil)
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
            try await Self.expectTakenOver(keychain)

            try await Self.expectRemoval(keychain, directory.file("lock"))
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
                try await Self.expectTakenOver(keychain)
            }
            try await Self.expectRemoval(keychain, directory.file("lock"))
        }
    }

    /// Runs `body` after a first start at a storage that is full after some saves.
    ///
    /// After one save, only the settings are stored; after four, everything is, except that the takeover is complete.
    private static func withFullStorage(
        after number: Int, _ body: (FRAuth, FaultyStore, VaultProvider, String) async throws -> Void
    ) async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = VaultProvider { () throws(StoreError) in store }
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let path = directory.file("lock")
            try await FRAuthProcess.$current.withValue(process(keychain, path)) {
                try FRAuth.setLegacyStore(LegacyArchive.fixture())
                store.inject(StoreFault(.full, at: .put, .when { $0.number > number }))
                try FRAuth.start(options: FROptions(url: "https://am.example.test/am", realm: "alpha"))
                let started = try #require(FRAuth.shared)
                await started.ready()
                #expect(started.lastStorageError?.code == .full)
                try await body(started, store, keychain, path)
            }
        }
    }

    /// Returns true when neither a session nor a token is stored.
    private static func isEmpty(_ keychain: VaultProvider) async throws -> Bool {
        let session = try await Self.session(keychain).get()
        let token = try await Self.token(keychain)
        return session == nil && token == nil
    }

    @Test("A logout at a full storage reports a failure, and after one that succeeds nothing is taken over", arguments: 1...4)
    func takesOverNothingAfterLogout(number: Int) async throws {
        try await Self.withFullStorage(after: number) { started, store, keychain, path in
            #expect(await started.logout().local.isOver == false)
            #expect(try await Self.isEmpty(keychain))
            store.reset()
            #expect(await started.logout().local == .done)
            try await Self.start(keychain, path)
            #expect(try await Self.isEmpty(keychain))
        }
    }

    @Test("A token that a logout removed is not taken over again, although the logout could not remove the session")
    func bringsNoTokenBackAfterIncompleteLogout() async throws {
        try await Self.withFullStorage(after: 4) { started, store, keychain, path in
            store.reset()
            store.inject(StoreFault(.failed, at: .remove, .when { $0.number > 1 }))
            #expect(await started.logout().local.isOver == false)
            store.reset()
            #expect(try await Self.token(keychain) == nil)
            try await Self.start(keychain, path)
            #expect(try await Self.token(keychain) == nil)
        }
    }

    @Test("A start with other settings takes over nothing that a start with the first settings left", arguments: 1...4)
    func takesOverNothingForOtherSettings(number: Int) async throws {
        try await Self.withFullStorage(after: number) { _, store, keychain, path in
            store.reset()
            for cookieName in ["other", "other", nil] {
                try await Self.start(keychain, path, cookieName: cookieName)
                #expect(try await Self.isEmpty(keychain))
            }
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
                try FRAuth.setLegacyStore(RestartingStore(try LegacyArchive.fixture(), process))
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
