import Dispatch
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import Synchronization
import TestSupport
import Testing

@Suite("Accounts in a store that lets its caller wait", .timeLimit(.minutes(2)))
struct RemoteStoreTests {
    @Test("take no thread from the app's tasks: 64 calls can wait for one another")
    func waiting() async throws {
        let count = 64
        let store = RemoteAccountRecords(AccountRecords(unsealed: MeetingStore(callers: count)))
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

    @Test("fail as the store fails, and change nothing then")
    func failure() async throws {
        let inner = FaultyStore(MemoryStore())
        let store = RemoteAccountRecords(AccountRecords(unsealed: inner))
        let authenticator = authenticator(over: store)
        inner.inject(StoreFault(.outcomeUnknown, at: .commit))
        await #expect { try await authenticator.enroll(uri: Sample.totp) } throws: {
            ($0 as? StoreError)?.code == .outcomeUnknown
        }
        inner.heal()
        #expect(try await authenticator.accounts().isEmpty)
    }

    #if PostgreSQL
    @Test(
        "of a vault in PostgreSQL give a counter to 100 callers, each once",
        .enabled(if: PostgresServer.isPossible, "there is no PostgreSQL server to start (scripts/setup)"))
    func inPostgreSQL() async throws {
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
            store: store, transport: Bench().transport, device: PushDevice(token: "token-1", name: "Mira's laptop"),
            clock: ManualClock(Sample.start))
    }
}

/// A store in which every call waits until so many are there.
private final class MeetingStore: RecordStore {
    private let inner = MemoryStore()
    private let callers: Int
    private let present = Mutex(0)
    private let door = DispatchSemaphore(value: 0)

    init(callers: Int) { self.callers = callers }

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        meet()
        return try inner.read(body)
    }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        meet()
        return try inner.write(body)
    }

    private func meet() {
        let isLast = present.withLock { present in
            present += 1
            return present == callers
        }
        guard isLast else { return door.wait() }
        for _ in 1..<callers { door.signal() }
    }
}
