import Logging
import NIOCore
import SignetCore

/// Counts the open connections of a server, and reports that they are as many as it accepts.
///
/// The listening socket then accepts no further connection until one ends. The system keeps those that wait and does not tell their
/// number, so each connection that takes the last place is counted in their stead: while connections wait, the next one takes the
/// place of each that ends.
final class OpenConnections: Sendable {
    private let maximum: Int
    private let logger: Logger
    private let onFull: @Sendable () -> Void
    private let onWarning: @Sendable (_ problem: String) -> Void
    private let state = Mutex((count: 0, interval: WarningInterval()))

    /// Creates the count for one server.
    /// - Parameters:
    ///   - maximum: The maximum number of connections.
    ///   - logger: The logger for the warnings.
    ///   - onFull: The closure to call for each connection that takes the last place.
    ///   - onWarning: The closure to call with the text of each warning.
    init(
        _ maximum: Int, _ logger: Logger, onFull: @escaping @Sendable () -> Void,
        onWarning: @escaping @Sendable (_ problem: String) -> Void
    ) {
        self.maximum = maximum
        self.logger = logger
        self.onFull = onFull
        self.onWarning = onWarning
    }

    /// Counts a connection until it ends, and logs one that takes the last place unless one was logged a short time before.
    func add(_ channel: any Channel) {
        let (isFull, isDue) = state.withLock { state in
            state.count += 1
            guard state.count >= maximum else { return (false, false) }
            return (true, state.interval.isDue(at: .now()))
        }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.count -= 1 } }
        if isFull { onFull() }
        guard isDue else { return }
        logger.warning("the maximum of connections is open; further ones wait", metadata: ["maximum": "\(maximum)"])
        onWarning("The maximum of \(maximum) connections is open; further ones wait")
    }
}
