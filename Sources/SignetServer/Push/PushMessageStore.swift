import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The store of the messages that were sent, with an inbox for each mechanism. The inbox lists the messages that still wait for
/// an answer.
struct PushMessageStore {
    /// The maximum number of messages that wait for one mechanism. A login that would exceed it fails, because messages that were
    /// sent are never discarded to make room.
    static let inboxCapacity = 64

    /// The metadata of a mechanism's inbox, which is stored apart from its messages.
    struct Inbox: Codable, Sendable {
        var messageIDs: [String] = []
        var lastEventID: UInt64 = 0
    }

    /// The time in seconds for which an inbox without messages remembers the id of its last event.
    private static let memory = 86_400.0

    private var pushes: Table<String, PendingPush>
    private var inboxes: Table<String, Inbox>

    init(_ transaction: RowCache) {
        pushes = Table(.push, transaction)
        inboxes = Table(.inbox, transaction)
    }

    func entry(_ messageID: String, at now: Date) -> PendingPush? {
        pushes.value(for: messageID, at: now)
    }

    /// Returns the messages with the latest expiry, answered ones included, at most `limit`.
    func newest(_ limit: Int, at now: Date) -> [PendingPush] { pushes.newest(limit, at: now).map(\.value) }

    /// Returns true when a message can be added without losing another one.
    mutating func hasRoom(for mechanismUID: String, at now: Date) -> Bool {
        retained(for: mechanismUID, after: nil, at: now).count < Self.inboxCapacity && !pushes.isFull(at: now)
    }

    /// Adds a message. The store remembers it until `end`, so that a login that polls late still finds the answer.
    mutating func add(_ push: PendingPush, until end: Date, at now: Date) {
        var push = push
        let inbox = inboxes.value(for: push.mechanismUID, at: now) ?? Inbox()
        let readable = Set(retained(for: push.mechanismUID, after: nil, at: now).map(\.messageID))
        // Rows that a later version of the server wrote cannot be read here. They stay in the inbox.
        let waiting = inbox.messageIDs.filter { readable.contains($0) || pushes.isBroken($0) }
        let last = inbox.lastEventID
        // Event ids are derived from the time, so that they still increase after the inbox was forgotten. Otherwise a device
        // would ignore a new message as one that it has already received.
        push.eventID = max(last + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
        pushes.insert(push, for: push.messageID, until: end)
        inboxes.insert(
            Inbox(messageIDs: waiting + [push.messageID], lastEventID: push.eventID), for: push.mechanismUID,
            until: end.addingTimeInterval(Self.memory))
    }

    /// Returns the messages that wait for an answer, oldest first: those after the event `last`. It returns all of them when
    /// `last` is nil or is an id that this server has not sent yet.
    func retained(for mechanismUID: String, after last: UInt64?, at now: Date) -> [PendingPush] {
        guard let inbox = inboxes.value(for: mechanismUID, at: now) else { return [] }
        let start = last.map { $0 <= inbox.lastEventID ? $0 : 0 } ?? 0
        return pushes.values(for: inbox.messageIDs, at: now)
            .filter { $0.state == .waiting && now < $0.deadline && $0.eventID > start }
    }

    /// The number of messages that ``settled(for:_:at:)`` searches.
    private static let settledLookedThrough = 1000

    /// Returns the newest messages that were answered or have expired, at most `limit`, oldest first. No inbox lists them any
    /// more, so the method searches the newest messages of all mechanisms. Fault injection uses it.
    func settled(for mechanismUID: String, _ limit: Int, at now: Date) -> [PendingPush] {
        newest(Self.settledLookedThrough, at: now)
            .filter { $0.mechanismUID == mechanismUID && !($0.state == .waiting && now < $0.deadline) }
            .sorted { $0.eventID < $1.eventID }.suffix(limit)
    }

    /// Returns the ids of all messages in an inbox, including those that cannot be read.
    func named(for mechanismUID: String, at now: Date) -> [String] {
        inboxes.value(for: mechanismUID, at: now)?.messageIDs ?? []
    }

    /// Takes a device's answer. Only the first valid answer counts.
    /// - Throws: ``PushResponseError`` when the message is unknown or the answer is not valid.
    mutating func answer(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushResponseError) -> PendingPush.State {
        guard entry(body.messageId, at: now)?.realm == realm else { throw .unknownMessage }
        let verdict = pushes.update(body.messageId, at: now) { push in
            Result { () throws(PushResponseError) in try push.take(body.jwt, at: now) }
        }
        guard let verdict else { throw .unknownMessage }
        return try verdict.get()
    }

    /// Removes the messages of a mechanism that no longer exists.
    mutating func forget(mechanismUID: String, at now: Date) {
        // An inbox that cannot be read contains nothing that is still needed.
        if inboxes.discardBroken(mechanismUID) { return }
        let forgotten = inboxes.update(mechanismUID, at: now) { inbox in
            defer { inbox.messageIDs = [] }
            return inbox.messageIDs
        }
        for id in forgotten ?? [] { pushes.discard(id) }
    }
}
