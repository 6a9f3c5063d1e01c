import SignetCore

/// Receives one answer that comes back from a browser, and passes it to the task that waits for it.
///
/// The answer comes through a loopback port, or through the app, which the system gives a link with the app's own scheme.
package final class RedirectReceiver: Sendable {
    /// The reasons for a missing answer.
    package enum Failure: Error, Sendable, Hashable {
        case timeout
        case cancelled
    }

    private let state = Mutex(State())

    private struct State {
        var isExpected: (@Sendable (String) -> Bool)?
        var isTaken = false
        var refusedCount = 0
        var query: String?
        var isGone = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    package init() {}

    /// The number of answers that were refused because they are not the expected one.
    ///
    /// It contains nothing of the answers themselves, which may come from another program.
    package var refusedCount: Int { state.withLock { $0.refusedCount } }

    /// Runs `open`, which starts the browser, and waits for the first answer that is accepted.
    /// - Parameters:
    ///   - timeout: The timeout for the answer.
    ///   - clock: The clock for the timeout.
    ///   - isExpected: A closure that returns true for the expected answer.
    ///   - open: A closure that opens the browser.
    /// - Returns: The query of the answer.
    /// - Throws: ``Failure``, and any error of `open`.
    package func answer(
        within timeout: Duration, on clock: any Clock<Duration> = ContinuousClock(),
        accepting isExpected: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        state.withLock { $0.isExpected = isExpected }
        do {
            let query = try await withTimeout(
                timeout, on: clock, undoing: { _ in }, { try await self.answer(whileOpening: open) })
            guard let query else { throw Failure.timeout }
            return query
        } catch is CancellationError {
            throw Failure.cancelled
        }
    }

    private func answer(whileOpening open: @escaping @Sendable () async throws -> Void) async throws -> String {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await open()
                return nil
            }
            group.addTask { try await self.answer() }
            defer { group.cancelAll() }
            while let outcome = try await group.next() { if let query = outcome { return query } }
            throw CancellationError()
        }
    }

    /// Delivers an answer.
    ///
    /// Returns true if it is the first that is accepted.
    package func leave(_ query: String) -> Bool {
        guard take(query) else { return false }
        deliver(query)
        return true
    }

    /// Performs the first half of ``leave(_:)``: claims the answer.
    ///
    /// Returns true if it is the first that is accepted.
    func take(_ query: String) -> Bool {
        state.withLock { state in
            guard let isExpected = state.isExpected, !state.isTaken, !state.isGone else { return false }
            guard isExpected(query) else {
                state.refusedCount += 1
                return false
            }
            state.isTaken = true
            return true
        }
    }

    /// Counts an answer that can't be read as a refused one.
    func refuse() { state.withLock { $0.refusedCount += 1 } }

    /// Performs the second half of ``leave(_:)``: resumes the waiting task.
    ///
    /// Between the two halves a caller can send its response to the browser, because the program may end as soon as it has the
    /// query.
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
