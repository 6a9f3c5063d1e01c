#if canImport(CSecretService) && canImport(Glibc)
import CSecretService
import Dispatch
import SignetCore

/// A call that may never return, on a thread of its own.
///
/// When its time is over, the waiting caller cancels it. If it does not react, the caller abandons it: some waits of GLib cannot
/// be canceled, and end after 25 seconds.
///
/// `withTimeout` does not fit here: it limits a task for a fixed time, but the callers of the keyring are synchronous, and a call
/// that asks the user gets more time while it runs.
final class TimedCall: Sendable {
    private let timeout: Duration
    private let end: Mutex<SuspendingClock.Instant>
    /// The address of a GCancellable, which several threads may use at once.
    private let cancellableAddress: UInt

    /// The time that a canceled call has to react.
    private static let grace = Duration.seconds(1)

    private init(_ library: LibSecret, timeout: Duration) {
        self.timeout = timeout
        end = Mutex(SuspendingClock.now + timeout)
        cancellableAddress = UInt(bitPattern: library.functions.g_cancellable_new())
    }

    deinit {
        LibSecret.loaded?.unreference(cancellable)
    }

    /// The object with which calls into GLib can be canceled.
    var cancellable: OpaquePointer? { OpaquePointer(bitPattern: cancellableAddress) }

    /// The remaining time of the call.
    var remaining: Duration { SuspendingClock.now.duration(to: end.withLock { $0 }) }

    /// Extends the remaining time of the call to at least `timeout`, for example because the user is asked, which takes longer
    /// than a program.
    func extend(by timeout: Duration) {
        end.withLock { $0 = max($0, SuspendingClock.now + timeout) }
    }

    /// Extends the remaining time of the call to at least its usual timeout.
    func extend() { extend(by: timeout) }

    /// Runs `body` on a new thread and waits for its result.
    /// - Throws: The error of `body`; ``StoreError/Code/keyUnavailable`` when it takes too long.
    static func run<Value: Sendable>(
        _ operation: String, timeout: Duration,
        _ body: @escaping @Sendable (LibSecret, TimedCall) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let call = TimedCall(try LibSecret.load(operation), timeout: timeout)
        let answer = Answer<Result<Value, StoreError>>()
        let isStarted = DetachedThread.start {
            answer.give(Result { () throws(StoreError) in try body(LibSecret.load(operation), call) })
        }
        guard isStarted else { throw StoreError(.failed, operation, "no thread could be started for the request to the keyring") }
        while call.remaining > .zero {
            if let result = answer.value(until: .now() + call.remaining / .seconds(1)) { return try result.get() }
        }
        LibSecret.loaded?.functions.g_cancellable_cancel(call.cancellable)
        // The call may have ended just now.
        guard case .success(let value)? = answer.value(until: .now() + grace / .seconds(1)) else {
            throw StoreError(
                .keyUnavailable, operation,
                "the keyring did not answer in time; restart the program that serves it, or open the vault by another slot")
        }
        return value
    }
}
#endif
