import Synchronization

/// One piece of work at a time, whose outcome goes to all who asked for it meanwhile. Who gives up stops waiting; the work goes
/// on for the others, and to its end even when nobody waits: what it began at a server has to be saved.
final class OneFlight<Value: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isFlying = false
        var next: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Value?, Never>] = [:]
        /// Those who gave up before they had begun to wait.
        var gone: Set<UInt64> = []
    }

    /// The outcome of the work that is under way, or of `work`, begun now; nil when the caller gave up.
    func join(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        // A cancellation that comes when the outcome is there already leaves the ticket behind.
        defer { state.withLock { _ = $0.gone.remove(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isGone, begins) = state.withLock { state -> (Bool, Bool) in
                    if state.gone.remove(ticket) != nil { return (true, false) }
                    state.waiting[ticket] = continuation
                    defer { state.isFlying = true }
                    return (false, !state.isFlying)
                }
                if isGone { continuation.resume(returning: nil) }
                if begins { Task { self.land(await work()) } }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Value?, Never>? in
                if let continuation = state.waiting.removeValue(forKey: ticket) { return continuation }
                state.gone.insert(ticket)
                return nil
            }
            continuation?.resume(returning: nil)
        }
    }

    private func land(_ value: Value) {
        let waiting = state.withLock { state in
            state.isFlying = false
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }
}
