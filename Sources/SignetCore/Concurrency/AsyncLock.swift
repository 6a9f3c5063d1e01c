/// A lock that a task holds across suspensions.
///
/// Waiting tasks acquire it in the order of their requests.
///
/// An actor runs other callers during each `await`. This lock keeps them waiting until it is released.
package final class AsyncLock: Sendable {
    private let queue = Mutex(Queue())

    package init() {}

    /// Waits until the caller holds the lock.
    ///
    /// A canceled task keeps its place in the queue.
    package func lock() async {
        if queue.withLock({ $0.acquire() }) { return }
        await withCheckedContinuation { continuation in
            // The lock may have been released since the first attempt.
            let isAcquired = queue.withLock { queue in
                let isAcquired = queue.acquire()
                if !isAcquired { queue.newest.append(continuation) }
                return isAcquired
            }
            if isAcquired { continuation.resume() }
        }
    }

    /// Waits until the caller holds the lock, at most for `limit`.
    ///
    /// Returns false when the caller does not hold the lock. A canceled task keeps its place in the queue until the limit.
    package func lock(within limit: Duration) async -> Bool {
        // The late operation gets the lock when it is free, and passes it on.
        await withTimeout(limit, late: { self.unlock() }, { await self.lock() }) != nil
    }

    /// Releases the lock and passes it to the first waiting task.
    package func unlock() {
        queue.withLock { $0.release() }?.resume()
    }

    private struct Queue {
        var isLocked = false
        var newest: [CheckedContinuation<Void, Never>] = []
        /// The tasks that have waited longest, in reverse order, so that removing the first one does not move the others.
        var oldest: [CheckedContinuation<Void, Never>] = []

        mutating func acquire() -> Bool {
            if isLocked { return false }
            isLocked = true
            return true
        }

        mutating func release() -> CheckedContinuation<Void, Never>? {
            if oldest.isEmpty {
                oldest = newest.reversed()
                newest = []
            }
            if oldest.isEmpty { isLocked = false }
            return oldest.popLast()
        }
    }
}
