import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("A keychain")
struct ItemKeychainTests {
    /// An opener that counts its calls, and fails a given number of times.
    private final class CountingOpener: Sendable {
        private let state = Mutex((openings: 0, failures: 0))
        private let store = MemoryStore()

        init(failures: Int = 0) {
            state.withLock { $0.failures = failures }
        }

        var openings: Int { state.withLock { $0.openings } }

        func open() throws(StoreError) -> any RecordStore {
            let isFailing = state.withLock { state in
                state.openings += 1
                return state.openings <= state.failures
            }
            if isFailing { throw StoreError(.keyUnavailable, "open vault", "the keyring is locked") }
            return store
        }
    }

    private func keychain(_ opener: CountingOpener) -> VaultProvider {
        VaultProvider { () throws(StoreError) in try opener.open() }
    }

    @Test("A keychain reads a local store on the caller's thread, and another store on a thread of its own")
    func readsLocalStoreOnCallersThread() async throws {
        let vault = try await TemporaryDirectory.with { directory in
            try Vault.create(in: MemoryStore(), protector: KeyFile.create(path: directory.file("key")))
        }
        for (store, isLocal) in [(MemoryStore(), true), (vault, true), (FaultyStore(MemoryStore()), false)]
            as [(any RecordStore, Bool)]
        {
            let keychain = VaultProvider { () throws(StoreError) in store }
            _ = try await keychain.store()
            let ours = pthread_self()
            let reading = try await keychain.read { (_: any RecordReader) throws(StoreError) in pthread_self() }
            #expect((reading == ours) == isLocal)
        }
    }

    @Test("The default keychain reads on the caller's thread once its vault is open, and not before")
    func readsDefaultVaultOnCallersThread() async throws {
        try await TemporaryDirectory.with { directory in
            let location = VaultDirectory(path: directory.file("home"))
            let store = try FirstUseStore(location, environment: [:], protectors: [])
            let keychain = VaultProvider { () throws(StoreError) in store }
            _ = try await keychain.store()
            #expect(!store.readsQuickly)
            try await KeychainStorage<String>(account: "pet", in: keychain).save(item: "Lucky")
            #expect(store.readsQuickly)
            let ours = pthread_self()
            let reading = try await keychain.read { (_: any RecordReader) throws(StoreError) in pthread_self() }
            #expect(reading == ours)
            let another = try FirstUseStore(location, environment: [:], protectors: [])
            #expect(!another.readsQuickly)
            _ = try another.opened()
            #expect(another.readsQuickly)
        }
    }

    @Test("While a call of the keychain writes, reads do not block the threads of the app's tasks")
    func readsBesideWriteBlockNoThreads() async throws {
        let keychain = VaultProvider { () throws(StoreError) in MemoryStore() }
        let (isWriting, mayEnd) = (Toggle(), DispatchSemaphore(value: 0))
        let write = Task {
            try await keychain.write { (_: any RecordWriter) throws(StoreError) in
                isWriting.turnOn()
                mayEnd.wait()
            }
        }
        let isInWrite = try await eventually { isWriting.isOn }
        #expect(isInWrite)
        // More readers than the system has threads for tasks: all of them begin only if the first ones wait elsewhere.
        let (count, begun) = (64, Counter())
        let readers = (0..<count).map { _ in
            Task { () async throws -> [UInt8]? in
                begun.add()
                return try await keychain.read { (records: any RecordReader) throws(StoreError) in
                    try records.record(RecordKey(.item, "x"))
                }
            }
        }
        let haveAllBegun = try await eventually { begun.count == count }
        #expect(haveAllBegun)
        mayEnd.signal()
        try await write.value
        for reader in readers { #expect(try await reader.value == nil) }
    }

    @Test("A keychain opens at its first use, not before")
    func opensKeychainLazily() async throws {
        let opener = CountingOpener()
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain(opener))
        #expect(opener.openings == 0)
        _ = try await storage.get()
        #expect(opener.openings == 1)
    }

    @Test("A keychain opens once for 100 concurrent callers of any operation")
    func opensKeychainOnce() async throws {
        let opener = CountingOpener()
        let keychain = keychain(opener)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<100 {
                group.addTask {
                    let storage = KeychainStorage<Pet>(
                        account: "pet \(caller % 7)", cacheable: caller.isMultiple(of: 2), in: keychain)
                    switch caller % 3 {
                    case 0: try await storage.save(item: Pet(name: "\(caller)"))
                    case 1: _ = try await storage.get()
                    default: try await storage.delete()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(opener.openings == 1)
    }

    @Test("A keychain retries after a failed opening, and stays open after a successful one")
    func retriesFailedOpening() async throws {
        let opener = CountingOpener(failures: 2)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain(opener))
        for _ in 0..<2 {
            await #expect { try await storage.get() } throws: { ($0 as? StoreError)?.code == .keyUnavailable }
        }
        try await storage.save(item: Pet(name: "Lucky"))
        let read = try await storage.get()
        #expect(read == Pet(name: "Lucky"))
        #expect(opener.openings == 3)
    }

    @Test("A keychain that cannot open throws for each of 100 callers and never reports absence")
    func throwsOpeningFailureToAll() async {
        let opener = CountingOpener(failures: .max)
        let keychain = keychain(opener)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do {
                        _ = try await KeychainStorage<Pet>(account: "pet", in: keychain).get()
                        return false
                    } catch {
                        return (error as? StoreError)?.code == .keyUnavailable
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 100)
    }

    @Test("A canceled caller does not stop a keychain from opening for the other callers")
    func opensDespiteCancelledCaller() async throws {
        let opener = CountingOpener()
        let keychain = keychain(opener)
        let callers = (0..<20).map { _ in Task { try await KeychainStorage<Pet>(account: "pet", in: keychain).get() } }
        callers[0].cancel()
        for caller in callers {
            let read = try await caller.value
            #expect(read == nil)
        }
        #expect(opener.openings == 1)
    }

    @Test("A keychain without a vault throws, makes none, and opens the one that the app makes")
    func opensVaultMadeByApp() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let keychain = VaultProvider { () throws(StoreError) in try directory.openVault() }
            let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
            await #expect { try await storage.get() } throws: { ($0 as? StoreError)?.code == .noVault }
            await #expect { try await storage.save(item: Pet(name: "Lucky")) } throws: { ($0 as? StoreError)?.code == .noVault }
            #expect(!directory.holdsVault)

            try await keychain.open { () throws(StoreError) in try directory.createVault(.keyFile) }
            try await storage.save(item: Pet(name: "Lucky"))
            let another = VaultProvider { () throws(StoreError) in try directory.openVault() }
            let read = try await KeychainStorage<Pet>(account: "pet", in: another).get()
            #expect(read == Pet(name: "Lucky"))
        }
    }

    @Test("An open keychain refuses another opener and keeps working")
    func refusesSecondOpener() async throws {
        let (opener, other) = (CountingOpener(), CountingOpener())
        let keychain = keychain(opener)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        try await storage.save(item: Pet(name: "Lucky"))
        await #expect { try await keychain.open { () throws(StoreError) in try other.open() } } throws: {
            ($0 as? StoreError)?.code == .exists
        }
        #expect(other.openings == 0)
        let read = try await storage.get()
        #expect(read == Pet(name: "Lucky"))
    }

    @Test("A keychain accepts another opener after a failed attempt, even one still running")
    func acceptsOpenerAfterFailure() async throws {
        let (locked, other) = (CountingOpener(failures: .max), CountingOpener())
        let keychain = keychain(locked)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        async let early = try? await storage.get()
        try await keychain.open { () throws(StoreError) in try other.open() }
        _ = await early
        try await storage.save(item: Pet(name: "Lucky"))
        #expect(other.openings == 1)
    }

    @Test("A keychain whose opener fails stays closed, and later opens with its own opener")
    func staysClosedAfterFailedOpener() async throws {
        let opener = CountingOpener()
        let keychain = keychain(opener)
        let failing = CountingOpener(failures: 1)
        await #expect { try await keychain.open { () throws(StoreError) in try failing.open() } } throws: {
            ($0 as? StoreError)?.code == .keyUnavailable
        }
        let absent = try await KeychainStorage<Pet>(account: "pet", in: keychain).get()
        #expect(absent == nil)
        #expect(opener.openings == 1)
    }

    @Test("A keychain that found no vault accepts the opener of the app, and refuses it once something was stored")
    func acceptsOpenerWithoutVault() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let keychain = VaultProvider(directory: directory)
            let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
            let absent = try await storage.get()
            #expect(absent == nil && !directory.holdsVault)
            try await keychain.open { () throws(StoreError) in try directory.createVault(.keyFile) }
            try await storage.save(item: Pet(name: "Lucky"))
            await #expect { try await keychain.open { () throws(StoreError) in MemoryStore() } } throws: {
                ($0 as? StoreError)?.code == .exists
            }
        }
    }
}
