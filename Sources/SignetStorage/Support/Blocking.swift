import Dispatch
import Synchronization

/// Work that may block for long: a TPM takes a second, a keyring asks the person, a database is far away. It gets a thread of
/// its own, so that no task of the app has to wait for a thread meanwhile.
package enum Blocking {
    /// Runs `body` where it may block.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            newThread().async { continuation.resume(returning: Result { () throws(StoreError) in try body() }) }
        }
        return try outcome.get()
    }

    /// As ``run(_:)``, for work that must not outlive the call.
    package static func lend<Value: Sendable>(
        _ body: @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = await withTaskExecutorPreference(executor) { Result { () throws(StoreError) in try body() } }
        return try outcome.get()
    }

    /// Where a task runs on threads that are nobody else's: it gets on also when every thread of Swift's pool is blocked.
    package static let executor: any TaskExecutor = Executor()

    /// Blocks this thread until `body` is done, for a call of an app that has no way to wait. What `body` waits for must not need a
    /// thread of Swift's pool, which this one may be, unless the caller is known to be none of it.
    package static func wait<Value: Sendable>(for body: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        Task(executorPreference: executor) { answer.give(await body()) }
        return answer.wait()
    }

    private final class Answer<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)
        private let isGiven = DispatchSemaphore(value: 0)

        func give(_ value: Value) {
            self.value.withLock { $0 = value }
            isGiven.signal()
        }

        func wait() -> Value {
            while true {
                isGiven.wait()
                if let value = value.withLock({ $0 }) { return value }
            }
        }
    }

    /// A serial queue gets a thread as soon as it has work. A concurrent one shares its threads with Swift's own pool, and is
    /// given more of them only when those it has were seen to block for a while.
    private static func newThread() -> DispatchQueue { DispatchQueue(label: "signet.blocking") }

    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            newThread().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
