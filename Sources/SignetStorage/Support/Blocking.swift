import Dispatch

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
        let outcome = await withTaskExecutorPreference(Executor()) { Result { () throws(StoreError) in try body() } }
        return try outcome.get()
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
