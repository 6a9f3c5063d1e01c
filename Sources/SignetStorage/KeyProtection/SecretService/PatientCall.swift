#if SecretService && canImport(Glibc)
import CSecretService
import Dispatch
import Glibc
import SignetCore
import Synchronization

/// A call that may never come back, on a thread of its own. Whoever waits for it cancels it when its time is over, and leaves
/// it behind when it does not react: some of GLib's waits cannot be cancelled, and end by themselves after 25 seconds.
final class PatientCall: Sendable {
    private let patience: Duration
    private let end: Mutex<SuspendingClock.Instant>
    /// The address of a GCancellable, which is made to be used by several threads at once.
    private let cancellableAddress: UInt

    /// How long a cancelled call may take to notice.
    private static let grace = Duration.seconds(1)

    private init(_ library: LibSecret, patience: Duration) {
        self.patience = patience
        end = Mutex(SuspendingClock.now + patience)
        cancellableAddress = UInt(bitPattern: library.functions.g_cancellable_new())
    }

    deinit {
        LibSecret.loaded?.unreference(cancellable)
    }

    /// What the calls into GLib are given, to be cancelled by.
    var cancellable: OpaquePointer? { OpaquePointer(bitPattern: cancellableAddress) }

    /// The time that is left.
    var remaining: Duration { SuspendingClock.now.duration(to: end.withLock { $0 }) }

    /// Gives the call so much time from now on, unless it has more already. A person who is asked takes longer than a program.
    func extend(by patience: Duration) {
        end.withLock { $0 = max($0, SuspendingClock.now + patience) }
    }

    /// Gives the call its usual time from now on.
    func extend() { extend(by: patience) }

    /// The call took too long.
    func tooLate(_ operation: String) -> StoreError {
        StoreError(
            .keyUnavailable, operation,
            "the keyring did not answer in time; restart the program that serves it, or open the vault by another slot")
    }

    /// Runs `body` to its end.
    /// - Throws: what `body` throws; ``StoreError/Code/keyUnavailable`` when it takes too long.
    static func run<Value: Sendable>(
        _ operation: String, patience: Duration,
        _ body: @escaping @Sendable (LibSecret, PatientCall) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let call = PatientCall(try LibSecret.load(operation), patience: patience)
        let answer = Answer<Value>()
        let isStarted = detachThread {
            answer.give(Result { () throws(StoreError) in try body(LibSecret.load(operation), call) })
        }
        guard isStarted else { throw StoreError(.failed, operation, "there is no thread left to ask the keyring on") }
        while call.remaining > .zero {
            if let result = answer.result(within: call.remaining) { return try result.get() }
        }
        LibSecret.loaded?.functions.g_cancellable_cancel(call.cancellable)
        // It may have come to its end just now.
        guard case .success(let value)? = answer.result(within: grace) else { throw call.tooLate(operation) }
        return value
    }
}

/// What a thread hands to the one that waits for it, once.
private final class Answer<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, StoreError>?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    func give(_ result: Result<Value, StoreError>) {
        self.result.withLock { $0 = result }
        isGiven.signal()
    }

    /// Nil when there is none in that time.
    func result(within time: Duration) -> Result<Value, StoreError>? {
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        _ = isGiven.wait(timeout: .now() + .nanoseconds(max(nanoseconds, 1)))
        return result.withLock { $0 }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Not a thread of Dispatch's, which has few: those that wait for this one may hold them all.
private func detachThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { box in
            if let box { Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run() }
            return nil
        }, box.toOpaque())
    guard status == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}
#endif
