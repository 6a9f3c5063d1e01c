import SignetCore

/// The messages that a listener has received, by their ids at the server, to tell which of them have ended there.
struct ReceivedMessages: Sendable {
    /// The record of each message, and the turn in which it was received.
    private var records: [String: (id: String, turn: Int)] = [:]
    private var turn = 0

    /// The maximum number of messages that are remembered, twice what an inbox of a server holds.
    ///
    /// The oldest are forgotten.
    static let capacity = 128

    /// Adds a message that waits for an answer.
    mutating func add(_ notification: PushNotification) {
        turn += 1
        records[notification.messageID] = (notification.id, turn)
        guard records.count > Self.capacity, let oldest = records.min(by: { $0.value.turn < $1.value.turn }) else { return }
        records[oldest.key] = nil
    }

    /// Removes the messages that a server does not list any more.
    /// - Parameter waiting: The ids at the server of all messages that wait there.
    /// - Returns: The ids of the removed messages' records, in the order in which they were received.
    mutating func removeAll(except waiting: Set<String>) -> [String] {
        let ended = records.filter { !waiting.contains($0.key) }
        for messageID in ended.keys { records[messageID] = nil }
        return ended.values.sorted { $0.turn < $1.turn }.map(\.id)
    }
}
