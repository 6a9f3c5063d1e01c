import SignetCore

/// An open stream of a device.
///
/// It holds no messages. A signal means that there may be new messages, and the stream then reads those after the last one that
/// it sent from the inbox. At most one signal is buffered, however slowly the device reads.
struct PushStreamSubscription: Sendable {
    let id: UInt64
    let mechanismUID: String
    let signals: AsyncStream<Void>
    fileprivate let continuation: AsyncStream<Void>.Continuation

    /// Signals that there may be messages, or that it is time for a keep-alive comment.
    func wake() { continuation.yield() }

    /// Ends the stream.
    func end() { continuation.finish() }
}

/// The messages that servers with the same state send to each other.
enum ClusterMessage: Sendable, Hashable {
    case wake(String)
    case wakeAllStreams
    case endStreams(String)
    case endAllStreams
    /// Wakes the streams of an inbox of the push gateway.
    case wakeInbox(String)
    case endInbox(String)
    case clock
    /// The keys that sign tokens have changed.
    case keys

    var text: String {
        switch self {
        case .wake(let mechanismUID): "wake \(mechanismUID)"
        case .wakeAllStreams: "wake"
        case .endStreams(let mechanismUID): "end \(mechanismUID)"
        case .endAllStreams: "end"
        case .wakeInbox(let address): "wake-inbox \(address)"
        case .endInbox(let address): "end-inbox \(address)"
        case .clock: "clock"
        case .keys: "keys"
        }
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.dropFirst().first) {
        case ("wake", let mechanismUID?): self = .wake(String(mechanismUID))
        case ("wake", nil): self = .wakeAllStreams
        case ("end", let mechanismUID?): self = .endStreams(String(mechanismUID))
        case ("end", nil): self = .endAllStreams
        case ("wake-inbox", let address?): self = .wakeInbox(String(address))
        case ("end-inbox", let address?): self = .endInbox(String(address))
        case ("clock", nil): self = .clock
        case ("keys", nil): self = .keys
        default: return nil
        }
    }
}

/// The streams that this process keeps open, by the name of what they carry.
///
/// Mechanisms and inboxes have separate registries, because a device chooses the id of its mechanism and could choose the address
/// of an inbox.
final class PushStreams: Sendable {
    enum Names: Sendable, Hashable {
        case mechanisms
        case inboxes
    }

    private struct Registry: Sendable {
        var streams: [String: [PushStreamSubscription]] = [:]
        var lastID: UInt64 = 0
    }

    /// The maximum number of streams of one mechanism.
    ///
    /// When one more is opened, the oldest ends, because its device may have disconnected without notice.
    static let streamsPerMechanism = 8

    private let names: Names
    private let registry = Mutex(Registry())

    init(of names: Names = .mechanisms) { self.names = names }

    func count(_ mechanismUID: String) -> Int { registry.withLock { $0.streams[mechanismUID]?.count ?? 0 } }

    /// Opens a stream.
    ///
    /// It is woken immediately.
    func open(_ mechanismUID: String) -> PushStreamSubscription {
        registry.withLock { registry in
            registry.lastID += 1
            let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let subscription = PushStreamSubscription(
                id: registry.lastID, mechanismUID: mechanismUID, signals: signals, continuation: continuation)
            var open = registry.streams[mechanismUID] ?? []
            if open.count >= Self.streamsPerMechanism { open.removeFirst().end() }
            registry.streams[mechanismUID] = open + [subscription]
            subscription.wake()
            return subscription
        }
    }

    func close(_ subscription: PushStreamSubscription) {
        subscription.end()
        registry.withLock { registry in
            let open = (registry.streams[subscription.mechanismUID] ?? []).filter { $0.id != subscription.id }
            registry.streams[subscription.mechanismUID] = open.isEmpty ? nil : open
        }
    }

    /// Wakes the streams of a mechanism, or all streams when it is nil.
    ///
    /// Each of them gets each message.
    func wake(_ mechanismUID: String?) {
        for stream in streams(of: mechanismUID) { stream.wake() }
    }

    /// Ends the streams of a mechanism that no longer exists, or all streams when it is nil.
    func end(_ mechanismUID: String?) {
        for stream in streams(of: mechanismUID) { close(stream) }
    }

    private func streams(of mechanismUID: String?) -> [PushStreamSubscription] {
        registry.withLock { registry in
            mechanismUID.map { registry.streams[$0] ?? [] } ?? Array(registry.streams.values.joined())
        }
    }

    /// Handles a message from another server.
    ///
    /// A nil text means that messages may have been lost; all streams are then woken.
    func receive(_ text: String?) {
        guard let text else { return wake(nil) }
        switch (names, ClusterMessage(text)) {
        case (.mechanisms, .wake(let name)), (.inboxes, .wakeInbox(let name)): wake(name)
        case (.mechanisms, .endStreams(let name)), (.inboxes, .endInbox(let name)): end(name)
        case (_, .wakeAllStreams): wake(nil)
        case (_, .endAllStreams): end(nil)
        default: break
        }
    }
}
