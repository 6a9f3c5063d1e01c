import Logging
import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state of a server as it is opened: when it is first asked for, once, and again if that failed.
final class StateStore: Sendable {
    /// What is there once the state is open.
    struct Opened: Sendable {
        let engine: TransactionQueue
        let constants: PushStreamConstants
    }

    /// What of the configuration is needed then.
    struct Plan: Sendable {
        let state: ServerState
        let users: [User]
        let makesUpPasswords: Bool
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
        let capacities = Dictionary(uniqueKeysWithValues: TableKind.all.map { ($0.name, $0.capacity) })
        let key = plan.state.key ?? Secret.random(byteCount: 32)
        phase = Mutex(.open(plan, Self.opened(MemoryRows(capacities: capacities), key, plan)))
    }

    /// Has `receive` called with what other servers of the same state say from when it is opened, and with nil when something may
    /// have been missed.
    func hear(_ receive: @escaping @Sendable (String?) -> Void) {
        listener.withLock { $0 = receive }
    }

    /// Has the changes of the clock written that nobody waits for. Those from before the state is open are, when it is.
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

    /// Opens the state unless it is open.
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

    /// Gives back what the state is kept in; it is opened again when it is asked for. What is in memory only stays.
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
                users: plan.users, makesUpPasswords: plan.makesUpPasswords, clients: plan.clients, trees: plan.trees, key: key))
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

/// Reads the clock when another server has set it: what it says is lost if nobody reads it.
final class ClockReader: Sendable {
    /// The pauses between attempts that fail: from the first, twice as long each time, to the longest.
    private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(30))

    /// Nil when the state is closed: the engine is nobody's any more then.
    private let engine: @Sendable () -> TransactionQueue?
    private let logger: Logger
    /// Which call of ``read()`` is the newest: the attempts of those before it end.
    private let newest = Mutex(0)

    init(_ engine: TransactionQueue, _ logger: Logger) {
        self.engine = { [weak engine] in engine }
        self.logger = logger
    }

    /// Reads it, again and again if that fails, until it could be read. A row that nobody can read as it is gets no better by that;
    /// who writes another one says so.
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

/// Opens what rows are kept in.
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

    /// The key beside a database. It is made together with the database, and never again: what was sealed with one that is lost stays
    /// as it is, in case it is found.
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
    /// What is the server's own.
    static let serverKind = "server"
    static let check = RowKey(kind: serverKind, name: "key")
    private static let clockRow = RowKey(kind: serverKind, name: "clock")

    /// Makes sure that the state was sealed with this key, before anything is written with it.
    func checkKey() async throws(StoreError) {
        try await run { transaction in
            if (transaction.value(Self.check, at: .distantPast) as (value: String, expiresAt: Int64)?) == nil {
                transaction.put("signet", Self.check)
            }
            return ((), [])
        }
    }

    /// Lets the clock go on where it was left, or where another server has set it.
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

    /// Makes a change of the clock durable. One that cannot be written is taken back.
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
