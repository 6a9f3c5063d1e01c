import Synchronization

/// A flag that one thread sets and other threads read.
final class Latch: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
