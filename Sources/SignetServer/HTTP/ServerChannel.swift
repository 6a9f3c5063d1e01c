import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import SignetCore

/// Sets up a connection: the handler that watches its speed from the first byte, TLS if the server has a certificate, HTTP,
/// and the size of its reads.
struct ServerChannel: ServerChildChannel {
    let http: HTTP1Channel
    let tls: TLSIdentity?
    let openConnections: OpenConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        openConnections.add(channel)
        return channel.eventLoop.makeCompletedFuture {
            try Self.addConnectionHandlers(to: channel, tls)
        }.flatMap {
            http.setup(channel: channel, logger: logger).map(AcceptedConnection.init)
        }.flatMapThrowing { connection in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(HostHeader(), position: .after(decoder))
            return connection
        }
    }

    /// Adds the handlers before the HTTP decoder.
    private static func addConnectionHandlers(to channel: any Channel, _ tls: TLSIdentity?) throws {
        try channel.pipeline.syncOperations.addHandler(RequestStart())
        if let tls {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context()))
        }
        try limitReads(of: channel)
    }

    /// Makes a connection read one small piece whenever the event loop has found that its socket is readable.
    ///
    /// A client may send thousands of requests without waiting for responses (RFC 9112 section 9.3.2). The event loop looks at its
    /// sockets only when it has no other work. With small pieces, the requests that are in memory end soon, and the other connections
    /// have their turn before the next piece.
    private static func limitReads(of channel: any Channel) throws {
        try channel.syncOptions?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 1024))
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    }

    func handle(value connection: AcceptedConnection, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(connection.channel.eventLoop)) {
            await http.handle(value: connection.take(), logger: logger)
        }
    }
}

extension ServerContext {
    /// Returns the channel setup for connections to this server.
    /// - Throws: ``ServerTLSError`` when TLS is configured and there isn't a certificate.
    func channel(_ responder: @escaping HTTPChannelHandler.Responder) throws -> ServerChannel {
        let (limits, telemetry, clock, requestLog) = (configuration.limits, telemetry, clock, requestLog)
        let onHeadError: @Sendable (HeadError, any Channel) -> Void = { error, channel in
            if let reason = error.reason { telemetry.count([.refused(reason)]) }
            requestLog.add(error, from: ClientConnection(channel).address, at: clock.now)
        }
        let http = HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    DateHandler(clock),
                    RequestPace(limits, onHeadError: onHeadError) { telemetry.count([.refused(.bodyTooSlow)]) },
                    IgnoredUpgrade(),
                ],
                idleTimeout: .seconds(Int64(max(1, limits.idleTimeout))),
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: max(256, limits.maxHeaderSize), maxHeaderListSize: max(256, limits.maxHeaderSize),
                    maxHeaderFieldCount: 200)))
        let tls = try configuration.tls.map { try TLSIdentity(configuration, $0, clock: machineClock, logger: logger) }
        let connections = OpenConnections(limits.openConnections, logger) {
            telemetry.count([.connectionsFull])
        } onWarning: {
            requestLog.add(connectionProblem: $0, at: clock.now)
        }
        return ServerChannel(http: http, tls: tls, openConnections: connections)
    }

    /// The handler of the listening socket, which counts the connections that can't be accepted and adds them to the request log.
    var acceptErrorLog: AcceptErrorLog {
        let (telemetry, clock, requestLog) = (telemetry, clock, requestLog)
        return AcceptErrorLog(logger) {
            telemetry.count([.refused(.notAccepted)])
        } onWarning: {
            requestLog.add(connectionProblem: $0, at: clock.now)
        }
    }
}

extension ServerLimits {
    /// The maximum number of open connections.
    ///
    /// It stays 64 below the process's limit of open files, because a server without free file descriptors would end.
    var openConnections: Int {
        let files = sysconf(CInt(_SC_OPEN_MAX))
        // A negative value means that the number of files is unlimited.
        return max(1, files < 0 ? maxConnections : min(maxConnections, files - 64))
    }
}
