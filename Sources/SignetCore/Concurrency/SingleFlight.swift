/// Runs one operation at a time and gives its result to all callers that request it in the meantime.
///
/// A canceled caller stops waiting. The operation continues to its end even when no caller waits, because the results of its
/// requests to a server must be saved.
package final class SingleFlight<Value: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isRunning = false
        var nextTicket: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Value, any Error>] = [:]
        /// The callers that were canceled before they started to wait.
        var canceled: Set<UInt64> = []
    }

    package init() {}

    /// Returns the result of the running operation, or starts `operation` and returns its result.
    /// - Throws: The error of the operation; `CancellationError` when the caller was canceled.
    package func run(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        // A cancellation after the result inserts the ticket into `canceled`, so it is removed here.
        defer { state.withLock { _ = $0.canceled.remove(ticket) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCanceled, starts) = state.withLock { state -> (Bool, Bool) in
                    if state.canceled.remove(ticket) != nil { return (true, false) }
                    state.waiting[ticket] = continuation
                    defer { state.isRunning = true }
                    return (false, !state.isRunning)
                }
                if isCanceled { continuation.resume(throwing: CancellationError()) }
                if starts { Task { self.finish(await Result(of: operation)) } }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
                if let continuation = state.waiting.removeValue(forKey: ticket) { return continuation }
                state.canceled.insert(ticket)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            state.isRunning = false
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
