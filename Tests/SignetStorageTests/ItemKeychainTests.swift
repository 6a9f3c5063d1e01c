import SignetCore
import SignetStorage
import SignetTesting
import Synchronization
import Testing

@Suite("A keychain")
struct ItemKeychainTests {
    /// An opener that counts, and fails as often as it is told.
    private final class Door: Sendable {
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

    private func keychain(_ door: Door) -> VaultProvider {
        VaultProvider { () throws(StoreError) in try door.open() }
    }

    @Test("is opened when it is first needed, not before")
    func lazy() async throws {
        let door = Door()
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain(door))
        #expect(door.openings == 0)
        _ = try await storage.get()
        #expect(door.openings == 1)
    }

    @Test("is opened once for 100 callers at the same time, whatever they are")
    func once() async throws {
        let door = Door()
        let keychain = keychain(door)
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
        #expect(door.openings == 1)
    }

    @Test("forgets a failure to open, and remembers a success")
    func failureThenSuccess() async throws {
        let door = Door(failures: 2)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain(door))
        for _ in 0..<2 {
            await #expect { try await storage.get() } throws: { ($0 as? StoreError)?.code == .keyUnavailable }
        }
        try await storage.save(item: Pet(name: "Lucky"))
        let read = try await storage.get()
        #expect(read == Pet(name: "Lucky"))
        #expect(door.openings == 3)
    }

    @Test("that cannot be opened is an error to each of 100 callers, never an absence")
    func failureForAll() async {
        let door = Door(failures: .max)
        let keychain = keychain(door)
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

    @Test("goes on opening for the others when one who waits is cancelled")
    func cancelledCaller() async throws {
        let door = Door()
        let keychain = keychain(door)
        let callers = (0..<20).map { _ in Task { try await KeychainStorage<Pet>(account: "pet", in: keychain).get() } }
        callers[0].cancel()
        for caller in callers {
            let read = try await caller.value
            #expect(read == nil)
        }
        #expect(door.openings == 1)
    }

    @Test("without a vault says so, makes none, and takes the one that the app makes")
    func creation() async throws {
        try await TemporaryDirectory.with { temporary in
            let place = VaultDirectory(path: temporary.file("vault"))
            let keychain = VaultProvider { () throws(StoreError) in try place.openVault() }
            let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
            await #expect { try await storage.get() } throws: { ($0 as? StoreError)?.code == .noVault }
            await #expect { try await storage.save(item: Pet(name: "Lucky")) } throws: { ($0 as? StoreError)?.code == .noVault }
            #expect(!place.holdsVault)

            try await keychain.open { () throws(StoreError) in try place.createVault(.keyFile) }
            try await storage.save(item: Pet(name: "Lucky"))
            let another = VaultProvider { () throws(StoreError) in try place.openVault() }
            let read = try await KeychainStorage<Pet>(account: "pet", in: another).get()
            #expect(read == Pet(name: "Lucky"))
        }
    }

    @Test("that is open is not opened in another way, and goes on as it was")
    func openTwice() async throws {
        let (door, other) = (Door(), Door())
        let keychain = keychain(door)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        try await storage.save(item: Pet(name: "Lucky"))
        await #expect { try await keychain.open { () throws(StoreError) in try other.open() } } throws: {
            ($0 as? StoreError)?.code == .exists
        }
        #expect(other.openings == 0)
        let read = try await storage.get()
        #expect(read == Pet(name: "Lucky"))
    }

    @Test("is opened in another way after an attempt that failed, even one that is still going on")
    func openAfterFailure() async throws {
        let (locked, other) = (Door(failures: .max), Door())
        let keychain = keychain(locked)
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        async let early = try? await storage.get()
        try await keychain.open { () throws(StoreError) in try other.open() }
        _ = await early
        try await storage.save(item: Pet(name: "Lucky"))
        #expect(other.openings == 1)
    }

    @Test("that the app fails to open stays closed, and opens later in its own way")
    func failedOpen() async throws {
        let door = Door()
        let keychain = keychain(door)
        let failing = Door(failures: 1)
        await #expect { try await keychain.open { () throws(StoreError) in try failing.open() } } throws: {
            ($0 as? StoreError)?.code == .keyUnavailable
        }
        let absent = try await KeychainStorage<Pet>(account: "pet", in: keychain).get()
        #expect(absent == nil)
        #expect(door.openings == 1)
    }

    @Test("of the user is named with the way on where there is no vault")
    func standardWithoutVault() async throws {
        try await TemporaryDirectory.with { temporary in
            let place = VaultDirectory(path: temporary.file("nowhere"))
            #expect {
                _ = try StandardStore.open(in: place)
            } throws: { error in
                (error as? StoreError)?.code == .noVault && "\(error)".contains("signet init")
                    && "\(error)".contains(place.path)
            }
            #expect(!place.holdsVault)
            let made = try place.createVault(.keyFile)
            try made.put([1], RecordKey(.item, "x"))
            #expect(try StandardStore.open(in: place).get(RecordKey(.item, "x")) == [1])
        }
    }
}
