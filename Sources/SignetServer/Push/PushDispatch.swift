import Foundation
import SignetCore
import SignetPushGateway

/// The route by which messages reach a device.
enum PushRoute: Sendable, Hashable {
    /// Over a push stream of this server.
    case server
    /// Through SNS, to an endpoint.
    case sns(endpoint: String)
}

extension PushDevice {
    /// The route by which messages reach the device, derived from its communication id.
    var route: PushRoute {
        SNSResource(communicationID)?.kind == .endpoint ? .sns(endpoint: communicationID) : .server
    }
}

/// A message for SNS.
///
/// The transaction that sends the message stores it, and the delivery worker delivers it afterwards.
struct PushDispatch: Sendable, Hashable, Codable {
    enum State: Sendable, Hashable, Codable {
        case waiting
        /// SNS accepted the message. The value is the message id that SNS assigned.
        case sent(String)
        /// The message cannot be delivered. The value is the reason.
        case failed(String)
    }

    let messageID: String
    let endpoint: String
    /// The token of the device.
    ///
    /// It is needed to enable the endpoint again.
    let token: String
    let subject: String?
    let envelope: String
    /// The time after which the message cannot be answered any more.
    let deadline: Date
    /// The time until which the outcome is remembered.
    let end: Date
    var state = State.waiting
    /// The claim of the worker that delivers the message; nil when it is unclaimed.
    var claim: DispatchClaim?

    init(_ push: PushMessageRecord, text: String, endpoint: String, token: String, until end: Date) {
        messageID = push.messageID
        self.endpoint = endpoint
        self.token = token
        subject = SNSEnvelope.subject(text)
        envelope = SNSEnvelope.wrap(PushDelivery(messageId: push.messageID, message: push.sealed), text: text)
        deadline = push.deadline
        self.end = end
    }
}

/// The exclusive right of one worker to deliver a message.
///
/// It expires, so that a message is not lost when the server of that worker stops.
struct DispatchClaim: Sendable, Hashable, Codable {
    /// The id of the attempt.
    ///
    /// Each attempt of a worker has a different id.
    let holder: String
    /// The time at which the claim expires, by the machine's clock.
    ///
    /// A test that changes the server's clock does not affect it.
    let end: Date
}

/// The store of the messages that go through SNS, with their outcomes.
///
/// Waiting messages form a group, so that workers find them.
struct PushDispatchStore {
    private static let waiting = "waiting"

    private var dispatches: Table<String, PushDispatch>

    init(_ transaction: RowCache) {
        dispatches = Table(.dispatch, transaction)
    }

    subscript(messageID: String) -> PushDispatch? {
        get throws { try dispatches[messageID] }
    }

    /// Returns the ids of waiting messages that no worker has claimed, at most a thousand.
    func unclaimed(machine: Date) throws -> [String] {
        try dispatches.group(Self.waiting).filter { ($0.claim?.end ?? .distantPast) <= machine }.map(\.messageID)
    }

    /// Claims a message for delivery, or extends the claim of the same holder.
    ///
    /// It returns nil when the message is not waiting any more, or when another holder has a valid claim.
    mutating func claim(_ messageID: String, _ claim: DispatchClaim, machine: Date) throws -> PushDispatch? {
        guard var dispatch = try self[messageID], dispatch.state == .waiting else { return nil }
        if let present = dispatch.claim, present.holder != claim.holder, machine < present.end { return nil }
        dispatch.claim = claim
        store(dispatch)
        return dispatch
    }

    /// Releases the claim of a holder, so that other workers can deliver the message.
    mutating func release(_ messageID: String, by holder: String) throws {
        guard var dispatch = try self[messageID], dispatch.state == .waiting, dispatch.claim?.holder == holder else {
            return
        }
        dispatch.claim = nil
        store(dispatch)
    }

    /// Releases the claims of all waiting messages, at most a thousand, and returns their ids.
    ///
    /// It is for a restored state, in which the holders of the claims may not exist any more.
    mutating func releaseAll() throws -> [String] {
        try dispatches.group(Self.waiting).map { dispatch in
            var dispatch = dispatch
            dispatch.claim = nil
            store(dispatch)
            return dispatch.messageID
        }
    }

    /// Stores the outcome of a message.
    ///
    /// Only the first outcome is stored; for later ones the method returns false.
    @discardableResult
    mutating func finish(_ messageID: String, _ state: PushDispatch.State) throws -> Bool {
        guard var dispatch = try self[messageID], dispatch.state == .waiting else { return false }
        (dispatch.state, dispatch.claim) = (state, nil)
        store(dispatch)
        return true
    }

    /// Stores a new or changed message.
    mutating func store(_ dispatch: PushDispatch) {
        let group = dispatch.state == .waiting ? Self.waiting : ""
        dispatches.insert(dispatch, for: dispatch.messageID, group: group, until: dispatch.end)
    }
}

extension ServerTransaction {
    /// Stores the outcome of a message for SNS and adds it to the request log.
    mutating func finish(_ messageID: String, _ outcome: PushDispatch.State) throws {
        guard try dispatches.finish(messageID, outcome) else { return }
        let device = try pushes.entry(messageID)?.mechanismUID
        switch outcome {
        case .waiting: break
        case .sent: effects.append(.happened(RequestLogEntry.Push(.published, messageID, device: device)))
        case .failed(let reason):
            effects.append(.happened(RequestLogEntry.Push(.undeliverable, messageID, device: device, reason: reason)))
        }
    }

    /// The ids of the messages that this transaction has stored for SNS.
    var dispatched: [String] {
        effects.compactMap { if case .dispatch(let messageID) = $0 { messageID } else { nil } }
    }

    /// Sends a message by the device's route.
    mutating func send(_ push: PushMessageRecord, text: String, to device: PushDevice, until end: Date) throws {
        try pushes.add(push, until: end)
        effects.append(.happened(RequestLogEntry.Push(.made, push.messageID, device: device.mechanismUID)))
        count(.push(.sent))
        switch device.route {
        case .server: effects.append(.wake(device.mechanismUID))
        case .sns(let endpoint):
            dispatches.store(PushDispatch(push, text: text, endpoint: endpoint, token: device.deviceID, until: end))
            effects.append(.dispatch(push.messageID))
        }
    }
}
