import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `GET /json/.../push/stream`: the push stream (SSE) of a desktop authenticator (docs/protocol/push-stream.md).
struct PushStreamController: Sendable {
    let server: ServerContext

    func stream(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        guard let token = request.credentials(PushStreamProof.scheme) else { throw try await challenge() }
        let mechanismUID = try await server.store.write { tx in
            try tx.mechanism(provenBy: token, realm: realm)
        }
        guard let mechanismUID else {
            server.logger.info("push stream proof rejected", metadata: ["realm": "\(realm)"])
            throw try await challenge()
        }
        context.log.update { $0.client.device = mechanismUID }
        let last = request.header("last-event-id").flatMap { UInt64($0) }
        let delivery = FaultedDelivery(
            server: server, mechanismUID: mechanismUID, after: last, path: context.path,
            client: context.log.all.client)
        let inbox = PushStreamInbox(server: server, mechanismUID: mechanismUID, last: last, delivery: delivery)
        return EventStream(server: server, streams: server.streams, name: mechanismUID, request: request, inbox: inbox)
            .response
    }

    private func challenge() async throws -> APIError {
        let nonce = try await server.store.read { tx in try tx.nonces.issue() }
        return APIError(
            .unauthorized, "Sign the nonce.", headers: [.wwwAuthenticate: "\(PushStreamProof.scheme) nonce=\"\(nonce)\""])
    }
}

/// The messages for a device with a push stream, after the delivery faults that a tester has enabled.
private struct PushStreamInbox: StreamInbox {
    let server: ServerContext
    let mechanismUID: String
    /// The ID of the last event that the device has received.
    var last: UInt64?
    var delivery: FaultedDelivery
    /// The messages that this stream has sent and that waited then.
    private var sent: Set<String> = []
    /// True until a device that has received messages on an earlier stream has been told which ones still wait.
    private var owesList: Bool

    init(server: ServerContext, mechanismUID: String, last: UInt64?, delivery: FaultedDelivery) {
        (self.server, self.mechanismUID, self.last, self.delivery) = (server, mechanismUID, last, delivery)
        owesList = last != nil
    }

    mutating func update() async throws -> StreamUpdate<FaultedDelivery.Event>? {
        let found = try await server.store.read { [mechanismUID, last] tx -> (new: [PushMessageRecord], waiting: [String])? in
            guard try tx.devices.pushDevice(mechanismUID: mechanismUID) != nil else { return nil }
            let waiting = try tx.pushes.deliverable(for: mechanismUID, after: nil)
            return (try tx.pushes.deliverable(for: mechanismUID, after: last), waiting.map(\.messageID))
        }
        guard let found else { return nil }
        last = found.new.last?.eventID ?? last
        let events = try await delivery.events(for: found.new)
        return StreamUpdate(events: events, waiting: list(of: found.waiting, after: events))
    }

    /// Returns the list of the waiting messages when the device has received one that does not wait any more; nil otherwise.
    private mutating func list(of waiting: [String], after events: [FaultedDelivery.Event]) -> WaitingPushMessages? {
        sent.formUnion(events.map(\.push.messageID))
        let isNeeded = owesList || !sent.isSubset(of: waiting)
        sent.formIntersection(waiting)
        owesList = false
        return isNeeded ? WaitingPushMessages(waiting) : nil
    }

    func delivered(_ events: [FaultedDelivery.Event], on stream: PushStreamSubscription) {
        for event in events {
            let push = event.push
            server.requestLog.add(
                .push(RequestLogEntry.Push(.delivered, push.messageID, device: push.mechanismUID, stream: stream.id)),
                at: server.clock.now, faults: event.faults)
        }
        server.telemetry.count(events.map { _ in .push(.delivered) })
    }
}

extension FaultedDelivery.Event: StreamEvent {
    var delivery: PushDelivery { PushDelivery(messageId: push.messageID, message: push.sealed) }
}
