/// The messages of one mechanism that wait for an answer, all of them, as a push stream lists them (docs/protocol/push-stream.md).
///
/// A message that a device has received and that is missing here has ended at the server. The list is not signed: a device closes
/// what it shows of such a message, and neither stores nor decides anything by it.
package struct WaitingPushMessages: Sendable, Hashable {
    /// The server's ids of the messages.
    package var messageIDs: Set<String>

    /// The name of the events that carry such a list.
    package static let eventName = "waiting"

    /// Creates a list of message ids.
    package init(_ messageIDs: some Sequence<String>) { self.messageIDs = Set(messageIDs) }
}

extension WaitingPushMessages: JSONObject {
    package var members: [String: JSONValue] { ["messageIds": .array(messageIDs.sorted().map { .string($0) })] }

    package init(_ members: JSONMembers) throws {
        guard let list = members["messageIds"]?.array else { throw PushMessageError.claim("messageIds") }
        let ids = list.compactMap(\.string)
        // A list with a part that cannot be read is not complete.
        guard ids.count == list.count else { throw PushMessageError.claim("messageIds") }
        self.init(ids)
    }
}
