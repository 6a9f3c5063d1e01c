/// The events that a push stream sends, after its delivery faults.
///
/// Each stream has its own.
struct FaultedDelivery: Sendable {
    /// A message as an event of the stream.
    struct Event: Sendable {
        let push: PendingPush
        /// The event ID.
        let id: UInt64
        var faults: [String] = []

        /// Returns the event with the name of one more fault.
        func with(_ fault: FaultTable.Entry) -> Event { Event(push: push, id: id, faults: faults + [fault.rule.name]) }
    }

    /// The maximum number of messages that are remembered for replay.
    private static let memory = 16

    private let server: ServerContext
    private let mechanismUID: String
    private let path: String
    private let client: RequestLogEntry.Client
    /// The message that is held back until the next one, and the fault that holds it back.
    private var held: (event: Event, fault: FaultTable.Entry)?
    private var delivered: [PendingPush] = []
    private var knowsEarlier = false
    private var replayed: Set<String> = []
    private var lastID: UInt64

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
        lastID = last ?? 0
        self.path = path
        self.client = client
    }

    /// Returns the events to send for new messages.
    ///
    /// The array may be empty, because faults can send earlier messages.
    mutating func events(for pushes: [PendingPush]) async throws -> [Event] {
        var events = pushes.map { Event(push: $0, id: $0.eventID) }
        guard !server.faults.isIdle || held != nil else {
            remember(pushes)
            return events
        }
        let faults = server.faults.candidates {
            $0.kind.isOfDeliveries && $0.route.matches(.pushStream, path) && ($0.client?.matches(client) ?? true)
        }
        events = try await ordered(events, faults)
        for fault in faults where fault.rule.kind == .duplicateDelivery {
            events = events.flatMap { event in server.faults.take(fault) ? [event, event.with(fault)] : [event] }
        }
        // Remember the messages first, because a replayed event uses the newest event ID: the IDs of a stream never decrease.
        remember(pushes)
        for fault in faults where fault.rule.kind == .replayedPush { events += try await replays(fault) }
        return events
    }

    private mutating func remember(_ pushes: [PendingPush]) {
        guard !pushes.isEmpty else { return }
        delivered = (delivered + pushes).suffix(Self.memory)
        replayed.formIntersection(delivered.map(\.messageID))
        lastID = max(lastID, pushes.map(\.eventID).max() ?? 0)
    }

    /// Adds the messages that the device received before this stream was opened.
    private mutating func rememberEarlier() async throws {
        guard !knowsEarlier else { return }
        let known = Set(delivered.map(\.messageID))
        let earlier = try await server.store.read { [mechanismUID] tx in
            try tx.pushes.finished(for: mechanismUID, Self.memory)
        }
        delivered = (earlier.filter { !known.contains($0.messageID) } + delivered).suffix(Self.memory)
        knowsEarlier = true
    }

    /// Swaps two consecutive messages.
    private mutating func ordered(_ events: [Event], _ faults: [FaultTable.Entry]) async throws -> [Event] {
        let reorderings = faults.filter { $0.rule.kind == .reordering }
        if let (event, fault) = held {
            // Release the held message when another one has arrived, or when the fault is no longer on.
            let isCounted = if case .times = fault.rule.extent { true } else { false }
            let isWanted = isCounted || reorderings.contains { $0.rule == fault.rule }
            if events.isEmpty, isWanted, try await isWaiting(event.push) { return [] }
            held = nil
            return events + [event]
        }
        guard let first = events.first, let fault = reorderings.first(where: { server.faults.take($0) }) else { return events }
        guard events.count > 1 else {
            held = (first.with(fault), fault)
            return []
        }
        return events.dropFirst() + [first.with(fault)]
    }

    private func isWaiting(_ push: PendingPush) async throws -> Bool {
        try await server.store.read { tx in
            try tx.pushes.entry(push.messageID)?.state == .waiting && tx.now < push.deadline
        }
    }

    /// Returns the messages that no longer wait for an answer, each once.
    private mutating func replays(_ fault: FaultTable.Entry) async throws -> [Event] {
        try await rememberEarlier()
        var events: [Event] = []
        for push in delivered where !replayed.contains(push.messageID) {
            if try await isWaiting(push) { continue }
            guard server.faults.take(fault) else { break }
            replayed.insert(push.messageID)
            events.append(Event(push: push, id: lastID, faults: [fault.rule.name]))
        }
        return events
    }
}
