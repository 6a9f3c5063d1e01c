import Dispatch
import Foundation
import SignetCore
import SignetStorage

/// Runs the transactions of a server one after another on a dedicated queue, or on the threads of their callers when the store has
/// its rows in memory: to wake another thread takes longer than such a transaction.
///
/// The transactions that have accumulated form a batch, which is made durable as a whole. The callers get their results only
/// after that, so a confirmed result is never lost, and the server waits for the disk only once for each batch.
final class TransactionQueue: Sendable {
    /// A transaction that waits.
    private struct Job: Sendable {
        /// Runs the transaction, and returns the completion to call when its changes are durable.
        let attempt: @Sendable (RowCache) throws -> Completion
        let fail: @Sendable (any Error) -> Void
        /// The number of times that the transaction was postponed for a slow computation.
        var delays = 0
    }

    /// The end of a transaction: the answer to its caller, and the messages to other processes.
    private struct Completion: Sendable {
        let signals: [String]
        let answer: @Sendable () -> Void
    }

    /// An entry of the queue.
    private enum Entry: Sendable {
        case transaction(Job)
        /// An operation on the rows themselves, which is not part of a batch.
        case exclusive(@Sendable () -> Void)

        var transaction: Job? {
            if case .transaction(let job) = self { job } else { nil }
        }
    }

    private struct Waiting: Sendable {
        var entries: [Entry] = []
        var isRunning = false

        /// True when the next entry is an exclusive operation.
        var beginsWithExclusive: Bool {
            if case .exclusive? = entries.first { true } else { false }
        }

        /// Removes and returns the next entries: a single exclusive operation, or the transactions before the next one, at most
        /// `limit`.
        mutating func next(limit: Int) -> (batch: [Job], exclusive: (@Sendable () -> Void)?) {
            if case .exclusive(let body)? = entries.first {
                entries.removeFirst()
                return ([], body)
            }
            let batch = entries.prefix(limit).prefix { $0.transaction != nil }.compactMap(\.transaction)
            entries.removeFirst(batch.count)
            return (batch, nil)
        }
    }

    /// The maximum number of transactions in a batch.
    static let batchSize = 256
    /// The maximum number of batches that the thread of a caller runs; the queue runs those that still wait.
    private static let maxOwnBatches = 8
    /// The maximum number of times that a transaction can be postponed for a slow computation.
    static let maxDelays = 64

    let coder: RowCoder
    let store: any RowStore
    let passwords = PasswordMemory()
    private let grantTimes = RowFacts<GrantTimes>()
    private let recentRows = RecentRows()
    /// The requested rows that could not be read.
    let unreadableRows: UnreadableRows
    let clock: AdjustableClock
    /// The numbers of what was written since the state was opened.
    struct Writes: Sendable, Hashable {
        /// The batches that changed rows.
        var commits = 0
        /// The rows that were written or removed.
        var rows = 0
        /// The batches among ``commits`` that did not have to survive a failure of the power.
        var unsynced = 0
    }

    private let counts = Mutex(Writes())
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "signet.state")
    /// The queues for slow computations, one for each processor and at least two.
    ///
    /// Each runs one computation at a time, because scrypt needs much memory. Equal computations use the same queue, so the
    /// second finds the result of the first in the cache.
    let workerQueues = (0..<max(2, ProcessInfo.processInfo.activeProcessorCount)).map {
        DispatchQueue(label: "signet.passwords.\($0)")
    }

    init(_ store: any RowStore, _ coder: RowCoder, clock: AdjustableClock, unreadableRows: UnreadableRows = UnreadableRows()) {
        self.unreadableRows = unreadableRows
        self.store = store
        self.coder = coder
        self.clock = clock
    }

    var writes: Writes { counts.withLock { $0 } }

    /// Runs a transaction and waits until its changes are durable.
    /// - Parameter body: The transaction. It may run more than once, and only its last run counts. It returns a value and the
    ///   messages to other processes.
    /// - Returns: The value that `body` returned.
    /// - Throws: The error that `body` throws; `StoreError` when a row cannot be read or the changes cannot be written. Nothing has
    ///   changed then.
    func run<R: Sendable>(_ body: @escaping @Sendable (RowCache) throws -> (R, signals: [String])) async throws -> R {
        let result = await withCheckedContinuation { continuation in
            enqueue(Self.job(body) { continuation.resume(returning: $0) }, mayRunHere: true)
        }
        return try result.get()
    }

    /// Queues a transaction without waiting for it.
    ///
    /// Transactions that are queued later see its changes.
    /// - Parameters:
    ///   - body: The transaction. It may run more than once, and only its last run counts.
    ///   - done: A function that is called when the changes are durable or the transaction has failed. It is called before the
    ///     functions of later transactions.
    func submit<R: Sendable>(
        _ body: @escaping @Sendable (RowCache) throws -> (R, signals: [String]),
        done: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        enqueue(Self.job(body, done: done))
    }

    private static func job<R: Sendable>(
        _ body: @escaping @Sendable (RowCache) throws -> (R, signals: [String]),
        done: @escaping @Sendable (Result<R, any Error>) -> Void
    ) -> Entry {
        .transaction(
            Job(
                attempt: { transaction in
                    let (value, signals) = try body(transaction)
                    return Completion(signals: signals) { done(.success(value)) }
                },
                fail: { done(.failure($0)) }))
    }

    /// Adds an entry, and begins to run the entries unless another thread does.
    /// - Parameters:
    ///   - entry: The entry.
    ///   - mayRunHere: True for a caller that holds no lock.
    private func enqueue(_ entry: Entry, mayRunHere: Bool = false) {
        let begins = waiting.withLock { waiting in
            waiting.entries.append(entry)
            defer { waiting.isRunning = true }
            return !waiting.isRunning
        }
        guard begins else { return }
        if mayRunHere, store.isImmediate, drain(here: true) { return }
        queue.async { _ = self.drain(here: false) }
    }

    /// Runs the entries that wait.
    /// - Parameter isHere: True on the thread of a caller, which runs a few batches of transactions only.
    /// - Returns: True when no entry waits any more, so that the next one begins anew.
    private func drain(here isHere: Bool) -> Bool {
        var batches = 0
        while true {
            let next = waiting.withLock { waiting -> (batch: [Job], exclusive: (@Sendable () -> Void)?)? in
                if isHere, waiting.beginsWithExclusive || batches == Self.maxOwnBatches { return nil }
                let next = waiting.next(limit: Self.batchSize)
                if next.batch.isEmpty, next.exclusive == nil { waiting.isRunning = false }
                return next
            }
            guard let next else { return false }
            if let exclusive = next.exclusive {
                exclusive()
            } else if next.batch.isEmpty {
                return true
            } else {
                run(next.batch)
                batches += 1
            }
        }
    }

    /// The result of a batch.
    private struct Outcome {
        var answers: [@Sendable () -> Void] = []
        /// The rows that the batch writes or removes.
        var changed: [RecentRows.Change] = []
        var survivesPowerFailure = false
        var postponed: [(job: Job, work: PasswordMemory.Work)] = []
    }

    private func run(_ batch: [Job]) {
        do throws(StoreError) {
            let outcome = try store.transact { (reader) throws(StoreError) in try attempt(batch, reader) }
            if !outcome.changed.isEmpty { committed(outcome) }
            for answer in outcome.answers { answer() }
            for (job, work) in outcome.postponed { postpone(job, work) }
        } catch {
            // It may be unknown whether the changes were made.
            recentRows.forgetAll()
            for job in batch { job.fail(error) }
        }
    }

    /// Records the changes of a committed batch.
    private func committed(_ outcome: Outcome) {
        unreadableRows.forget(outcome.changed.lazy.map(\.key))
        if store.displacements != nil { recentRows.keep(outcome.changed) }
        counts.withLock { counts in
            counts.commits += 1
            counts.rows += outcome.changed.count
            if !outcome.survivesPowerFailure { counts.unsynced += 1 }
        }
    }

    /// Returns the values of recent rows that are still those of the stored rows; nil when other processes also change these.
    private var validRows: RecentRows? {
        guard let displacements = store.displacements else { return nil }
        recentRows.check(RecentRows.Validity(displacements: displacements, clock: clock.setting))
        return recentRows
    }

    private func attempt(_ batch: [Job], _ reader: any RowReader) throws(StoreError) -> (Outcome, RowChanges) {
        let transaction = RowCache(
            reader, coder, passwords, grantTimes: grantTimes, unreadableRows: unreadableRows, recentRows: validRows,
            sealsLater: store.isImmediate)
        var outcome = Outcome()
        var changes = RowChanges()
        for job in batch {
            transaction.begin()
            // The answer to a transaction that is rolled back also waits for the commit, because the transaction may have read
            // changes of others in the batch.
            do {
                let completion = try job.attempt(transaction)
                if transaction.needsDurability { outcome.survivesPowerFailure = true }
                outcome.answers.append(completion.answer)
                changes.signals += completion.signals
            } catch let work as PasswordMemory.Work {
                transaction.revert()
                outcome.postponed.append((job, work))
            } catch let error as StoreError where !error.isRecordScoped {
                // A failure of the store fails the whole batch. A row that cannot be read fails only the transaction that reads it.
                throw error
            } catch {
                transaction.revert()
                outcome.answers.append { job.fail(error) }
            }
        }
        changes.rows = try transaction.changes()
        outcome.changed = transaction.changedValues
        changes.survivesPowerFailure = outcome.survivesPowerFailure
        changes.now = clock.now.rowTime
        return (outcome, changes)
    }

    /// Runs the slow computation on another queue, and then queues the transaction again.
    private func postpone(_ job: Job, _ work: PasswordMemory.Work) {
        guard job.delays < Self.maxDelays else { return job.fail(StoreError.noMemoryForPasswords) }
        var job = job
        job.delays += 1
        let number = passwords.digest(of: work).hashValue.magnitude % UInt(workerQueues.count)
        workerQueues[Int(number)].async { [passwords, job] in
            passwords.perform(work)
            self.enqueue(.transaction(job))
        }
    }

    /// Runs an operation on the rows themselves between two batches.
    func exclusively<R: Sendable>(
        _ body: @escaping @Sendable (any RowReader, RowCoder) throws(StoreError) -> (R, RowChanges)
    ) async throws(StoreError) -> R {
        let result: Result<R, StoreError> = await withCheckedContinuation { continuation in
            enqueue(
                .exclusive { [self] in
                    let result = Result { () throws(StoreError) in
                        try store.transact { (reader) throws(StoreError) in try body(reader, coder) }
                    }
                    recentRows.forgetAll()
                    continuation.resume(returning: result)
                })
        }
        return try result.get()
    }

    func close() { queue.sync { store.close() } }
}

extension StoreError {
    /// The error of a transaction whose password computations do not complete.
    static let noMemoryForPasswords = StoreError(
        .failed, "compute a password hash", "scrypt got no memory, or the transaction needed too many computations")
}
