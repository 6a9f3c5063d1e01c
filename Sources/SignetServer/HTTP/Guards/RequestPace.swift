import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// How long the parts of a request may take.
struct RequestTimes: Sendable {
    let head: TimeAmount
    let body: TimeAmount
}

/// A request's body took too long.
struct BodyTooSlow: Error {}

/// Sees the first bytes of a request, of which HTTP knows nothing yet. It stands at the socket.
final class RequestStart: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether the next byte is a request's first.
    fileprivate var isWaiting = true
    fileprivate var begin: (() -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isWaiting {
            isWaiting = false
            begin?()
        }
        context.fireChannelRead(data)
    }
}

/// A request that is refused before its head was read to the end.
struct HeadRefusal: Sendable {
    /// The status of the answer: 408, 431 or 400.
    let status: HTTPResponse.Status
    /// The reason that is counted; nil for a head that is not HTTP.
    let reason: MetricEvent.RefusalReason?
    /// What was wrong, in words for the log.
    let message: String
    /// The time since the request's first byte.
    let duration: Duration
}

/// Refuses requests whose head is too large or comes too slowly, and bodies that come too slowly: each connection costs memory, and their number is
/// limited. It stands behind the HTTP decoder.
///
/// A head is answered here with 408, 431 or 400, because no responder knows of the request yet. A slow body is an error for the responder that
/// reads it and answers.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let times: RequestTimes
    private let onHeadRefusal: @Sendable (HeadRefusal, any Channel) -> Void
    private let onSlowBody: @Sendable () -> Void
    private var start: RequestStart?
    private var began = ContinuousClock.now
    private var deadline: Scheduled<Void>?
    private var unanswered = 0
    private var isReading = false
    /// Whether the connection ends after the answers that are still to come.
    private var isEnding = false
    /// Whether a head was refused: nothing that comes after it counts.
    private var isRefused = false
    /// A head that was refused while requests before it were still being answered.
    private var waiting: HeadRefusal?

    /// - Parameters:
    ///   - times: How long the head and the body of a request may take.
    ///   - onHeadRefusal: Called for each head that is answered here, with its connection.
    ///   - onSlowBody: Called for each body that took too long.
    init(
        _ times: RequestTimes, onHeadRefusal: @escaping @Sendable (HeadRefusal, any Channel) -> Void,
        onSlowBody: @escaping @Sendable () -> Void
    ) {
        self.times = times
        self.onHeadRefusal = onHeadRefusal
        self.onSlowBody = onSlowBody
    }

    /// The time a responder has to answer a slow body, and a client to read the last answer of a connection.
    private static var farewell: TimeAmount { .seconds(5) }

    func handlerAdded(context: ChannelHandlerContext) {
        start = try? context.pipeline.syncOperations.handler(type: RequestStart.self)
        start?.begin = { [self] in
            began = .now
            schedule(after: times.head, context) { [self] in
                refuseHead(.requestTimeout, .headTooSlow, "The request's head took too long.", context)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        start?.begin = nil
        start = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            deadline?.cancel()
            unanswered += 1
            isReading = true
            let hasBody = head.headerFields[.contentLength].map { $0 != "0" } ?? head.headerFields.contains(.transferEncoding)
            if hasBody {
                schedule(after: times.body, context) { [self] in
                    onSlowBody()
                    context.fireErrorCaught(BodyTooSlow())
                    schedule(after: Self.farewell, context) { context.close(promise: nil) }
                }
            }
        case .body: break
        case .end:
            deadline?.cancel()
            isReading = false
            waitForNext()
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isRefused else { return }
        // A broken body is for the responder that reads it, and a client that is gone gets no answer.
        guard !isReading, let error = error as? HTTPParserError, error != .invalidEOFState else {
            return context.fireErrorCaught(error)
        }
        if error == .headerOverflow {
            refuseHead(.requestHeaderFieldsTooLarge, .headTooLarge, "The request's head is too large.", context)
        } else {
            refuseHead(.badRequest, nil, "The request is not HTTP/1.1.", context)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let response) where response.headerFields[.connection] == "close":
            isEnding = true
        case .end:
            unanswered -= 1
            waitForNext()
        default: break
        }
        context.write(data, promise: promise)
        if unanswered == 0, let waiting {
            self.waiting = nil
            answer(waiting, context)
        }
    }

    private func waitForNext() {
        if unanswered == 0, !isReading, !isEnding, !isRefused { start?.isWaiting = true }
    }

    private func refuseHead(
        _ status: HTTPResponse.Status, _ reason: MetricEvent.RefusalReason?, _ message: String, _ context: ChannelHandlerContext
    ) {
        deadline?.cancel()
        isRefused = true
        let refusal = HeadRefusal(status: status, reason: reason, message: message, duration: .now - began)
        onHeadRefusal(refusal, context.channel)
        if unanswered == 0 { answer(refusal, context) } else { waiting = refusal }
    }

    /// Answers and closes the connection: its own half at once, the other when the client has read the answer. Closing both at once could take the
    /// answer from a client that is still sending.
    private func answer(_ refusal: HeadRefusal, _ context: ChannelHandlerContext) {
        let head = HTTPResponse(status: refusal.status, headerFields: [.connection: "close", .contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        schedule(after: Self.farewell, context) { context.close(promise: nil) }
    }

    private func schedule(after time: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping () -> Void) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time, work)
    }
}

@available(*, unavailable)
extension RequestStart: Sendable {}

@available(*, unavailable)
extension RequestPace: Sendable {}
