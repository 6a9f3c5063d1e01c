import Logging
import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Opens the state of a server on first use. If that fails, the next use tries again.
final class StateStore: Sendable {
    /// The parts of an open state.
    struct Opened: Sendable {
        let engine: TransactionQueue
        let constants: PushStreamConstants
    }

    /// The parts of the configuration that are needed to open the state.
    struct Plan: Sendable {
        let state: ServerState
        let users: [User]
        let generatesPasswords: Bool
        let clients: ClientRegistry
        let trees: [String: JourneyTree]
        let clock: AdjustableClock
        let broken: BrokenRows
        let logger: Logger
    }

    private enum Phase: Sendable {
        case closed(Plan)
        case opening(Plan, Task<Opened, any Error>)
        case open(Plan, Opened)
    }

    private let phase: Mutex<Phase>
    private let listener = Mutex<@Sendable (String?) -> Void>({ _ in })

    init(_ plan: Plan) {
        guard case .memory = plan.state.place else {
            phase = Mutex(.closed(plan))
            return
        }
        let capacities = Dictionary(uniqueKeysWithValues: RowKind.allCases.map { ($0.rawValue, $0.capacity) })
        let key = plan.state.key ?? Secret.random(byteCount: 32)
        phase = Mutex(.open(plan, Self.opened(MemoryRows(capacities: capacities), key, plan)))
    }

    /// Sets the function that receives the messages of other servers with the same state after the state is opened. It receives
    /// nil when messages may have been lost.
    func hear(_ receive: @escaping @Sendable (String?) -> Void) {
        listener.withLock { $0 = receive }
    }

    /// Writes the pending changes of the clock in the background. If the state is not open, they are written when it is opened.
    func writeClock() {
        let now = phase.withLock { if case .open(let plan, let opened) = $0 { (plan, opened) } else { nil as (Plan, Opened)? } }
        guard let (plan, opened) = now else { return }
        plan.clock.takeChanges { change in
            opened.engine.keep(change) { result in
                guard case .failure(let error) = result else { return }
                plan.logger.error("the clock's change could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Opens the state if it is not open, and returns it.
    /// - Throws: `StoreError`.
    func open() async throws -> Opened {
        let now = phase.withLock { if case .open(_, let opened) = $0 { opened } else { nil as Opened? } }
        if let now { return now }
        let opening = phase.withLock { phase -> Task<Opened, any Error> in
            switch phase {
            case .open(_, let opened): return Task { opened }
            case .opening(_, let task): return task
            case .closed(let plan):
                let receive = listener.withLock { $0 }
                let task = Task { try await Self.open(plan, receive) }
                phase = .opening(plan, task)
                return task
            }
        }
        do {
            let opened = try await opening.value
            phase.withLock { phase in
                if case .opening(let plan, opening) = phase { phase = .open(plan, opened) }
            }
            writeClock()
            return opened
        } catch {
            phase.withLock { phase in
                if case .opening(let plan, opening) = phase { phase = .closed(plan) }
            }
            throw error
        }
    }

    /// Closes the state. It is opened again on the next use. A state in memory is not closed.
    func close() async {
        let engine = phase.withLock { phase -> TransactionQueue? in
            guard case .open(let plan, let opened) = phase, plan.state.place != .memory else { return nil }
            phase = .closed(plan)
            return opened.engine
        }
        guard let engine else { return }
        try? await Blocking.run { () throws(StoreError) in engine.close() }
    }

    private static func opened(_ store: any RowStore, _ key: Secret, _ plan: Plan) -> Opened {
        Opened(
            engine: TransactionQueue(
                store, RowCoder(Sealing.derive("signet server rows", from: key)), clock: plan.clock, broken: plan.broken),
            constants: PushStreamConstants(
                users: plan.users, generatesPasswords: plan.generatesPasswords, clients: plan.clients, trees: plan.trees, key: key
            ))
    }

    private static func open(_ plan: Plan, _ receive: @escaping @Sendable (String?) -> Void) async throws -> Opened {
        let (store, key) = try await Blocking.run { () throws(StoreError) in try StateLocation.open(plan.state) }
        let opened = opened(store, key, plan)
        do throws(StoreError) {
            try await opened.engine.checkKey()
            try await opened.engine.readClock()
        } catch {
            opened.engine.close()
            throw error
        }
        let clocks = ClockReader(opened.engine, plan.logger)
        store.listen { signal in
            if signal == nil || signal == ClusterMessage.clock.text { clocks.read() }
            receive(signal)
        }
        return opened
    }
}

/// Reads the clock again after another server has set it. It retries after errors, because the notification is sent only once.
final class ClockReader: Sendable {
    /// The pauses between failed attempts. Each is twice as long as the one before, up to the longest.
    private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(30))

    /// Returns the transaction queue; nil after the state was closed and the queue was released.
    private let engine: @Sendable () -> TransactionQueue?
    private let logger: Logger
    /// The number of the latest call of ``read()``. The attempts of earlier calls end.
    private let newest = Mutex(0)

    init(_ engine: TransactionQueue, _ logger: Logger) {
        self.engine = { [weak engine] in engine }
        self.logger = logger
    }

    /// Reads the clock in the background, and retries until it succeeds. It does not retry when the row itself cannot be read;
    /// the server that overwrites such a row sends a new notification.
    func read() {
        let number = newest.withLock { newest in
            newest += 1
            return newest
        }
        Task { await attempt(number) }
    }

    private func attempt(_ number: Int) async {
        var pause = Self.pauses.first
        while newest.withLock({ $0 }) == number, let engine = engine() {
            do throws(StoreError) {
                return try await engine.readClock()
            } catch {
                logger.error("the clock that another server has set could not be read", metadata: ["error": "\(error)"])
                guard !error.isOfOneRow else { return }
            }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, Self.pauses.longest)
        }
    }
}

/// Opens the location of the state.
enum StateLocation {
    /// The length of a server's key, in bytes.
    static let keyLength = 32

    static func open(_ state: ServerState) throws(StoreError) -> (any RowStore, Secret) {
        if let key = state.key, key.count != keyLength {
            throw StoreError(.invalid, "open the state", "the key has \(key.count) bytes; it must have \(keyLength)")
        }
        switch state.place {
        case .memory: return (MemoryRows(), state.key ?? Secret.random(byteCount: keyLength))
        case .file(let path):
            let isNew = !PrivateFile.exists(path) || PrivateFile.isEmpty(path)
            let key: Secret
            if let given = state.key { key = given } else { key = try keyFile("\(path).key", creating: isNew) }
            return (try SQLiteRows(path: path), key)
        case .postgreSQL(let connection):
            guard let key = state.key else {
                throw StoreError(
                    .keyUnavailable, "open the state", "several servers share a database: give them all the same key")
            }
            return (try SharedRows.open(connection: connection.text), key)
        }
    }

    /// Returns the key beside a database. The key file is only created together with the database. If it is lost later, it is not
    /// created again, so that the sealed rows remain readable if the file is found.
    private static func keyFile(_ path: String, creating: Bool) throws(StoreError) -> Secret {
        if creating, !PrivateFile.exists(path) {
            _ = try PrivateFile.createDirectory(PrivateFile.directory(of: path))
            let key = Secret.random(byteCount: keyLength)
            try PrivateFile.create(path, containing: key.bytes)
            return key
        }
        guard PrivateFile.exists(path) else {
            throw StoreError(
                .keyUnavailable, "open the state",
                "there is no \(path), which holds the key of the state beside it; bring it back, or begin with another file")
        }
        let bytes = try PrivateFile.contents(of: path, limit: 4096)
        guard bytes.count == keyLength else {
            throw StoreError(.corrupt, "read \(path)", "it holds \(bytes.count) bytes and not the \(keyLength) of a key")
        }
        return Secret(bytes)
    }
}

extension TransactionQueue {
    static let check = RowKey(.server, "key")
    private static let clockRow = RowKey(.server, "clock")

    /// Makes sure that the state was sealed with this key, before anything is written with it.
    func checkKey() async throws(StoreError) {
        try await run { transaction in
            if (transaction.value(Self.check, at: .distantPast) as (value: String, expiresAt: Int64)?) == nil {
                transaction.put("signet", Self.check)
            }
            return ((), [])
        }
    }

    /// Sets the clock to the stored setting, which this server or another one wrote.
    func readClock() async throws(StoreError) {
        let result = await withCheckedContinuation { continuation in
            submit { transaction in
                (Self.clockSetting(transaction), [])
            } done: { [clock] result in
                if case .success(let setting) = result { clock.adopt(setting) }
                continuation.resume(returning: result)
            }
        }
        _ = try result.get()
    }

    /// Stores a change of the clock. If it cannot be written, it is reverted.
    func keep(_ change: AdjustableClock.Change, done: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
        submit { transaction in
            let setting = change.applied(to: Self.clockSetting(transaction))
            transaction.put(setting, Self.clockRow)
            return (setting, [ClusterMessage.clock.text])
        } done: { [clock] result in
            clock.settle(change, as: try? result.get())
            done(result.map { _ in })
        }
    }

    private static func clockSetting(_ transaction: RowCache) -> AdjustableClock.Setting {
        (transaction.value(clockRow, at: .distantPast) as (value: AdjustableClock.Setting, expiresAt: Int64)?)?.value
            ?? AdjustableClock.Setting()
    }
}
