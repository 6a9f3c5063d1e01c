import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The messages that were sent, and each mechanism's mailbox: those that still wait for an answer.
struct PushMessageStore {
    /// The most messages that wait for one mechanism. A login that would send one more fails: no message that was sent is lost
    /// to make room.
    static let mailboxSize = 64

    /// What is known of a mechanism's messages without looking at them.
    struct Mailbox: Codable, Sendable {
        var messageIDs: [String] = []
        var lastEventID: UInt64 = 0
    }

    /// So long a mailbox without messages remembers the id of its last event, in seconds.
    private static let memory = 86_400.0

    private var pushes: Table<String, PendingPush>
    private var mailboxes: Table<String, Mailbox>

    init(_ transaction: RowCache) {
        pushes = Table(.push, transaction)
        mailboxes = Table(.mailbox, transaction)
    }

    func entry(_ messageID: String, at now: Date) -> PendingPush? {
        pushes.value(for: messageID, at: now)
    }

    /// The messages that are remembered longest, answered ones included, at most `limit`.
    func newest(_ limit: Int, at now: Date) -> [PendingPush] { pushes.newest(limit, at: now).map(\.value) }

    /// Whether a message can be added without another one being lost.
    mutating func hasRoom(for mechanismUID: String, at now: Date) -> Bool {
        retained(for: mechanismUID, after: nil, at: now).count < Self.mailboxSize && !pushes.isFull(at: now)
    }

    /// Adds a message. It is remembered until `end`, so that a login that polls late still learns of an answer in time.
    mutating func add(_ push: PendingPush, until end: Date, at now: Date) {
        var push = push
        let mailbox = mailboxes.value(for: push.mechanismUID, at: now) ?? Mailbox()
        let readable = Set(retained(for: push.mechanismUID, after: nil, at: now).map(\.messageID))
        // What another server has written in a later version's form goes on waiting too.
        let waiting = mailbox.messageIDs.filter { readable.contains($0) || pushes.isBroken($0) }
        let last = mailbox.lastEventID
        // Ids grow with the time, so that they go on growing when the mailbox was forgotten: a device must not take a new message
        // for an old one.
        push.eventID = max(last + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
        pushes.insert(push, for: push.messageID, until: end)
        mailboxes.insert(
            Mailbox(messageIDs: waiting + [push.messageID], lastEventID: push.eventID), for: push.mechanismUID,
            until: end.addingTimeInterval(Self.memory))
    }

    /// The messages that wait for an answer, oldest first: those after the event `last`, or all of them when there is no such
    /// event, be it that the client names none or one that this server never sent.
    func retained(for mechanismUID: String, after last: UInt64?, at now: Date) -> [PendingPush] {
        guard let mailbox = mailboxes.value(for: mechanismUID, at: now) else { return [] }
        let start = last.map { $0 <= mailbox.lastEventID ? $0 : 0 } ?? 0
        return pushes.values(for: mailbox.messageIDs, at: now)
            .filter { $0.state == .waiting && now < $0.deadline && $0.eventID > start }
    }

    /// How many messages are looked through for those that nobody has to answer any more.
    private static let settledLookedThrough = 1000

    /// Messages that were answered or are too old, oldest first, as far as they are remembered: the newest ones, at most `limit`. They are
    /// in no mailbox any more and have to be looked for: it is for faults.
    func settled(for mechanismUID: String, _ limit: Int, at now: Date) -> [PendingPush] {
        newest(Self.settledLookedThrough, at: now)
            .filter { $0.mechanismUID == mechanismUID && !($0.state == .waiting && now < $0.deadline) }
            .sorted { $0.eventID < $1.eventID }.suffix(limit)
    }

    /// The messages that a mailbox names, whether they can be read or not.
    func named(for mechanismUID: String, at now: Date) -> [String] {
        mailboxes.value(for: mechanismUID, at: now)?.messageIDs ?? []
    }

    /// Takes a device's answer. It counts once.
    mutating func answer(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushResponseError) -> PendingPush.State {
        guard entry(body.messageId, at: now)?.realm == realm else { throw .unknownMessage }
        let verdict = pushes.update(body.messageId, at: now) { push in
            Result { () throws(PushResponseError) in try push.take(body.jwt, at: now) }
        }
        guard let verdict else { throw .unknownMessage }
        return try verdict.get()
    }

    /// Forgets the messages of a mechanism that no longer exists.
    mutating func forget(mechanismUID: String, at now: Date) {
        // What cannot be read holds nothing that is wanted any more.
        if mailboxes.discardBroken(mechanismUID) { return }
        let forgotten = mailboxes.update(mechanismUID, at: now) { mailbox in
            defer { mailbox.messageIDs = [] }
            return mailbox.messageIDs
        }
        for id in forgotten ?? [] { pushes.discard(id) }
    }
}
