import Dispatch
import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs the transactions of a server one after the other, on a thread of its own: what has queued up meanwhile is one batch, which
/// becomes durable as a whole, and only then is anybody answered. So an answer is never lost, and the disk is waited for once a batch.
final class TransactionQueue: Sendable {
    /// A transaction that waits.
    private struct Job: Sendable {
        /// Runs it, and returns what answers its caller once it is durable.
        let attempt: @Sendable (RowCache) -> Completion
        let fail: @Sendable (StoreError) -> Void
        /// How often it was put off for work that takes long.
        var delays = 0
    }

    /// What answers a caller, and what other processes are to hear.
    private struct Completion: Sendable {
        var signals: [String] = []
        let answer: @Sendable () -> Void
    }

    /// What stands in the queue.
    private enum Turn: Sendable {
        case transaction(Job)
        /// Something about the rows themselves, which is no part of a batch.
        case alone(@Sendable () -> Void)

        var transaction: Job? {
            if case .transaction(let job) = self { job } else { nil }
        }
    }

    private struct Waiting: Sendable {
        var turns: [Turn] = []
        var isRunning = false

        /// Takes what is next: something that is alone, or the transactions before it, `limit` of them at most.
        mutating func next(limit: Int) -> (batch: [Job], alone: (@Sendable () -> Void)?) {
            if case .alone(let body)? = turns.first {
                turns.removeFirst()
                return ([], body)
            }
            let batch = turns.prefix(limit).prefix { $0.transaction != nil }.compactMap(\.transaction)
            turns.removeFirst(batch.count)
            return (batch, nil)
        }
    }

    /// The most transactions of a batch.
    static let batchSize = 256
    /// How often a rule may find that it needs more work done before it can come to its end.
    static let mostDelays = 64

    let coder: RowCoder
    let store: any RowStore
    let passwords = PasswordMemory()
    /// The rows that somebody asked for and that cannot be read.
    let broken: BrokenRows
    let clock: AdjustableClock
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "signet.state")
    /// Where long work is done: one thing at a time each, as many as there are processors, since each takes memory too. The same work
    /// always comes to the same one, and is done once.
    let workshops = (0..<max(2, ProcessInfo.processInfo.activeProcessorCount)).map {
        DispatchQueue(label: "signet.passwords.\($0)")
    }

    init(_ store: any RowStore, _ coder: RowCoder, clock: AdjustableClock, broken: BrokenRows = BrokenRows()) {
        self.broken = broken
        self.store = store
        self.coder = coder
        self.clock = clock
    }

    /// Runs a transaction. What it changes is durable when this returns.
    /// - Parameter body: the rule; it may be run more than once, and only the last time counts. With its value it says what other
    ///   processes are to hear.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (RowCache) -> (R, signals: [String])
    ) async throws(StoreError) -> R {
        let result = await withCheckedContinuation { continuation in
            submit(body) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Runs a transaction without waiting for it: those that are run afterwards find it done.
    /// - Parameter done: called when it is durable, or has failed, before anything is called of transactions that are later in the queue.
    func submit<R: Sendable>(
        _ body: @escaping @Sendable (RowCache) -> (R, signals: [String]),
        done: @escaping @Sendable (Result<R, StoreError>) -> Void
    ) {
        enqueue(
            .transaction(
                Job(
                    attempt: { transaction in
                        let (value, signals) = body(transaction)
                        return Completion(signals: signals) { done(.success(value)) }
                    },
                    fail: { done(.failure($0)) })))
    }

    private func enqueue(_ turn: Turn) {
        let begins = waiting.withLock { waiting in
            waiting.turns.append(turn)
            defer { waiting.isRunning = true }
            return !waiting.isRunning
        }
        if begins { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let (batch, alone) = waiting.withLock { waiting in
                let next = waiting.next(limit: Self.batchSize)
                if next.batch.isEmpty, next.alone == nil { waiting.isRunning = false }
                return next
            }
            if let alone {
                alone()
            } else if batch.isEmpty {
                return
            } else {
                run(batch)
            }
        }
    }

    /// What came of a batch.
    private struct Outcome {
        var answers: [@Sendable () -> Void] = []
        /// The rows that it writes or removes.
        var changed: [RowKey] = []
        var postponed: [(job: Job, work: [PasswordMemory.Work])] = []
    }

    private func run(_ batch: [Job]) {
        do throws(StoreError) {
            let outcome = try store.transact { (reader) throws(StoreError) in try attempt(batch, reader) }
            broken.forget(outcome.changed)
            for answer in outcome.answers { answer() }
            for (job, work) in outcome.postponed { postpone(job, work) }
        } catch {
            for job in batch { job.fail(error) }
        }
    }

    private func attempt(_ batch: [Job], _ reader: any RowReader) throws(StoreError) -> (Outcome, RowChanges) {
        let transaction = RowCache(reader, coder, passwords, broken: broken)
        var outcome = Outcome()
        var changes = RowChanges()
        for job in batch {
            transaction.begin()
            let completion = job.attempt(transaction)
            if let failure = transaction.failure {
                // A row that cannot be read is the matter of who asked for it; anything else is everybody's.
                guard failure.isOfOneRow else { throw failure }
                transaction.revert()
                outcome.answers.append { job.fail(failure) }
            } else if !transaction.work.isEmpty {
                transaction.revert()
                outcome.postponed.append((job, transaction.work))
            } else {
                outcome.answers.append(completion.answer)
                changes.signals += completion.signals
            }
        }
        changes.rows = try transaction.changes()
        outcome.changed = Array(changes.rows.keys)
        changes.now = clock.now.rowTime
        return (outcome, changes)
    }

    /// Does the work beside the queue, and then lets the transaction begin anew.
    private func postpone(_ job: Job, _ work: [PasswordMemory.Work]) {
        guard job.delays < Self.mostDelays else {
            return job.fail(.noMemoryForPasswords)
        }
        var job = job
        job.delays += 1
        let number = work.first.map { passwords.digest(of: $0).hashValue.magnitude % UInt(workshops.count) }
        let workshop = workshops[Int(number ?? 0)]
        workshop.async { [passwords, job] in
            for item in work { passwords.perform(item) }
            self.enqueue(.transaction(job))
        }
    }

    /// Runs something between two batches that is about the rows themselves.
    func exclusively<R: Sendable>(
        _ body: @escaping @Sendable (any RowReader, RowCoder) throws(StoreError) -> (R, RowChanges)
    ) async throws(StoreError) -> R {
        let result: Result<R, StoreError> = await withCheckedContinuation { continuation in
            enqueue(
                .alone { [self] in
                    continuation.resume(
                        returning: Result { () throws(StoreError) in
                            try store.transact { (reader) throws(StoreError) in try body(reader, coder) }
                        })
                })
        }
        return try result.get()
    }

    func close() { queue.sync { store.close() } }
}

extension StoreError {
    /// What a transaction ends with whose work on passwords never comes to an end.
    static let noMemoryForPasswords = StoreError(
        .failed, "work out a password", "there is no memory for scrypt, or no end to it")

    /// Whether only one row is concerned, and the store as a whole is well.
    var isOfOneRow: Bool { code == .corrupt || code == .newerFormat || code == .keyMismatch }
}
