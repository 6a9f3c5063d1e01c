/// A device's open stream. It holds no messages: a signal says that there may be some, and the stream then takes them from the
/// mailbox, after the last one it sent. However slow the device reads, one signal is all that can pile up.
struct DeskSubscription: Sendable {
    let id: UInt64
    let mechanismUID: String
    let signals: AsyncStream<Void>
    fileprivate let continuation: AsyncStream<Void>.Continuation

    /// Says that there may be messages, or that it is time for a sign of life.
    func wake() { continuation.yield() }

    /// Ends the stream.
    func end() { continuation.finish() }
}

/// The streams that are open, by mechanism.
struct StreamRegistry: Sendable {
    /// The most streams of one mechanism. One more ends the oldest: it may be that of a device that vanished.
    static let streamsPerMechanism = 8

    private var streams: [String: [DeskSubscription]] = [:]
    private var lastID: UInt64 = 0

    func count(_ mechanismUID: String) -> Int { streams[mechanismUID]?.count ?? 0 }

    /// Opens a stream that is awake from the start.
    mutating func open(_ mechanismUID: String) -> DeskSubscription {
        lastID += 1
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = DeskSubscription(id: lastID, mechanismUID: mechanismUID, signals: signals, continuation: continuation)
        var open = streams[mechanismUID] ?? []
        if open.count >= Self.streamsPerMechanism { open.removeFirst().end() }
        streams[mechanismUID] = open + [subscription]
        subscription.wake()
        return subscription
    }

    mutating func close(_ subscription: DeskSubscription) {
        subscription.end()
        streams[subscription.mechanismUID]?.removeAll { $0.id == subscription.id }
        if streams[subscription.mechanismUID]?.isEmpty == true { streams[subscription.mechanismUID] = nil }
    }

    /// Wakes every stream of a mechanism: each of them gets each message.
    func wake(_ mechanismUID: String) {
        for stream in streams[mechanismUID] ?? [] { stream.wake() }
    }

    /// Ends the streams of a mechanism that no longer exists.
    mutating func endAll(_ mechanismUID: String) {
        for stream in streams.removeValue(forKey: mechanismUID) ?? [] { stream.end() }
    }
}
