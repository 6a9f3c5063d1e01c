/// A number that any thread can change.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock { $0 } }

    /// Adds a number, which may be negative, and returns the sum.
    @discardableResult
    package func add(_ number: Int = 1) -> Int {
        value.withLock {
            $0 += number
            return $0
        }
    }
}
