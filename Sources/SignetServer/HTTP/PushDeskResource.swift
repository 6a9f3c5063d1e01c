import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import SignetCore

/// `GET /json/.../push/desk`: the stream that a desktop authenticator holds open (docs/desk.md).
struct PushDeskResource: Sendable {
    let desk: Desk

    func respond(to reader: RequestReader, realm: RealmPath) throws -> Response {
        try reader.require(.get)
        guard let token = Self.token(in: reader.header("authorization")) else { throw try challenge() }
        let mechanismUID = desk.transact { state, moment in
            state.mechanism(provenBy: token, realm: realm, at: moment.now)
        }
        guard let mechanismUID else {
            desk.logger.info("desk proof refused", metadata: ["realm": "\(realm)"])
            throw try challenge()
        }
        let last = reader.header("last-event-id").flatMap { UInt64($0) }
        let request = reader.request
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            body: ResponseBody { writer in
                let stream = desk.transact { state, _ in state.streams.open(mechanismUID) }
                defer { desk.transact { state, _ in state.streams.close(stream) } }
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await send(stream, after: last, to: &writer)
                } onInboundClosed: {
                    stream.end()
                }
                try await writer.finish(nil)
            })
    }

    private func challenge() throws -> Refusal {
        let nonce = try desk.transact { state, moment in try state.nonces.issue(at: moment.now) }
        return Refusal(
            .unauthorized, "Sign the nonce.", headers: [.wwwAuthenticate: "\(DeskProof.scheme) nonce=\"\(nonce)\""])
    }

    /// The credentials in an `Authorization` header of the desk's scheme.
    private static func token(in header: String?) -> String? {
        let parts = (header ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == DeskProof.scheme.lowercased() else { return nil }
        return String(parts[1].trimming(" "))
    }

    /// Sends what is in the mailbox whenever the stream is woken, until the client, the server or the mechanism goes.
    private func send(_ stream: DeskSubscription, after last: UInt64?, to writer: inout any ResponseBodyWriter) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let pause = max(desk.configuration.deskKeepAlive, .milliseconds(10))
                while true {
                    try await Task.sleep(for: pause)
                    stream.wake()
                }
            }
            defer { group.cancelAll() }
            try await withGracefulShutdownHandler {
                var last = last
                for await _ in stream.signals {
                    let pushes = desk.transact { state, moment in
                        state.pushes.retained(for: stream.mechanismUID, after: last, at: moment.now)
                    }
                    last = pushes.last?.eventID ?? last
                    try await writer.write(ByteBuffer(string: Self.text(of: pushes)))
                }
            } onGracefulShutdown: {
                stream.end()
            }
        }
    }

    /// The messages as events; a comment when there is none, as a sign of life.
    private static func text(of pushes: [PendingPush]) -> String {
        guard !pushes.isEmpty else { return ":\n\n" }
        return pushes.map { push in
            let delivery = PushDelivery(messageId: push.messageID, message: push.sealed)
            return ServerSentEvent(
                id: String(push.eventID), name: DeskProof.eventName, data: JSON.text(of: delivery)
            ).encoded
        }.joined()
    }
}
