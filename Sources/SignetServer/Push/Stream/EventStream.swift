import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import SignetCore

/// A message in the form of a stream event.
protocol StreamEvent: Sendable {
    /// The id of the event. Later messages have higher ids.
    var id: UInt64 { get }
    var delivery: PushDelivery { get }
}

/// The source of the messages that a stream sends to its device.
protocol StreamInbox: Sendable {
    associatedtype Event: StreamEvent

    /// Returns the messages that have arrived since the last call, in the order of sending, and which ones wait.
    ///
    /// It returns nil when the inbox does not exist any more. Another server may have removed the inbox while this server was not
    /// receiving cluster messages, so the stream cannot rely on being ended.
    mutating func update() async throws -> StreamUpdate<Event>?

    /// Called after the events were written to the stream.
    func delivered(_ events: [Event], on stream: PushStreamSubscription)
}

/// The response that a desktop authenticator keeps open.
///
/// It sends the messages in the authenticator's inbox as server-sent events (docs/protocol/push-stream.md).
struct EventStream<Inbox: StreamInbox>: Sendable {
    let server: ServerContext
    /// The registry through which the stream is woken and ended.
    let streams: PushStreams
    /// The name of the inbox in that registry.
    let name: String
    let request: Request
    let inbox: Inbox

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

    /// Sends the messages in the inbox each time the stream is woken, until the client disconnects, the server shuts down or the
    /// inbox is removed.
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
                var inbox = inbox
                for await _ in stream.signals {
                    guard let update = try await inbox.update() else { break }
                    try await writer.write(ByteBuffer(string: update.text))
                    inbox.delivered(update.events, on: stream)
                }
            } onGracefulShutdown: {
                stream.end()
            }
        }
    }
}
