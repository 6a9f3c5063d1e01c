import SignetCore

/// A thread-safe switch that a test turns on and off.
package final class Toggle: Sendable {
    private let state = Mutex(false)

    package init() {}

    package var isOn: Bool { state.withLock { $0 } }
    package func turnOn() { state.withLock { $0 = true } }
    package func turnOff() { state.withLock { $0 = false } }
}
