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

    mutating func events() async throws -> [FaultedDelivery.Event]? {
        let pushes = try await server.store.read { [mechanismUID, last] tx -> [PushMessageRecord]? in
            guard try tx.devices.pushDevice(mechanismUID: mechanismUID) != nil else { return nil }
            return try tx.pushes.retained(for: mechanismUID, after: last)
        }
        guard let pushes else { return nil }
        last = pushes.last?.eventID ?? last
        return try await delivery.events(for: pushes)
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
