/// Runs an operation with a time limit.
///
/// After the limit the operation is canceled. It may ignore the cancellation and return later; its value is then passed to
/// `late`.
/// - Parameters:
///   - limit: The maximum duration of the operation.
///   - clock: The clock for the limit.
///   - late: A closure that receives the value of an operation that returned after the limit.
///   - operation: The operation. It is canceled when the caller is canceled.
/// - Returns: The value of the operation; nil when the operation does not return within the limit.
package func withTimeout<Value: Sendable>(
    _ limit: Duration, on clock: any Clock<Duration> = ContinuousClock(), late: @escaping @Sendable (Value) -> Void = { _ in },
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let result = FirstResult<Value>()
    let worker = Task {
        let value = await operation()
        if !result.set(value) { late(value) }
    }
    let timer = Task {
        // The sleep is canceled when the operation has returned.
        guard (try? await clock.sleep(for: limit, tolerance: nil)) != nil else { return }
        if result.set(nil) { worker.cancel() }
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
        await result.value
    } onCancel: {
        worker.cancel()
    }
}

/// Runs an operation with a time limit, and waits for its end also after the limit.
///
/// After the limit, or when the caller is canceled, the operation is canceled. When it returns a value nevertheless, `undo` is called
/// with it.
/// - Parameters:
///   - limit: The maximum duration of the operation.
///   - clock: The clock for the limit.
///   - undo: A closure that undoes an operation whose value is not returned.
///   - operation: The operation.
/// - Returns: The value of the operation; nil when the operation does not return within the limit.
/// - Throws: The error of an operation that ended within the limit, before it was canceled; `CancellationError` when the caller was
///   canceled. For a caller that is canceled already, the operation is not started.
package func withTimeout<Value: Sendable>(
    _ limit: Duration, on clock: any Clock<Duration> = ContinuousClock(), undoing undo: @Sendable (Value) async -> Void,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try Task.checkCancellation()
    let work = Task<Value, any Error> {
        do {
            return try await operation()
        } catch {
            // The error of an operation that was canceled only reports the cancellation.
            try Task.checkCancellation()
            throw error
        }
    }
    let inTime = await withTimeout(limit, on: clock) {
        await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
    }
    if let inTime, !Task.isCancelled { return try inTime.get() }
    switch await work.result {
    case .success(let value): await undo(value)
    case .failure(let error): if inTime != nil { throw error }
    }
    try Task.checkCancellation()
    return nil
}

/// Holds the first of two results.
private final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case finished(Value?)
    }

    private let state = Mutex(State.pending)

    /// Sets the result.
    ///
    /// Returns true when it is the first one.
    func set(_ value: Value?) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value?, Never>?) in
            switch state {
            case .finished: return (false, nil)
            case .pending:
                state = .finished(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .finished(value)
                return (true, continuation)
            }
        }
        waiting?.resume(returning: value)
        return isFirst
    }

    /// The first result.
    ///
    /// It can be awaited only once.
    var value: Value? {
        get async {
            await withCheckedContinuation { continuation in
                let finished = state.withLock { state -> Value?? in
                    if case .finished(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return nil
                }
                if case .some(let value) = finished { continuation.resume(returning: value) }
            }
        }
    }
}
