/// A flag that one thread sets and other threads read.
package final class Latch: Sendable {
    private let value = Mutex(false)

    package init() {}

    package var isSet: Bool { value.withLock { $0 } }

    /// Sets the flag, which cannot be cleared.
    package func set() { value.withLock { $0 = true } }
}
