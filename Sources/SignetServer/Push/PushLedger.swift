import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The messages that were sent, and each mechanism's mailbox: those that still wait for an answer.
struct PushLedger: Sendable {
    /// The most messages that wait for one mechanism. A login that would send one more fails: no message that was sent is lost
    /// to make room.
    static let mailboxSize = 64

    private var pushes = ExpiringTable<String, PendingPush>(capacity: 10_000)
    private var mailboxes: [String: [String]] = [:]
    private var lastEventID: UInt64 = 0

    func entry(_ messageID: String, at now: Date) -> PendingPush? {
        pushes.value(for: messageID, at: now)
    }

    /// All messages, answered ones included, in no order.
    func all(at now: Date) -> [PendingPush] { pushes.values(at: now) }

    /// Whether a message can be added without another one being lost.
    mutating func hasRoom(for mechanismUID: String, at now: Date) -> Bool {
        retained(for: mechanismUID, after: nil, at: now).count < Self.mailboxSize && !pushes.isFull(at: now)
    }

    /// Adds a message. It is remembered until `end`, so that a login that polls late still learns of an answer in time.
    mutating func add(_ push: PendingPush, until end: Date, at now: Date) {
        var push = push
        push.eventID = nextEventID(at: now)
        pushes.insert(push, for: push.messageID, until: end, at: now)
        mailboxes[push.mechanismUID] = retained(for: push.mechanismUID, after: nil, at: now).map(\.messageID) + [push.messageID]
    }

    /// The messages that wait for an answer, oldest first: those after the event `last`, or all of them when there is no such
    /// event, be it that the client names none or one that this server never sent.
    func retained(for mechanismUID: String, after last: UInt64?, at now: Date) -> [PendingPush] {
        let start = last.map { $0 <= lastEventID ? $0 : 0 } ?? 0
        return (mailboxes[mechanismUID] ?? []).compactMap { pushes.value(for: $0, at: now) }
            .filter { $0.state == .waiting && now < $0.deadline && $0.eventID > start }
    }

    /// Takes a device's answer. It counts once.
    mutating func answer(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushRefusal) -> PendingPush.State {
        guard entry(body.messageId, at: now)?.realm == realm else { throw .unknownMessage }
        let verdict = pushes.update(body.messageId, at: now) { push in
            Result { () throws(PushRefusal) in try push.take(body.jwt, at: now) }
        }
        guard let verdict else { throw .unknownMessage }
        return try verdict.get()
    }

    /// Forgets the messages of a mechanism that no longer exists.
    mutating func forget(mechanismUID: String, at now: Date) {
        for id in mailboxes.removeValue(forKey: mechanismUID) ?? [] { _ = pushes.remove(id, at: now) }
    }

    /// Ids grow with the time, so that they go on growing after a restart: a device must not take a new message for an old one.
    private mutating func nextEventID(at now: Date) -> UInt64 {
        lastEventID = max(lastEventID + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
        return lastEventID
    }
}
