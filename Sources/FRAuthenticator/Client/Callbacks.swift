/// Called when something has been done.
public typealias SuccessCallback = @Sendable () -> Void
/// Called when something has failed, with an ``FRError``.
public typealias ErrorCallback = @Sendable (any Error) -> Void
/// Called with accounts.
public typealias AccountsCallback = @Sendable ([Account]) -> Void
/// Called with an account.
public typealias AccountCallback = @Sendable (Account) -> Void
/// Called with the mechanism that was made.
public typealias MechanismCallback = @Sendable (Mechanism) -> Void

/// How callbacks are called: one of the two, once, on the global executor of Swift's tasks; never on the thread of the caller,
/// and never before the call has returned to a caller on that executor's last thread.
enum Callbacks {
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value, onSuccess: @escaping @Sendable (Value) -> Void,
        onError: @escaping ErrorCallback
    ) {
        Task {
            let value: Value
            do {
                value = try await work()
            } catch {
                return onError(error)
            }
            onSuccess(value)
        }
    }

    static func run(
        _ work: @escaping @Sendable () async throws -> Void, onSuccess: @escaping SuccessCallback,
        onError: @escaping ErrorCallback
    ) {
        run(work, onSuccess: { (_: Void) in onSuccess() }, onError: onError)
    }
}

/// What to call when an operation has ended: the Android form of two callbacks. One of the two is called, once, on the global
/// executor of Swift's tasks.
public struct FRAListener<Value: Sendable>: Sendable {
    let onSuccess: @Sendable (Value) -> Void
    let onFailure: ErrorCallback

    /// A listener of two closures.
    public init(onSuccess: @escaping @Sendable (Value) -> Void, onFailure: @escaping ErrorCallback) {
        self.onSuccess = onSuccess
        self.onFailure = onFailure
    }
}
