import NIOCore
import NIOEmbedded
import Testing

@testable import SignetServer

@Suite("The handlers of a connection before the HTTP decoder")
struct PipelineGateTests {
    /// Stands in for the HTTP decoder: records the size of each piece, and asks for more only when the test lets it.
    private final class Decoder: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer

        private(set) var sizes: [Int] = []
        private var isAnswered = false
        private var waiting: ChannelHandlerContext?

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            sizes.append(unwrapInboundIn(data).readableBytes)
            isAnswered = false
        }

        func read(context: ChannelHandlerContext) {
            if isAnswered { context.read() } else { waiting = context }
        }

        /// Answers the requests of the last piece.
        func answer() {
            isAnswered = true
            waiting?.read()
            waiting = nil
        }
    }

    /// Counts the reads that reach the socket.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private(set) var reads = 0

        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }
    }

    @Test("Each turn of the event loop passes one piece of many pipelined requests, after the requests before it are answered")
    func passesOnePieceInEachTurn() throws {
        let (decoder, socket) = (Decoder(), Socket())
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(socket)
        try ServerChannel.addConnectionHandlers(to: channel, nil)
        try channel.pipeline.syncOperations.addHandler(decoder)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.run()
        let reads = socket.reads
        let request = "GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let size = request.utf8.count * 3000
        try channel.writeInbound(ByteBuffer(string: String(repeating: request, count: 3000)))
        var pieces = 1
        while decoder.sizes.reduce(0, +) < size {
            // Nothing more arrives before the answer, in any turn of the event loop.
            channel.embeddedEventLoop.run()
            #expect(decoder.sizes.count == pieces)
            decoder.answer()
            // The next piece arrives in another turn, so other connections have theirs in between.
            #expect(decoder.sizes.count == pieces)
            channel.embeddedEventLoop.run()
            pieces += 1
            try #require(decoder.sizes.count == pieces)
        }
        #expect(decoder.sizes.max() == PipelineGate.pieceSize)
        #expect(socket.reads == reads)
        decoder.answer()
        #expect(socket.reads > reads)
        _ = try channel.finish()
    }
}
