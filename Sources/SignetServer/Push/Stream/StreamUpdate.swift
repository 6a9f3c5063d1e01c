import SignetCore

/// The content that a stream sends to its device at one time.
struct StreamUpdate<Event: StreamEvent>: Sendable {
    var events: [Event]
    /// All messages that wait for an answer; nil when the device need not be told, or the server does not know.
    var waiting: WaitingPushMessages?

    /// The messages as server-sent events, and the list after them.
    ///
    /// Without both, it is an SSE comment, which keeps the connection alive. The list has no id: a device that connects again gets
    /// a new one.
    var text: String {
        var events = events.map { event in
            ServerSentEvent(id: String(event.id), name: PushStreamProof.eventName, data: JSON.text(of: event.delivery))
        }
        if let waiting { events.append(ServerSentEvent(name: WaitingPushMessages.eventName, data: JSON.text(of: waiting))) }
        return events.isEmpty ? ":\n\n" : events.map(\.encoded).joined()
    }
}
