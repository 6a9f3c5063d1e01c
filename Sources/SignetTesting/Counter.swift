import Synchronization

/// A counter that any thread can increment.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock { $0 } }
    package func add() { value.withLock { $0 += 1 } }
}
