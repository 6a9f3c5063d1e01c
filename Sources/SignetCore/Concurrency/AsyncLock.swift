import Synchronization

/// One at a time, first come first served, for work that suspends: an actor lets the next caller in at each `await`, this does
/// not. Who takes a turn passes it on, whatever happens.
package final class Turns: Sendable {
    private let line = Mutex(Line())

    package init() {}

    /// Waits for the turn. A task that is cancelled keeps its place.
    package func take() async {
        if line.withLock({ $0.enter() }) { return }
        await withCheckedContinuation { continuation in
            // The turn may have come free meanwhile.
            let isOurs = line.withLock { line in
                let isOurs = line.enter()
                if !isOurs { line.newcomers.append(continuation) }
                return isOurs
            }
            if isOurs { continuation.resume() }
        }
    }

    /// Ends the turn; it is the next one's.
    package func pass() {
        line.withLock { $0.next() }?.resume()
    }

    private struct Line {
        var isTaken = false
        var newcomers: [CheckedContinuation<Void, Never>] = []
        /// Those who wait longest, in the opposite order: to take one from the end does not move the others.
        var first: [CheckedContinuation<Void, Never>] = []

        mutating func enter() -> Bool {
            if isTaken { return false }
            isTaken = true
            return true
        }

        mutating func next() -> CheckedContinuation<Void, Never>? {
            if first.isEmpty {
                first = newcomers.reversed()
                newcomers = []
            }
            if first.isEmpty { isTaken = false }
            return first.popLast()
        }
    }
}
