#if PostgreSQL && os(Linux)
import Dispatch
import SignetCore
import SignetStorage

/// Receives the signals that other processes send with `NOTIFY`, on a connection and a thread of its own.
final class PostgresListener: Sendable {
    private let isClosed = Latch()
    private let mark: String
    private let connect: @Sendable () throws(StoreError) -> PostgresConnection

    /// The time without signals after which the listener sends a command to the server.
    ///
    /// Without it, the listener would not notice that the server has disappeared without closing the connection.
    private static let silence = Duration.seconds(5)
    private static let pause = Duration.milliseconds(500)

    /// Creates a listener.
    /// - Parameters:
    ///   - mark: The prefix of this process's own signals, which are ignored.
    ///   - connect: Opens a connection.
    init(ignoring mark: String, connect: @escaping @Sendable () throws(StoreError) -> PostgresConnection) {
        (self.mark, self.connect) = (mark, connect)
    }

    /// Calls `receive` with each signal, and with nil when some may have been missed, until the listener is closed.
    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void) {
        DispatchQueue(label: "signet.signals").async { [self] in
            while isOpen {
                guard let connection = try? connect(), Self.beginToListen(on: connection) else {
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(500))
                    continue
                }
                // Signals that were sent before `LISTEN` are lost.
                receive(nil)
                forward(connection, receive)
                connection.close()
            }
        }
    }

    func close() { isClosed.set() }

    private static func beginToListen(on connection: PostgresConnection) -> Bool {
        (try? connection.run("LISTEN \(PostgresRowCommands.channel)", "listen")) != nil
    }

    private var isOpen: Bool { !isClosed.isSet }

    /// Passes signals to `receive` until the connection is lost or the listener is closed.
    private func forward(_ connection: PostgresConnection, _ receive: (_ signal: String?) -> Void) {
        var lastWord = ContinuousClock.now
        while isOpen {
            guard let heard = connection.notifications(timeout: Self.pause) else { return }
            for signal in heard where !signal.hasPrefix(mark) {
                receive(signal.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "")
            }
            if !heard.isEmpty { lastWord = .now }
            guard ContinuousClock.now - lastWord > Self.silence else { continue }
            // A repeated `LISTEN` has no effect, and shows the purpose of this connection in the server's list of connections.
            guard Self.beginToListen(on: connection) else { return }
            lastWord = .now
        }
    }
}

/// Removes expired rows now and then, a limited number at a time.
///
/// It uses a connection and a thread of its own, so that no transaction waits for it.
final class PostgresSweeper: Sendable {
    private struct Work: Sendable {
        var last = ContinuousClock.now
        var isRunning = false
        var isClosed = false
        /// The connection; nil until the first sweep.
        var connection: PostgresConnection?
    }

    private let work = Mutex(Work())
    private let queue = DispatchQueue(label: "signet.sweep", qos: .utility)
    private let connect: @Sendable () throws(StoreError) -> PostgresConnection

    private static let pause = Duration.milliseconds(200)
    private static let batchSize = 2000

    init(connect: @escaping @Sendable () throws(StoreError) -> PostgresConnection) { self.connect = connect }

    /// Starts to remove rows that had expired at `now`, unless a sweep is running or has just ended.
    func sweep(at now: Int64) {
        let begins = work.withLock { work in
            guard now > .min, !work.isRunning, !work.isClosed, ContinuousClock.now - work.last > Self.pause else { return false }
            work.isRunning = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            // Ignores errors, because a later sweep removes the remaining rows.
            try? remove(before: now)
            work.withLock { ($0.isRunning, $0.last) = (false, .now) }
        }
    }

    func close() {
        let connection = work.withLock { work in
            work.isClosed = true
            return work.connection
        }
        connection?.close()
    }

    private func remove(before now: Int64) throws(StoreError) {
        let connection: PostgresConnection
        if let open = work.withLock({ $0.connection }), open.isIdle { connection = open } else { connection = try connect() }
        let isClosed = work.withLock { work in
            work.connection = connection
            return work.isClosed
        }
        guard !isClosed else { return connection.close() }
        _ = try connection.run(PostgresRowCommands.sweep(at: now, limit: Self.batchSize), "sweep the state")
    }
}
#endif
