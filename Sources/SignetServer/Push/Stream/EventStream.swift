import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import SignetCore

/// A message as a stream carries it.
protocol StreamEvent: Sendable {
    /// Later messages have higher ones.
    var id: UInt64 { get }
    var delivery: PushDelivery { get }
}

/// What lies ready for the device at the other end of a stream.
protocol StreamMailbox: Sendable {
    associatedtype Event: StreamEvent

    /// What is to go out now, in this order: what has come since it was last asked. Nil when there is no such mailbox any more: that may have
    /// been said by another server when nobody here could hear it.
    mutating func events() async throws -> [Event]?

    /// Is told what went out.
    func delivered(_ events: [Event], on stream: PushStreamSubscription)
}

/// The answer that a desktop authenticator holds open: server-sent events with what is in its mailbox (docs/desk.md).
struct EventStream<Mailbox: StreamMailbox>: Sendable {
    let server: ServerContext
    /// Where it is woken and ended.
    let streams: PushStreams
    /// The name of the mailbox there.
    let name: String
    let request: Request
    let mailbox: Mailbox

    var response: Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                let stream = streams.open(name)
                defer { streams.close(stream) }
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await send(stream, to: &writer)
                } onInboundClosed: {
                    stream.end()
                }
                try await writer.finish(nil)
            })
    }

    /// Sends what is in the mailbox whenever the stream is woken, until the client, the server or the mailbox goes.
    private func send(_ stream: PushStreamSubscription, to writer: inout any ResponseBodyWriter) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let pause = max(server.configuration.streamKeepAlive, .milliseconds(10))
                while true {
                    try await Task.sleep(for: pause)
                    stream.wake()
                }
            }
            defer { group.cancelAll() }
            try await withGracefulShutdownHandler {
                var mailbox = mailbox
                for await _ in stream.signals {
                    guard let events = try await mailbox.events() else { break }
                    try await writer.write(ByteBuffer(string: Self.text(of: events)))
                    mailbox.delivered(events, on: stream)
                }
            } onGracefulShutdown: {
                stream.end()
            }
        }
    }

    /// The messages as events; a comment when there is none, as a sign of life.
    private static func text(of events: [Mailbox.Event]) -> String {
        guard !events.isEmpty else { return ":\n\n" }
        return events.map { event in
            ServerSentEvent(id: String(event.id), name: PushStreamProof.eventName, data: JSON.text(of: event.delivery)).encoded
        }.joined()
    }
}
