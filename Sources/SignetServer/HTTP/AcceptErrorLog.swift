import Logging
import NIOCore

/// Logs that the operating system refuses new connections, for example because the process has no free file descriptor.
///
/// It stands first in the pipeline of the listening socket. SwiftNIO tries again a second after each such error and doesn't log it,
/// so the server would seem to hang.
final class AcceptErrorLog: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// The time after a warning in which no further one is logged.
    static let pause = TimeAmount.minutes(1)

    private let logger: Logger
    private var lastWarning: NIODeadline?

    /// Creates the handler of one listening socket.
    init(_ logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        report(error, at: context.eventLoop.now)
        context.fireErrorCaught(error)
    }

    /// Logs an error, unless one was logged a short time before.
    func report(_ error: any Error, at now: NIODeadline) {
        guard lastWarning.map({ now >= $0 + Self.pause }) ?? true else { return }
        lastWarning = now
        logger.warning("a connection can't be accepted", metadata: ["error": "\(error)"])
    }
}
