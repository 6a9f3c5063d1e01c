import Foundation
import Logging
import SignetCore
import SignetStorage

/// The state of a server.
///
/// It is opened on first use; if that fails, the next use tries again.
final class StateStore: Sendable {
    /// The parts of an open state.
    final class OpenState: Sendable {
        let queue: TransactionQueue
        private let current: Mutex<TransactionConstants>

        fileprivate init(queue: TransactionQueue, constants: TransactionConstants) {
            self.queue = queue
            current = Mutex(constants)
        }

        /// The constants of the transactions that begin now.
        var constants: TransactionConstants { current.withLock { $0 } }

        fileprivate func replace(_ constants: TransactionConstants) { current.withLock { $0 = constants } }
    }

    /// The parts of the configuration that are needed to open the state.
    struct Options: Sendable {
        let state: ServerState
        var users: [User]
        let generatesPasswords: Bool
        var clients: ClientRegistry
        var trees: [String: JourneyTree]
        let clock: AdjustableClock
        let unreadableRows: UnreadableRows
        let logger: Logger

        /// Logs that rows of a full kind were removed.
        fileprivate func logDisplacement(kind: String, count: Int) {
            logger.warning(
                "the state in memory is full, and its oldest rows of a kind were removed",
                metadata: ["kind": "\(kind)", "count": "\(count)"])
        }
    }

    private struct Opening: Sendable {
        var task: Task<OpenState, any Error>?
        /// The result of the task; nil until it has succeeded.
        var result: OpenState?
    }

    private let current: Mutex<Options>
    private let time: @Sendable () -> RequestTime
    private let perform: @Sendable (SideEffect, Date) -> Void
    private let opening = Mutex(Opening())
    private let listener = Mutex<@Sendable (String?) -> Void>({ _ in })

    /// Creates a store and does not open the state.
    /// - Parameters:
    ///   - options: The location of the state and its constants.
    ///   - time: Returns the time and the settings of a transaction that begins now.
    ///   - perform: Performs a side effect of a committed transaction.
    init(
        _ options: Options, time: @escaping @Sendable () -> RequestTime,
        perform: @escaping @Sendable (SideEffect, Date) -> Void
    ) {
        current = Mutex(options)
        (self.time, self.perform) = (time, perform)
    }

    private var options: Options { current.withLock { $0 } }

    // MARK: Transactions

    /// Runs a transaction.
    ///
    /// It commits when `body` returns, and rolls back when `body` throws: then nothing has changed, and no side effect is
    /// performed. A refusal whose consequences must be kept, such as a counted wrong password, is therefore a value that `body`
    /// returns. Side effects outside the state are performed once, after the commit.
    /// - Parameter body: The transaction. It may run more than once, and only its last run counts.
    /// - Returns: The value that `body` returned.
    /// - Throws: The error that `body` throws; `StoreError` when the state cannot be read or written.
    func write<R: Sendable>(_ body: @escaping @Sendable (inout ServerTransaction) throws -> R) async throws -> R {
        let time = time()
        let open = try await open()
        let (result, effects, polled) = try await open.queue.run { rows in
            var tx = ServerTransaction(open.constants, rows, time)
            let result = try body(&tx)
            return ((result, tx.effects, tx.polled), signals: tx.effects.compactMap { $0.signal?.text })
        }
        for wait in polled { open.constants.pollWaits?.keep(wait, at: time.now) }
        for effect in effects { perform(effect, time.now) }
        return result
    }

    /// Runs a transaction that changes nothing.
    /// - Parameters:
    ///   - skipsUnreadableRows: True for an overview, in which a row that cannot be read doesn't hide the others.
    ///   - body: The transaction. It may run more than once, and only its last run counts.
    /// - Returns: The value that `body` returned.
    /// - Throws: The error that `body` throws; `StoreError` when the state cannot be read.
    func read<R: Sendable>(
        skippingUnreadableRows skipsUnreadableRows: Bool = false,
        _ body: @escaping @Sendable (ServerTransaction) throws -> R
    ) async throws -> R {
        let time = time()
        let open = try await open()
        return try await open.queue.run { rows in
            rows.skipsUnreadableRows = skipsUnreadableRows
            return (try body(ServerTransaction(open.constants, rows, time)), signals: [])
        }
    }

    /// The queue that runs the transactions.
    ///
    /// Opens the state if necessary.
    var queue: TransactionQueue {
        get async throws { try await open().queue }
    }

    // MARK: Opening

    /// Sets the function that receives the messages of other servers with the same state after the state is opened.
    ///
    /// It receives nil when messages may have been lost.
    func listen(_ receive: @escaping @Sendable (String?) -> Void) {
        listener.withLock { $0 = receive }
    }

    /// Writes the pending changes of the clock in the background.
    ///
    /// If the state is not open, they are written when it is opened.
    func writeClock() {
        guard let queue = opening.withLock({ $0.result })?.queue else { return }
        options.clock.takeChanges { [logger = options.logger] change in
            queue.keep(change) { result in
                guard case .failure(let error) = result else { return }
                logger.error("the clock's change could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Opens the state if it is not open, and returns it.
    /// - Throws: `StoreError`.
    func open() async throws -> OpenState {
        if let open = opening.withLock({ $0.result }) { return open }
        let task = opening.withLock { opening in
            let task = opening.task ?? Task { try await openOnce() }
            opening.task = task
            return task
        }
        return try await task.value
    }

    /// Opens the state, and stores the result, which ``open()`` returns from then on.
    private func openOnce() async throws -> OpenState {
        do {
            let open = try await openState()
            opening.withLock { $0.result = open }
            writeClock()
            return open
        } catch {
            opening.withLock { $0 = Opening() }
            throw error
        }
    }

    private func openState() async throws -> OpenState {
        let (store, key) = try await Blocking.run { [options] () throws(StoreError) in
            try StateLocation.open(options.state, onDisplacement: { options.logDisplacement(kind: $0, count: $1) })
        }
        let rows = RowCoder(Sealing.derive("signet server rows", from: key))
        let queue = TransactionQueue(store, rows, clock: options.clock, unreadableRows: options.unreadableRows)
        let constants = TransactionConstants(
            users: options.users, generatesPasswords: options.generatesPasswords, clients: options.clients, trees: options.trees,
            key: key, pollWaits: options.state.isShared ? nil : PollWaits())
        let open = OpenState(queue: queue, constants: constants)
        do {
            try await queue.checkKey()
            try await queue.readClock()
            let clocks = ClockReader(queue, options.logger)
            let receive = listener.withLock { $0 }
            store.listen { signal in
                if signal == nil || signal == ClusterMessage.clock.text { clocks.read() }
                receive(signal)
            }
            // A state in memory begins with this process.
            if options.state.location != .memory { try await compareUsers(open) }
        } catch {
            queue.close()
            throw error
        }
        return open
    }

    /// Closes the state.
    ///
    /// It is opened again on the next use. A state in memory is not closed.
    func close() async {
        guard options.state.location != .memory else { return }
        let open = opening.withLock { opening in
            // A state that is just being opened stays open.
            guard let open = opening.result else { return nil as OpenState? }
            opening = Opening()
            return open
        }
        guard let queue = open?.queue else { return }
        try? await Blocking.run { () throws(StoreError) in queue.close() }
    }

    /// Replaces the users, clients and journeys of the configuration.
    ///
    /// Transactions that begin later use the new ones. A user that the configuration did not have is a new one
    /// (``ServerTransaction/remakeUsers(of:unlessIn:)``).
    /// - Parameters:
    ///   - users: The users; nil to keep the present ones.
    ///   - clients: The clients.
    ///   - trees: The journeys.
    /// - Throws: `StoreError` when the state cannot be read or written; in that case nothing has changed.
    func replace(users: [User]? = nil, clients: ClientRegistry, trees: [String: JourneyTree]) async throws {
        let open = try await open()
        let before = open.constants
        let constants = before.replacing(users: users, clients: clients, trees: trees)
        if users != nil { try await replaceUsers(before.users, constants, open) }
        open.replace(constants)
        current.withLock { options in
            if let users { options.users = users }
            (options.clients, options.trees) = (clients, trees)
        }
    }

    /// Makes those users new ones that the configuration did not have before, and stores which ones it has.
    private func replaceUsers(_ before: ConfiguredUsers, _ constants: TransactionConstants, _ open: OpenState) async throws {
        let (known, time) = (Set(before.all.map { before.digest(of: $0) }), time())
        let isInMemory = options.state.location == .memory
        let effects = try await open.queue.run { rows in
            var tx = ServerTransaction(constants, rows, time)
            let users = constants.users
            if !isInMemory { rows.put(users.all.map { users.digest(of: $0) }.sorted(), TransactionQueue.usersRow) }
            _ = try tx.remakeUsers(of: users, unlessIn: known)
            return (tx.effects, signals: tx.effects.compactMap { $0.signal?.text })
        }
        for effect in effects { perform(effect, time.now) }
    }

    /// Compares the users of the configuration with those of the last start (``ServerTransaction/remakeUsers(of:unlessIn:)``).
    private func compareUsers(_ open: OpenState) async throws {
        let (users, time) = (open.constants.users, time())
        let digests = users.all.map { users.digest(of: $0) }.sorted()
        let count = try await open.queue.run { rows in
            var tx = ServerTransaction(open.constants, rows, time)
            // A row that cannot be read stays as it is, and the server starts.
            guard try !rows.isUnreadable(TransactionQueue.usersRow, [String].self) else { return (0, signals: []) }
            let known = try rows.value(TransactionQueue.usersRow) as RowCache.Present<[String]>?
            guard known?.value != digests else { return (0, signals: []) }
            rows.put(digests, TransactionQueue.usersRow)
            let count = try known.map { try tx.remakeUsers(of: users, unlessIn: Set($0.value)) } ?? 0
            return (count, signals: tx.effects.compactMap { $0.signal?.text })
        }
        guard count > 0 else { return }
        options.logger.warning(
            "users are in the configuration that were not in it at the last start; the devices and sessions of their names were removed",
            metadata: ["count": "\(count)"])
    }
}

/// Opens the location of the state.
enum StateLocation {
    /// The length of a server's key, in bytes.
    static let keyLength = 32

    /// Opens the rows of a state.
    /// - Parameters:
    ///   - state: The location and the key.
    ///   - onDisplacement: A function that is called with the kind and the number of rows that a full state in memory has removed.
    /// - Returns: The rows and the key of the state.
    /// - Throws: The error of a state that cannot be used.
    static func open(
        _ state: ServerState, onDisplacement: @escaping @Sendable (_ kind: String, _ count: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> (any RowStore, Secret) {
        if let key = state.key, key.count != keyLength {
            throw StoreError(.invalid, "open the state", "the key has \(key.count) bytes; it must have \(keyLength)")
        }
        switch state.location {
        case .memory:
            let capacities = Dictionary(uniqueKeysWithValues: RowKind.allCases.map { ($0.rawValue, $0.capacity) })
            let rows = MemoryRows(capacities: capacities, onDisplacement: onDisplacement)
            return (rows, state.key ?? Secret.random(byteCount: keyLength))
        case .file(let path):
            let isNew = !PrivateFile.exists(path) || PrivateFile.isEmpty(path)
            let key: Secret
            if let given = state.key { key = given } else { key = try keyFile("\(path).key", creating: isNew) }
            let capacities = RowKind.allCases.compactMap { kind in kind.fileCapacity.map { (kind.rawValue, $0) } }
            let shortLived = RowKind.allCases.filter(\.isShortLived).map(\.rawValue)
            let rows = try SQLiteRows(
                path: path, capacities: Dictionary(uniqueKeysWithValues: capacities), shortLived: Set(shortLived))
            return (rows, key)
        case .postgreSQL(let connection):
            guard let key = state.key else {
                throw StoreError(
                    .keyUnavailable, "open the state",
                    "a state in PostgreSQL needs the key that all its servers share: set --state-key, or ServerState.key"
                )
            }
            return (try SharedRows.open(connection: connection.text), key)
        }
    }

    /// Returns the key beside a database.
    ///
    /// The key file is only created together with the database. If it is lost later, it is not created again, so that the sealed
    /// rows remain readable if the file is found.
    private static func keyFile(_ path: String, creating: Bool) throws(StoreError) -> Secret {
        if creating, !PrivateFile.exists(path) {
            try PrivateFile.createDirectory(PrivateFile.directory(of: path))
            let key = Secret.random(byteCount: keyLength)
            try PrivateFile.create(path, containing: key.bytes)
            return key
        }
        guard PrivateFile.exists(path) else {
            throw StoreError(
                .keyUnavailable, "open the state",
                "the key file \(path) of the state is missing; restore the key file, or start with another state file")
        }
        let bytes = try PrivateFile.contents(of: path, limit: 4096)
        guard bytes.count == keyLength else {
            throw StoreError(.corrupt, "read \(path)", "the key file has \(bytes.count) bytes; it must have \(keyLength)")
        }
        return Secret(bytes)
    }
}

extension TransactionQueue {
    static let check = RowKey(.server, "key")
    private static let clockRow = RowKey(.server, "clock")
    /// The digests of the users in the configuration at the last start.
    ///
    /// They describe the configuration and not the state, so snapshots do not contain them and a reset keeps them.
    static let usersRow = RowKey(.server, "users")

    /// Makes sure that the state was sealed with this key, before anything is written with it.
    func checkKey() async throws {
        try await run { transaction in
            if (try transaction.value(Self.check) as RowCache.Present<String>?) == nil {
                transaction.put("signet", Self.check)
            }
            return ((), [])
        }
    }

    /// Sets the clock to the stored setting, which this server or another one wrote.
    func readClock() async throws {
        let result = await withCheckedContinuation { continuation in
            submit { transaction in
                (try Self.clockSetting(transaction), [])
            } done: { [clock] result in
                if case .success(let setting) = result { clock.adopt(setting) }
                continuation.resume(returning: result)
            }
        }
        _ = try result.get()
    }

    /// Stores a change of the clock.
    ///
    /// If it cannot be written, it is reverted.
    func keep(_ change: AdjustableClock.Change, done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        submit { transaction in
            let setting = change.applied(to: try Self.clockSetting(transaction))
            transaction.put(setting, Self.clockRow)
            return (setting, [ClusterMessage.clock.text])
        } done: { [clock] result in
            clock.complete(change, as: try? result.get())
            done(result.map { _ in })
        }
    }

    private static func clockSetting(_ transaction: RowCache) throws(StoreError) -> AdjustableClock.Setting {
        (try transaction.value(clockRow) as RowCache.Present<AdjustableClock.Setting>?)?.value
            ?? AdjustableClock.Setting()
    }
}
