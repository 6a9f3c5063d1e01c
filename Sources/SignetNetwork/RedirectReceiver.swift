import Synchronization

/// Where one answer is left that comes back from a browser, and where somebody waits for it: a port of this machine brings it, or the
/// app, which is handed a link of its own scheme.
package final class RedirectReceiver: Sendable {
    /// Why there is no answer.
    package enum Failure: Error, Sendable, Hashable {
        case timeout
        case cancelled
    }

    private let state = Mutex(State())

    private struct State {
        var isOurs: (@Sendable (String) -> Bool)?
        var isTaken = false
        var query: String?
        var isGone = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    package init() {}

    /// The query of the first answer that is accepted, while `open` sends the browser on its way.
    /// - Throws: ``Failure``, and what `open` throws.
    package func answer(
        within patience: Duration, accepting isOurs: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        state.withLock { $0.isOurs = isOurs }
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await open()
                return nil
            }
            group.addTask { try await self.answer() }
            group.addTask {
                try await Task.sleep(for: patience)
                throw Failure.timeout
            }
            defer { group.cancelAll() }
            do {
                while let outcome = try await group.next() { if let query = outcome { return query } }
            } catch is CancellationError {
                throw Failure.cancelled
            }
            throw Failure.cancelled
        }
    }

    /// Leaves an answer. Whether it is the one that is waited for: the first that is.
    package func leave(_ query: String) -> Bool {
        guard take(query) else { return false }
        deliver(query)
        return true
    }

    /// The first half of ``leave(_:)``.
    func take(_ query: String) -> Bool {
        state.withLock { state in
            guard state.isOurs?(query) == true, !state.isTaken, !state.isGone else { return false }
            state.isTaken = true
            return true
        }
    }

    /// The second half, for who has to answer the visitor in between: the program may end as soon as it has the query.
    func deliver(_ query: String) {
        let waiting = state.withLock { state in
            state.query = query
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: query)
    }

    private func answer() async throws -> String {
        let query = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: String?? = state.withLock { state in
                    if state.query != nil || state.isGone { return .some(state.query) }
                    state.waiting = continuation
                    return .none
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.isGone = true
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: nil)
        }
        guard let query else { throw CancellationError() }
        return query
    }
}
