/// A callback for an operation that succeeded.
public typealias SuccessCallback = @Sendable () -> Void
/// A callback for an operation that failed, with an `CodedFRError`.
public typealias ErrorCallback = @Sendable (any Error) -> Void
/// A callback that gets accounts.
public typealias AccountsCallback = @Sendable ([Account]) -> Void
/// A callback that gets an account.
public typealias AccountCallback = @Sendable (Account) -> Void
/// A callback that gets the mechanism that was created.
public typealias MechanismCallback = @Sendable (Mechanism) -> Void

/// The functions that call callbacks.
///
/// One of the two callbacks is called, once, on the global executor of Swift's tasks. It is never called on the caller's thread.
/// When the caller occupies that executor's last thread, it is not called before the call has returned.
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

/// A listener with two closures, as in the ForgeRock SDK for Android.
///
/// One of the two is called, once, on the global executor of Swift's tasks.
public struct FRAListener<Value: Sendable>: Sendable {
    let onSuccess: @Sendable (Value) -> Void
    let onFailure: ErrorCallback

    /// Creates a listener from two closures.
    public init(onSuccess: @escaping @Sendable (Value) -> Void, onFailure: @escaping ErrorCallback) {
        self.onSuccess = onSuccess
        self.onFailure = onFailure
    }
}
