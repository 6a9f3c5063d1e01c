import Dispatch
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Accounts in a remote store", .timeLimit(.minutes(2)))
struct RemoteStoreTests {
    @Test("64 store calls can wait for one another without blocking the threads of the app's tasks")
    func waitingBlocksNoThreads() async throws {
        let count = 64
        let store = RemoteAccountRecords(AccountRecords(unsealed: BarrierStore(callers: count)))
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    number % 2 == 0
                        ? try await store.read { (records: any AccountReader) throws(StoreError) in try records.accounts().count }
                        : try await store.write { (records: any AccountWriter) throws(StoreError) in try records.accounts().count
                        }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(found == 0)
    }

    @Test("A call fails with the store's error and changes nothing")
    func remoteStoreErrorChangesNothing() async throws {
        let inner = FaultyStore(MemoryStore())
        let store = RemoteAccountRecords(AccountRecords(unsealed: inner))
        let authenticator = authenticator(over: store)
        inner.inject(StoreFault(.outcomeUnknown, at: .commit))
        await #expect { try await authenticator.enroll(uri: Sample.totp) } throws: {
            ($0 as? StoreError)?.code == .outcomeUnknown
        }
        inner.reset()
        #expect(try await authenticator.accounts().isEmpty)
    }

    #if PostgreSQL
    @Test(
        "A vault in PostgreSQL gives each counter once to 100 concurrent callers",
        .enabled(if: PostgresServer.isPossible, "there is no PostgreSQL server to start (scripts/setup)"))
    func postgresGivesEachCounterOnce() async throws {
        try await PostgresServer.with { server in
            try await TemporaryDirectory.with { directory in
                let store = try PostgresStore(connection: server.connection, creating: true, timeout: 30)
                let vault = try Vault.create(in: store, protector: KeyFile.create(path: directory.file("key")))
                let authenticator = authenticator(over: RemoteAccountRecords(AccountRecords(vault)))
                let uid = try await authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid
                let counters = try await withThrowingTaskGroup(of: OneTimeCode.Basis.self) { group in
                    for _ in 0..<100 { group.addTask { try await authenticator.code(for: uid).basis } }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                let expected = Set((7..<107).map { OneTimeCode.Basis.counter($0) })
                #expect(counters == expected)
            }
        }
    }
    #endif

    private func authenticator(over store: any AccountStore) -> Authenticator {
        Authenticator(
            store: store, transport: AuthenticatorFixture().transport,
            device: PushDevice(token: "token-1", name: "Mira's laptop"),
            clock: ManualClock(Sample.start))
    }
}

/// A store in which every call waits until `callers` calls are waiting.
private final class BarrierStore: RecordStore {
    private let inner = MemoryStore()
    private let callers: Int
    private let waiting = Mutex(0)
    private let semaphore = DispatchSemaphore(value: 0)

    init(callers: Int) { self.callers = callers }

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        waitForCallers()
        return try inner.read(body)
    }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        waitForCallers()
        return try inner.write(body)
    }

    private func waitForCallers() {
        let isLast = waiting.withLock { waiting in
            waiting += 1
            return waiting == callers
        }
        guard isLast else { return semaphore.wait() }
        for _ in 1..<callers { semaphore.signal() }
    }
}
