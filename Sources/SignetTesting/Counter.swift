import Synchronization

/// A counter that any thread can increase.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock { $0 } }
    package func add(_ number: Int = 1) { value.withLock { $0 += number } }
}
