import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The error for a request body that took too long.
struct BodyTooSlow: Error {}

/// Detects the first bytes of a request before the HTTP decoder has parsed them.
///
/// It is the first handler at the socket.
final class RequestStart: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// True when the next byte is the first one of a request.
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

/// The error of a request that was rejected before its head was complete.
struct HeadError: Sendable {
    /// The status of the response: 408, 431 or 400.
    let status: HTTPResponse.Status
    /// The reason for the metric; nil for a head that is not HTTP.
    let reason: MetricEvent.RejectionReason?
    /// The problem, as text for the log.
    let message: String
    /// The time since the request's first byte.
    let duration: Duration
}

/// Rejects request heads that are too large or too slow, and bodies that are too slow, because each connection costs memory and
/// their number is limited.
///
/// It stands behind the HTTP decoder.
///
/// It answers a head itself with 408, 431 or 400, because no responder knows of the request yet. For a slow body, it raises an
/// error in the responder that reads the body, which then answers.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let headerTimeout: TimeAmount
    private let bodyTimeout: TimeAmount
    private let onHeadError: @Sendable (HeadError, any Channel) -> Void
    private let onSlowBody: @Sendable () -> Void
    private var start: RequestStart?
    private var began = ContinuousClock.now
    private var deadline: Scheduled<Void>?
    private var unanswered = 0
    private var isReading = false
    /// True when the connection ends after the pending responses.
    private var isEnding = false
    /// True after a head was rejected.
    ///
    /// Everything after it is ignored.
    private var isRefused = false
    /// A rejected head that waits until the requests before it are answered.
    private var waiting: HeadError?

    /// Creates the handler.
    /// - Parameters:
    ///   - limits: The longest times for the head and the body of a request.
    ///   - onHeadError: The closure to call for each head that this handler answers, with its connection.
    ///   - onSlowBody: The closure to call for each body that took too long.
    init(
        _ limits: ServerLimits, onHeadError: @escaping @Sendable (HeadError, any Channel) -> Void,
        onSlowBody: @escaping @Sendable () -> Void
    ) {
        headerTimeout = .seconds(Int64(max(1, limits.headerTimeout)))
        bodyTimeout = .seconds(Int64(max(1, limits.bodyTimeout)))
        self.onHeadError = onHeadError
        self.onSlowBody = onSlowBody
    }

    /// The time for a responder to answer a slow body, and for a client to read the last response of a connection.
    private static var gracePeriod: TimeAmount { .seconds(5) }

    func handlerAdded(context: ChannelHandlerContext) {
        start = try? context.pipeline.syncOperations.handler(type: RequestStart.self)
        start?.begin = { [self] in
            began = .now
            schedule(after: headerTimeout, context) { [self] in
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
            // The head may have been received before the previous request was answered.
            start?.isWaiting = false
            unanswered += 1
            isReading = true
            let hasBody = head.headerFields[.contentLength].map { $0 != "0" } ?? head.headerFields.contains(.transferEncoding)
            if hasBody {
                schedule(after: bodyTimeout, context) { [self] in
                    onSlowBody()
                    context.fireErrorCaught(BodyTooSlow())
                    schedule(after: Self.gracePeriod, context) { context.close(promise: nil) }
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
        if error is InvalidHostHeader {
            return refuseHead(.badRequest, nil, "The request needs exactly one valid Host header.", context)
        }
        // A broken body is an error for the responder that reads it. A client that has disconnected gets no response.
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
        _ status: HTTPResponse.Status, _ reason: MetricEvent.RejectionReason?, _ message: String, _ context: ChannelHandlerContext
    ) {
        deadline?.cancel()
        isRefused = true
        let error = HeadError(status: status, reason: reason, message: message, duration: .now - began)
        onHeadError(error, context.channel)
        if unanswered == 0 { answer(error, context) } else { waiting = error }
    }

    /// Responds and closes the connection.
    ///
    /// The write half closes at once, the read half 5 seconds later, so that the client can read the response. Closing both at
    /// once could discard the response for a client that is still sending.
    private func answer(_ error: HeadError, _ context: ChannelHandlerContext) {
        let head = HTTPResponse(status: error.status, headerFields: [.connection: "close", .contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        schedule(after: Self.gracePeriod, context) { context.close(promise: nil) }
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
