import Dispatch
import SignetCore

/// Runs work that may block for long, such as a TPM operation that takes a second, a keyring that asks the user, or a remote
/// database.
///
/// The work gets a thread of its own, so that it does not hold up the other tasks of the app.
package enum Blocking {
    /// Runs `body` on a thread of its own, where it may block.
    ///
    /// The result is passed through a lock. When `body` returns before the task waits, the thread sanitizer does not know that the
    /// task continues after ``CheckedContinuation/resume()``, and reports the result as a data race.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let answer = Answer<Result<Value, StoreError>>()
        await withCheckedContinuation { continuation in
            newThread().async {
                answer.give(Result { () throws(StoreError) in try body() })
                continuation.resume()
            }
        }
        return try answer.wait().get()
    }

    /// Runs `body` like ``run(_:)``, for work that must not outlive the call.
    package static func runNonEscaping<Value: Sendable>(
        _ body: @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = await withTaskExecutorPreference(executor) { Result { () throws(StoreError) in try body() } }
        return try outcome.get()
    }

    /// An executor that runs each job on a thread outside of Swift's pool.
    ///
    /// A task with this executor makes progress even when every thread of the pool is blocked.
    package static let executor: any TaskExecutor = Executor()

    /// Blocks the calling thread until `body` returns, for an API of an app that cannot be asynchronous.
    ///
    /// The calling thread may belong to Swift's pool. `body` must therefore not wait for work that needs a thread of that pool,
    /// unless the caller is known to be outside of it.
    package static func wait<Value: Sendable>(for body: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        Task(executorPreference: executor) { answer.give(await body()) }
        return answer.wait()
    }

    /// Returns a new serial queue.
    ///
    /// A serial queue gets a thread as soon as it has work. A concurrent queue shares its threads with Swift's pool, and gets
    /// more of them only after the system has seen its threads block for a while.
    private static func newThread() -> DispatchQueue { DispatchQueue(label: "signet.blocking") }

    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            newThread().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

/// A value that one thread passes to another thread that waits for it.
final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        isGiven.signal()
    }

    /// Blocks the calling thread until the value is there.
    func wait() -> Value {
        while true {
            if let value = value(until: .distantFuture) { return value }
        }
    }

    /// Waits for the value; nil when it does not arrive until then.
    func value(until end: DispatchTime) -> Value? {
        _ = isGiven.wait(timeout: end)
        return value.withLock { $0 }
    }
}
