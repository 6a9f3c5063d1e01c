import Synchronization

/// A switch that a test turns on while others look at it.
final class Toggle: Sendable {
    private let state = Mutex(false)
    var isOn: Bool { state.withLock { $0 } }
    func turnOn() { state.withLock { $0 = true } }
    func turnOff() { state.withLock { $0 = false } }
}
