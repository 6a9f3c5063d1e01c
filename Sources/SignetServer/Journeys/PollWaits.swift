import Foundation
import SignetCore

/// A wait that a poll has continued without changing the journey.
struct PolledWait: Sendable, Hashable {
    /// The one-time key of the step, which stays the same.
    let key: String
    let wait: PollingWait
    /// The time at which the journey expires.
    let end: Date
}

/// The present waits of clients that poll, in the memory of a process that has its state for itself.
///
/// A poll that shows the same step again changes only the time of the next poll and the number of early polls. They are kept here,
/// so that a poll writes nothing: ten thousand clients that wait for their devices would make every other request wait for the
/// disk. After a restart the wait is the stored one, which the client began with. When the table is full, the poll is stored.
final class PollWaits: Sendable {
    private struct Waits: Sendable {
        var entries: [String: PolledWait] = [:]
        var nextSweep = 1024
    }

    /// The maximum number of waits, which is that of journeys.
    private static let capacity = RowKind.journey.capacity
    private let waits = Mutex(Waits())

    /// Returns the wait of the step with a one-time key; nil when the stored one is valid.
    subscript(key: String) -> PollingWait? { waits.withLock { $0.entries[key]?.wait } }

    /// Returns true when the wait of a step can be kept.
    func hasRoom(for key: String) -> Bool { waits.withLock { $0.entries.count < Self.capacity || $0.entries[key] != nil } }

    /// Keeps a wait.
    ///
    /// Waits of journeys that have expired are removed from time to time.
    func keep(_ wait: PolledWait, at now: Date) {
        waits.withLock { waits in
            if waits.entries.count >= waits.nextSweep, waits.entries[wait.key] == nil {
                waits.entries = waits.entries.filter { now < $0.value.end }
                waits.nextSweep = max(1024, min(Self.capacity, waits.entries.count * 2))
            }
            waits.entries[wait.key] = wait
        }
    }
}

/// A step that a client polls, as it is stored.
struct PolledStep: Sendable {
    let journey: JourneyState
    /// The handle that the client has sent.
    let authID: String
}

extension JourneyState {
    /// True when the journey waits for a poll of the client.
    var isPolled: Bool {
        if case .waiting = memory { true } else { false }
    }

    /// Returns true when the journey asks the same as before, and only its wait is another one.
    func continuesWait(of before: JourneyState) -> Bool {
        guard isPolled, before.isPolled else { return false }
        var same = self
        same.memory = before.memory
        return same == before
    }
}
