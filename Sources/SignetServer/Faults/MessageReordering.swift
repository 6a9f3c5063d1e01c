/// The fault `reordering` of one push stream: it swaps two consecutive messages.
struct MessageReordering: Sendable {
    /// The event that is held back until the next message arrives, and the fault that holds it back.
    private var held: (event: FaultedDelivery.Event, fault: FaultTable.Entry)?

    /// The message that is held back; nil when none is.
    var heldMessage: PushMessageRecord? { held?.event.push }

    /// Returns true while the fault that holds the message back lasts.
    ///
    /// A fault with a count lasts until it has swapped the message: its last use was counted when the message was held back.
    func lasts(among faults: [FaultTable.Entry]) -> Bool {
        guard let held else { return false }
        if case .times = held.fault.rule.extent { return true }
        return faults.contains { $0.rule == held.fault.rule }
    }

    /// Returns the events in the order in which they are sent.
    ///
    /// A held event comes last. Without one, the first event is moved to the end, or held back when it is the only one; this uses
    /// one of the times of a fault.
    mutating func reorder(
        _ events: [FaultedDelivery.Event], by faults: [FaultTable.Entry], in table: FaultTable
    ) -> [FaultedDelivery.Event] {
        if let event = held?.event {
            held = nil
            return events + [event]
        }
        guard let first = events.first,
            let fault = faults.first(where: { $0.rule.kind == .reordering && table.take($0) })
        else { return events }
        let moved = first.with(fault)
        if events.count == 1 {
            held = (moved, fault)
            return []
        }
        return events.dropFirst() + [moved]
    }
}
