import NIOCore

/// Passes received bytes to the HTTP decoder in small pieces, each in its own turn of the event loop, and only when the handlers
/// behind it ask for more.
///
/// The decoder parses all bytes of a read at once. A client can put thousands of requests into one read, and the other connections
/// of the event loop would wait for their parsing (RFC 9112 section 9.3.2 lets clients send requests without waiting for
/// responses). With this handler, a connection holds the event loop for the requests of one piece, and no more is read from the
/// socket before the requests that were received are answered.
///
/// It stands behind TLS and before the HTTP decoder.
final class PipelineGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The size of a piece, in bytes: a head of the usual size, or a few dozen of the smallest requests.
    static let pieceSize = 2048

    /// The bytes that were received and not yet passed on.
    private var held: ByteBuffer?
    /// True when the next piece is passed on in the next turn of the event loop.
    private var isScheduled = false
    /// True when the client has closed its side after the held bytes.
    private var isInputClosed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if held == nil { held = bytes } else { held?.writeBuffer(&bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard held != nil, !isScheduled else {
            // The held bytes are passed on later, each piece with an end of its own.
            if held == nil { context.fireChannelReadComplete() }
            return
        }
        pass(context)
        if held != nil { context.channel.read() }
    }

    func read(context: ChannelHandlerContext) {
        guard held != nil else { return context.read() }
        guard !isScheduled else { return }
        isScheduled = true
        context.eventLoop.assumeIsolated().execute { [self] in
            isScheduled = false
            guard held != nil, context.channel.isActive else { return }
            pass(context)
            // The channel itself asks for more only after bytes that came from the socket.
            context.channel.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if held != nil, case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        held = nil
        context.fireChannelInactive()
    }

    private func pass(_ context: ChannelHandlerContext) {
        guard var bytes = held else { return }
        let piece = bytes.readSlice(length: min(Self.pieceSize, bytes.readableBytes))
        held = bytes.readableBytes > 0 ? bytes : nil
        if let piece { context.fireChannelRead(wrapInboundOut(piece)) }
        context.fireChannelReadComplete()
        if held == nil, isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}

@available(*, unavailable)
extension PipelineGate: Sendable {}
