import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SignetCore

/// An HTTPS server on the loopback interface that counts connections and requests.
package final class TLSServer: Sendable {
    package let port: Int
    private let channel: any Channel
    private let log: Log

    fileprivate final class Log: Sendable {
        let connections = Counter()
        let requests = Counter()
    }

    package static func with<R>(
        _ identity: TestAuthority.Identity, _ body: (TLSServer) async throws -> R
    ) async throws -> R {
        let server = try await TLSServer(identity)
        do {
            let result = try await body(server)
            try? await server.channel.close()
            return result
        } catch {
            try? await server.channel.close()
            throw error
        }
    }

    private init(_ identity: TestAuthority.Identity) async throws {
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
        let log = Log()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    log.connections.add()
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answer(log: log))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    package var url: String { "https://localhost:\(port)/" }
    package var requests: Int { log.requests.count }
    package var connections: Int { log.connections.count }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let log: TLSServer.Log

    init(log: TLSServer.Log) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: log.requests.add()
        case .body: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "2"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
