/// The fault `replayed-push` of one push stream: it delivers messages again that no longer wait for an answer, each once.
struct MessageReplay: Sendable {
    /// The maximum number of messages that are remembered.
    static let memory = 16

    /// The last messages that the device received, oldest first.
    private var delivered: [PushMessageRecord] = []
    /// The IDs of those that were replayed.
    private var replayed: Set<String> = []
    /// The highest event ID of the stream.
    ///
    /// A replayed event uses it, because the IDs of a stream never decrease.
    private var lastID: UInt64
    /// True when the messages that the device received before the stream was opened have been added.
    private(set) var hasEarlier = false

    /// Creates the replay for a stream.
    /// - Parameter last: The last event that the device received before the stream was opened.
    init(after last: UInt64?) { lastID = last ?? 0 }

    /// The messages that have not been replayed, oldest first.
    var candidates: [PushMessageRecord] { delivered.filter { !replayed.contains($0.messageID) } }

    /// Adds the messages that the stream delivers now.
    mutating func remember(_ pushes: [PushMessageRecord]) {
        guard !pushes.isEmpty else { return }
        delivered = (delivered + pushes).suffix(Self.memory)
        replayed.formIntersection(delivered.map(\.messageID))
        lastID = max(lastID, pushes.map(\.eventID).max() ?? 0)
    }

    /// Adds the messages that the device received before the stream was opened, once.
    mutating func remember(earlier: [PushMessageRecord]) {
        let known = Set(delivered.map(\.messageID))
        delivered = (earlier.filter { !known.contains($0.messageID) } + delivered).suffix(Self.memory)
        hasEarlier = true
    }

    /// Delivers messages again, as long as the fault can be used.
    /// - Parameters:
    ///   - pushes: Those of ``candidates`` that no longer wait for an answer.
    ///   - fault: The fault.
    ///   - table: The table that counts the uses of the fault.
    /// - Returns: The events to send.
    mutating func replay(
        _ pushes: [PushMessageRecord], by fault: FaultTable.Entry, in table: FaultTable
    ) -> [FaultedDelivery.Event] {
        var events: [FaultedDelivery.Event] = []
        for push in pushes where !replayed.contains(push.messageID) {
            guard table.take(fault) else { break }
            replayed.insert(push.messageID)
            events.append(FaultedDelivery.Event(push: push, id: lastID, faults: [fault.rule.name]))
        }
        return events
    }
}
