import Foundation
import SignetCore

/// The store of the messages that were sent, with an inbox for each mechanism.
///
/// The inbox lists the messages that still wait for an answer.
struct PushMessageStore {
    /// The maximum number of messages that wait for one mechanism.
    ///
    /// A login that would exceed it fails, because messages that were sent are never discarded to make room.
    static let inboxCapacity = 64

    /// The metadata of a mechanism's inbox, which is stored apart from its messages.
    struct Inbox: Codable, Sendable {
        var messageIDs: [String] = []
        var lastEventID: UInt64 = 0
    }

    /// The time in seconds for which an inbox without messages remembers the id of its last event.
    private static let memory = 86_400.0

    private var messages: Table<String, PushMessageRecord>
    private var inboxes: Table<String, Inbox>
    private let now: Date

    init(_ transaction: RowCache) {
        messages = Table(.push, transaction)
        inboxes = Table(.inbox, transaction)
        now = transaction.now
    }

    func entry(_ messageID: String) throws -> PushMessageRecord? {
        try messages[messageID]
    }

    /// Returns the messages with the latest expiry, answered ones included, at most `limit`.
    func newest(_ limit: Int) throws -> [PushMessageRecord] { try messages.newest(limit).map(\.value) }

    /// Returns true when a message can be added without losing another one, and at most `limit` wait then.
    mutating func hasRoom(for mechanismUID: String, limit: Int) throws -> Bool {
        try retained(for: mechanismUID, after: nil).count < min(limit, Self.inboxCapacity) && !messages.isFull()
    }

    /// Adds a message.
    ///
    /// The store remembers it until `end`, so that a login that polls late still finds the answer.
    mutating func add(_ push: PushMessageRecord, until end: Date) throws {
        var push = push
        let inbox = try inboxes[push.mechanismUID] ?? Inbox()
        let readable = Set(try retained(for: push.mechanismUID, after: nil).map(\.messageID))
        // Rows that a later version of the server wrote cannot be read here. They stay in the inbox.
        let waiting = try inbox.messageIDs.filter { try readable.contains($0) || messages.isUnreadable($0) }
        let last = inbox.lastEventID
        push.eventID = nextEventID(after: last)
        messages.insert(push, for: push.messageID, until: end)
        inboxes.insert(
            Inbox(messageIDs: waiting + [push.messageID], lastEventID: push.eventID), for: push.mechanismUID,
            until: end.addingTimeInterval(Self.memory))
    }

    /// Returns the id of a new event.
    ///
    /// It is derived from the time, so that ids still increase after the inbox was forgotten. Otherwise a device would ignore a new
    /// message as one that it has already received.
    private func nextEventID(after last: UInt64) -> UInt64 {
        max(last + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
    }

    /// Makes a message that waits for its answer a new event, so that streams deliver it again.
    ///
    /// Returns false when it may not be sent again.
    mutating func resend(_ messageID: String) throws -> Bool {
        guard let push = try messages[messageID], push.canBeResent(at: now), let inbox = try inboxes[push.mechanismUID] else {
            return false
        }
        let event = nextEventID(after: inbox.lastEventID)
        try inboxes.update(push.mechanismUID) { inbox in
            inbox.lastEventID = event
            inbox.messageIDs.removeAll { $0 == messageID }
            inbox.messageIDs.append(messageID)
        }
        try messages.update(messageID) { push in
            push.eventID = event
            push.resends = (push.resends ?? 0) + 1
        }
        return true
    }

    /// Returns the messages that wait for an answer, oldest first: those after the event `last`.
    ///
    /// It returns all of them when `last` is nil or is an id that this server has not sent yet.
    func retained(for mechanismUID: String, after last: UInt64?) throws -> [PushMessageRecord] {
        guard let inbox = try inboxes[mechanismUID] else { return [] }
        let start = last.map { $0 <= inbox.lastEventID ? $0 : 0 } ?? 0
        return try messages.values(for: inbox.messageIDs)
            .filter { $0.state == .waiting && now < $0.deadline && $0.eventID > start }
    }

    /// Returns the messages of ``retained(for:after:)`` whose login still waits for them, which a stream delivers.
    func deliverable(for mechanismUID: String, after last: UInt64?) throws -> [PushMessageRecord] {
        try retained(for: mechanismUID, after: last).filter { $0.isWithdrawn != true }
    }

    /// Marks a message whose login has ended without its answer.
    ///
    /// It keeps its place in the inbox until it expires, so that a client that ends its logins cannot send more messages than
    /// others.
    /// - Returns: The mechanism whose streams have to be told; nil when the message was not waiting.
    mutating func withdraw(_ messageID: String) throws -> String? {
        guard let push = try messages[messageID], push.state == .waiting, push.isWithdrawn != true else { return nil }
        try messages.update(messageID) { $0.isWithdrawn = true }
        return push.mechanismUID
    }

    /// The number of messages that ``finished(for:_:)`` searches.
    private static let finishedSearchLimit = 1000

    /// Returns the newest messages that were answered or have expired, at most `limit`, oldest first.
    ///
    /// No inbox lists them any more, so the method searches the newest messages of all mechanisms. Fault injection uses it.
    func finished(for mechanismUID: String, _ limit: Int) throws -> [PushMessageRecord] {
        try newest(Self.finishedSearchLimit)
            .filter { $0.mechanismUID == mechanismUID && !($0.state == .waiting && now < $0.deadline) }
            .sorted { $0.eventID < $1.eventID }.suffix(limit)
    }

    /// Takes a device's answer to a message of a realm.
    ///
    /// Only the first valid answer counts. A repeated answer has no effects. A wrong number is counted, which is a change to commit.
    /// - Returns: The answer, or the reason why it is not valid, and the message with the id, which may belong to another realm; nil for
    ///   an id without a message.
    mutating func answer(
        _ body: PushRequestBody, realm: RealmPath
    ) throws -> (answer: Result<PushAnswer, PushResponseError>, push: PushMessageRecord?) {
        let push = try messages[body.messageId]
        guard push?.realm == realm else { return (.failure(.unknownMessage), push) }
        let answer: Result<PushAnswer, PushResponseError>? = try messages.update(body.messageId) { [now] push in
            Result { () throws(PushResponseError) in try push.take(body.jwt, at: now) }
        }
        return (answer ?? .failure(.unknownMessage), push)
    }

    /// Decides a message in the place of its device.
    /// - Returns: The answer, or the reason of its absence, and the message; nil for an unknown message.
    mutating func decide(
        _ messageID: String, _ isApproved: Bool
    ) throws -> (answer: Result<PushAnswer, PushResponseError>, push: PushMessageRecord)? {
        guard let push = try messages[messageID] else { return nil }
        let answer: Result<PushAnswer, PushResponseError>? = try messages.update(messageID) { [now] push in
            Result { () throws(PushResponseError) in try push.decide(isApproved, at: now) }
        }
        return (answer ?? .failure(.unknownMessage), push)
    }

    /// Returns the ids of all messages in an inbox, including those that cannot be read.
    func named(for mechanismUID: String) throws -> [String] {
        try inboxes[mechanismUID]?.messageIDs ?? []
    }

    /// Removes the messages of a mechanism that no longer exists.
    mutating func forget(mechanismUID: String) throws {
        // An inbox that cannot be read contains nothing that is still needed.
        if try inboxes.discardUnreadable(mechanismUID) { return }
        let forgotten = try inboxes.update(mechanismUID) { inbox in
            defer { inbox.messageIDs = [] }
            return inbox.messageIDs
        }
        for id in forgotten ?? [] { messages.discard(id) }
    }
}

extension ServerTransaction {
    /// Takes a device's answer (``PushMessageStore/answer(_:realm:)``), and logs the result, a refusal included.
    /// - Returns: The answer with the device, or the reason why it is not valid.
    mutating func answer(
        _ body: PushRequestBody, realm: RealmPath
    ) throws -> Result<(answer: PushAnswer, device: String?), PushResponseError> {
        let (answer, push) = try pushes.answer(body, realm: realm)
        // A wrong number can end a message too. The streams of the user's other devices have to be told.
        if let push, push.state == .waiting, try pushes.entry(push.messageID)?.state != .waiting {
            effects.append(.wake(push.mechanismUID))
        }
        return try logged(answer, push).map { ($0, push?.mechanismUID) }
    }

    /// Decides a message in the place of its device, and logs the result as that of the device.
    /// - Returns: The answer, or the reason of its absence; nil for an unknown message.
    mutating func decide(_ messageID: String, _ isApproved: Bool) throws -> Result<PushAnswer, PushResponseError>? {
        guard let (answer, push) = try pushes.decide(messageID, isApproved) else { return nil }
        let result = try logged(answer, push)
        if case .success(let answer) = result, !answer.isRepeated { effects.append(.wake(push.mechanismUID)) }
        return result
    }

    /// Logs the answer to a message.
    private mutating func logged(
        _ answer: Result<PushAnswer, PushResponseError>, _ push: PushMessageRecord?
    ) throws -> Result<PushAnswer, PushResponseError> {
        func logged(_ step: RequestLogEntry.Push.Step, _ reason: String? = nil) -> SideEffect {
            // Log the ID of a known message only, because an unknown ID is arbitrary input of the client.
            .happened(RequestLogEntry.Push(step, push?.messageID ?? "", device: push?.mechanismUID, reason: reason))
        }
        switch answer {
        case .success(let answer) where answer.isRepeated: break
        case .success(let answer):
            effects.append(logged(answer.state == .denied ? .denied : .approved))
            if answer.state == .approved, let device = try push.flatMap({ try devices.pushDevice(mechanismUID: $0.mechanismUID) })
            {
                try pacing.answered(.push, by: device.owner)
            }
        case .failure(let refusal): effects.append(logged(.refused, "\(refusal)"))
        }
        return answer
    }
}
