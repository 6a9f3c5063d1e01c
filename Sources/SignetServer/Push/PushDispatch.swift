import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a device is reached.
enum PushRoute: Sendable, Hashable {
    /// At this server's desk.
    case server
    /// Through SNS, at an endpoint.
    case sns(endpoint: String)
}

extension PushDevice {
    /// How the device is reached: its address says so.
    var route: PushRoute {
        SNSResource(communicationID)?.kind == .endpoint ? .sns(endpoint: communicationID) : .server
    }
}

/// A message that is handed to SNS: written down in the transaction that sends it, and carried when that is over.
struct PushDispatch: Sendable, Hashable, Codable {
    enum State: Sendable, Hashable, Codable {
        case waiting
        /// SNS has it, under an id of its own.
        case sent(String)
        /// It will not get there, and why.
        case failed(String)
    }

    let messageID: String
    let endpoint: String
    /// The device's token, to enable the endpoint with.
    let token: String
    let subject: String?
    let envelope: String
    /// From here on nobody could answer it any more.
    let deadline: Date
    /// So long it is remembered what became of it.
    let end: Date
    var state = State.waiting
    /// Who carries it.
    var claim: DispatchClaim?

    init(_ push: PendingPush, text: String, endpoint: String, token: String, until end: Date) {
        messageID = push.messageID
        self.endpoint = endpoint
        self.token = token
        subject = SNSEnvelope.subject(text)
        envelope = SNSEnvelope.wrap(PushDelivery(messageId: push.messageID, message: push.sealed), text: text)
        deadline = push.deadline
        self.end = end
    }
}

/// One courier's right to carry a message. It ends, so that no message is lost with the server that was carrying it.
struct DispatchClaim: Sendable, Hashable, Codable {
    /// The one try to carry it; another one of the same server has another name.
    let holder: String
    /// By the machine's clock: a tester who moves the server's does not end it.
    let end: Date
}

/// The messages that go through SNS, and what became of them. Those that wait are a group, so that couriers find them.
struct PushDispatchStore {
    private static let waiting = "waiting"

    private var dispatches: Table<String, PushDispatch>

    init(_ transaction: RowCache) {
        dispatches = Table(.dispatch, transaction)
    }

    subscript(messageID: String, at now: Date) -> PushDispatch? { dispatches.value(for: messageID, at: now) }

    mutating func add(_ dispatch: PushDispatch) { store(dispatch) }

    /// Messages that wait and that nobody carries, a thousand at most.
    func unclaimed(at now: Date, machine: Date) -> [String] {
        dispatches.group(Self.waiting, at: now).filter { ($0.claim?.end ?? .distantPast) <= machine }.map(\.messageID)
    }

    /// Takes a message to be carried, or goes on carrying it. Nil when it does not wait any more, or when somebody else carries it.
    mutating func claim(_ messageID: String, _ claim: DispatchClaim, at now: Date, machine: Date) -> PushDispatch? {
        guard var dispatch = self[messageID, at: now], dispatch.state == .waiting else { return nil }
        if let present = dispatch.claim, present.holder != claim.holder, machine < present.end { return nil }
        dispatch.claim = claim
        store(dispatch)
        return dispatch
    }

    /// Gives a message back, for others to carry.
    mutating func release(_ messageID: String, by holder: String, at now: Date) {
        guard var dispatch = self[messageID, at: now], dispatch.state == .waiting, dispatch.claim?.holder == holder else {
            return
        }
        dispatch.claim = nil
        store(dispatch)
    }

    /// Gives all messages back that wait, a thousand at most, and says which they are: who carried them when they were put aside may
    /// be anybody.
    mutating func releaseAll(at now: Date) -> [String] {
        dispatches.group(Self.waiting, at: now).map { dispatch in
            var dispatch = dispatch
            dispatch.claim = nil
            store(dispatch)
            return dispatch.messageID
        }
    }

    /// Notes what became of a message. The first word counts: false when there was one.
    @discardableResult
    mutating func settle(_ messageID: String, _ state: PushDispatch.State, at now: Date) -> Bool {
        guard var dispatch = self[messageID, at: now], dispatch.state == .waiting else { return false }
        (dispatch.state, dispatch.claim) = (state, nil)
        store(dispatch)
        return true
    }

    private mutating func store(_ dispatch: PushDispatch) {
        let group = dispatch.state == .waiting ? Self.waiting : ""
        dispatches.insert(dispatch, for: dispatch.messageID, group: group, until: dispatch.end)
    }
}

extension ServerTransaction {
    /// Notes what became of a message for SNS, and tells the journal.
    mutating func settle(_ dispatch: PushDispatch, _ outcome: PushDispatch.State, at now: Date) {
        guard dispatches.settle(dispatch.messageID, outcome, at: now) else { return }
        let device = pushes.entry(dispatch.messageID, at: now)?.mechanismUID
        switch outcome {
        case .waiting: break
        case .sent: effects.append(.happened(RequestLogEntry.Push(.published, dispatch.messageID, device: device)))
        case .failed(let reason):
            effects.append(.happened(RequestLogEntry.Push(.undeliverable, dispatch.messageID, device: device, reason: reason)))
        }
    }

    /// Sends a message on the way that leads to the device.
    mutating func send(_ push: PendingPush, text: String, to device: PushDevice, until end: Date, at now: Date) {
        pushes.add(push, until: end, at: now)
        effects.append(.happened(RequestLogEntry.Push(.made, push.messageID, device: device.mechanismUID)))
        note(.push(.sent))
        switch device.route {
        case .server: effects.append(.wake(device.mechanismUID))
        case .sns(let endpoint):
            dispatches.add(PushDispatch(push, text: text, endpoint: endpoint, token: device.deviceID, until: end))
            effects.append(.dispatch(push.messageID))
        }
    }
}
