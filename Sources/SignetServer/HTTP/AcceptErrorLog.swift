import Logging
import NIOCore

/// Counts and logs that the operating system refuses new connections, for example because the process has no free file descriptor.
///
/// It stands first in the pipeline of the listening socket. SwiftNIO tries again a second after each such error and doesn't log it,
/// so the server would seem to hang.
final class AcceptErrorLog: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger
    private let onError: @Sendable () -> Void
    private let onWarning: @Sendable (_ problem: String) -> Void
    private var interval = WarningInterval()

    /// Creates the handler of one listening socket.
    /// - Parameters:
    ///   - logger: The logger for the warnings.
    ///   - onError: The closure to call for each error.
    ///   - onWarning: The closure to call with the text of each warning.
    init(
        _ logger: Logger, onError: @escaping @Sendable () -> Void = {},
        onWarning: @escaping @Sendable (_ problem: String) -> Void = { _ in }
    ) {
        self.logger = logger
        self.onError = onError
        self.onWarning = onWarning
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        report(error, at: context.eventLoop.now)
        context.fireErrorCaught(error)
    }

    /// Logs an error, unless one was logged a short time before.
    func report(_ error: any Error, at now: NIODeadline) {
        onError()
        guard interval.isDue(at: now) else { return }
        logger.warning("a connection can't be accepted", metadata: ["error": "\(error)"])
        onWarning("A connection can't be accepted: \(error)")
    }
}
