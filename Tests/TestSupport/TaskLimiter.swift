/// Admits a limited number of tasks at a time: a hundred processes at once would only time each other out.
package actor TaskLimiter {
    private var available: Int
    private var queue: [CheckedContinuation<Void, Never>] = []

    /// Creates a limiter.
    /// - Parameter available: The number of tasks that are admitted at a time.
    package init(available: Int) { self.available = available }

    /// Runs `body` when fewer tasks than the limit run.
    package nonisolated(nonsending) func pass<R>(_ body: () async throws -> R) async rethrows -> R {
        await enter()
        do {
            let value = try await body()
            await leave()
            return value
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        if available > 0 {
            available -= 1
        } else {
            await withCheckedContinuation { queue.append($0) }
        }
    }

    private func leave() {
        if queue.isEmpty { available += 1 } else { queue.removeFirst().resume() }
    }
}
