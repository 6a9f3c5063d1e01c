/// The events that a push stream sends, after its delivery faults.
///
/// Each stream has its own. It reads the state of the messages; ``MessageReordering`` and ``MessageReplay`` have the rules.
struct FaultedDelivery: Sendable {
    /// A message as an event of the stream.
    struct Event: Sendable {
        let push: PushMessageRecord
        /// The event ID.
        let id: UInt64
        var faults: [String] = []

        /// Returns the event with the name of one more fault.
        func with(_ fault: FaultTable.Entry) -> Event { Event(push: push, id: id, faults: faults + [fault.rule.name]) }
    }

    private let server: ServerContext
    private let mechanismUID: String
    private let path: String
    private let client: RequestLogEntry.Client
    private var reordering = MessageReordering()
    private var replay: MessageReplay

    /// Creates the delivery of one stream.
    /// - Parameters:
    ///   - server: The server, whose faults apply.
    ///   - mechanismUID: The mechanism whose messages the stream carries.
    ///   - last: The last event that the device received before the stream was opened.
    ///   - path: The path of the stream's request, below the context path.
    ///   - client: The client that holds the stream open.
    init(server: ServerContext, mechanismUID: String, after last: UInt64?, path: String, client: RequestLogEntry.Client) {
        self.server = server
        self.mechanismUID = mechanismUID
        self.path = path
        self.client = client
        replay = MessageReplay(after: last)
    }

    /// Returns the events to send for new messages.
    ///
    /// The array may be empty, because faults can send earlier messages.
    mutating func events(for pushes: [PushMessageRecord]) async throws -> [Event] {
        let events = pushes.map { Event(push: $0, id: $0.eventID) }
        guard !server.faults.isIdle || reordering.heldMessage != nil else {
            replay.remember(pushes)
            return events
        }
        let faults = server.faults.candidates {
            $0.kind.isOfDeliveries && $0.route.matches(.pushStream, path) && ($0.client?.matches(client) ?? true)
        }
        let ordered = try await reordered(events, faults)
        let delivered = duplicated(ordered, faults)
        // A replayed event uses the newest event ID, so the new messages are remembered first.
        replay.remember(pushes)
        let replays = try await self.replays(faults)
        return delivered + replays
    }

    private mutating func reordered(_ events: [Event], _ faults: [FaultTable.Entry]) async throws -> [Event] {
        // A message stays held back while no other one has arrived, the fault lasts, and the message waits for an answer.
        if events.isEmpty, let message = reordering.heldMessage, reordering.lasts(among: faults) {
            let waiting = try await self.waiting([message])
            if !waiting.isEmpty { return [] }
        }
        return reordering.reorder(events, by: faults, in: server.faults)
    }

    private func duplicated(_ events: [Event], _ faults: [FaultTable.Entry]) -> [Event] {
        var events = events
        for fault in faults where fault.rule.kind == .duplicateDelivery {
            events = events.flatMap { event in server.faults.take(fault) ? [event, event.with(fault)] : [event] }
        }
        return events
    }

    private mutating func replays(_ faults: [FaultTable.Entry]) async throws -> [Event] {
        let faults = faults.filter { $0.rule.kind == .replayedPush }
        guard !faults.isEmpty else { return [] }
        if !replay.hasEarlier {
            let earlier = try await server.store.read { [mechanismUID] tx in
                try tx.pushes.finished(for: mechanismUID, MessageReplay.memory)
            }
            replay.remember(earlier: earlier)
        }
        let candidates = replay.candidates
        let waiting = try await self.waiting(candidates)
        let finished = candidates.filter { !waiting.contains($0.messageID) }
        var events: [Event] = []
        for fault in faults { events += replay.replay(finished, by: fault, in: server.faults) }
        return events
    }

    /// Returns the IDs of the messages that still wait for an answer.
    private func waiting(_ pushes: [PushMessageRecord]) async throws -> Set<String> {
        try await server.store.read { tx in
            var waiting: Set<String> = []
            for push in pushes {
                let state = try tx.pushes.entry(push.messageID)?.state
                if state == .waiting, tx.now < push.deadline { waiting.insert(push.messageID) }
            }
            return waiting
        }
    }
}
