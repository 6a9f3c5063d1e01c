import HTTPTypes
import NIOCore
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

/// Ends connections whose clients take too long over a request, byte by byte: each connection costs memory, and there are only so many. It
/// stands behind the HTTP decoder.
///
/// A slow head is answered with 408 here; nobody else knows of the request yet. A slow body is an error to who reads it, who answers.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let times: RequestTimes
    private let onRefusal: @Sendable (DeskEvent.RefusalReason) -> Void
    private var start: RequestStart?
    private var deadline: Scheduled<Void>?
    private var unanswered = 0
    private var isReading = false

    init(_ times: RequestTimes, onRefusal: @escaping @Sendable (DeskEvent.RefusalReason) -> Void) {
        self.times = times
        self.onRefusal = onRefusal
    }

    /// How long who reads a slow body has to answer.
    private static var farewell: TimeAmount { .seconds(5) }

    func handlerAdded(context: ChannelHandlerContext) {
        start = try? context.pipeline.syncOperations.handler(type: RequestStart.self)
        start?.begin = { [self] in
            schedule(after: times.head, context) { [self] in
                onRefusal(.headTooSlow)
                let head = HTTPResponse(status: .requestTimeout, headerFields: [.connection: "close", .contentLength: "0"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                context.close(promise: nil)
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
                    onRefusal(.bodyTooSlow)
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

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered -= 1
            waitForNext()
        }
        context.write(data, promise: promise)
    }

    private func waitForNext() {
        if unanswered == 0, !isReading { start?.isWaiting = true }
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
