#if PostgreSQL && os(Linux)
import Dispatch
import Synchronization

/// Hears what other processes say with `NOTIFY`, on a connection and a thread of its own.
final class PostgresListener: Sendable {
    private let isClosed = Atomic(false)
    private let mark: String
    private let connect: @Sendable () throws(StoreError) -> PostgresConnection

    /// After so much silence the server is asked whether it is still there: a connection whose other end is gone without a word is
    /// silent as well.
    private static let silence = Duration.seconds(5)
    private static let pause = Duration.milliseconds(500)

    /// - Parameter mark: what stands in front of the signals that are this process's own.
    init(ignoring mark: String, connect: @escaping @Sendable () throws(StoreError) -> PostgresConnection) {
        (self.mark, self.connect) = (mark, connect)
    }

    /// Calls `receive` with each signal, and with nil when some may have been missed, until it is closed.
    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void) {
        DispatchQueue(label: "signet.signals").async { [self] in
            while isOpen {
                guard let connection = try? connect(), Self.beginToListen(on: connection) else {
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(500))
                    continue
                }
                // What was said while nobody listened is lost.
                receive(nil)
                hear(connection, receive)
                connection.close()
            }
        }
    }

    func close() { isClosed.store(true, ordering: .relaxed) }

    private static func beginToListen(on connection: PostgresConnection) -> Bool {
        (try? connection.run("LISTEN \(PostgresRowCommands.channel)", "listen")) != nil
    }

    private var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

    /// Returns when the connection is lost, or nobody wants to hear any more.
    private func hear(_ connection: PostgresConnection, _ receive: (_ signal: String?) -> Void) {
        var lastWord = ContinuousClock.now
        while isOpen {
            guard let heard = connection.notifications(patience: Self.pause) else { return }
            for signal in heard where !signal.hasPrefix(mark) {
                receive(signal.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "")
            }
            if !heard.isEmpty { lastWord = .now }
            guard ContinuousClock.now - lastWord > Self.silence else { continue }
            // To listen again changes nothing, and lets the server's list of connections say what this one is for.
            guard Self.beginToListen(on: connection) else { return }
            lastWord = .now
        }
    }
}

/// Removes rows that have expired: now and then, some at a time, on a connection and a thread of its own, so that no transaction waits
/// for it.
final class PostgresSweeper: Sendable {
    private struct Work: Sendable {
        var last = ContinuousClock.now
        var isRunning = false
        var isClosed = false
        /// Nil until there is something to sweep, and when it was lost.
        var connection: PostgresConnection?
    }

    private let work = Mutex(Work())
    private let queue = DispatchQueue(label: "signet.sweep", qos: .utility)
    private let connect: @Sendable () throws(StoreError) -> PostgresConnection

    private static let pause = Duration.milliseconds(200)
    private static let most = 2000

    init(connect: @escaping @Sendable () throws(StoreError) -> PostgresConnection) { self.connect = connect }

    /// Begins to sweep what had expired at `now`, unless it was done a moment ago or is going on.
    func sweep(at now: Int64) {
        let begins = work.withLock { work in
            guard now > .min, !work.isRunning, !work.isClosed, ContinuousClock.now - work.last > Self.pause else { return false }
            work.isRunning = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            // What cannot be removed now can be later.
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
        _ = try connection.run(PostgresRowCommands.sweep(at: now, limit: Self.most), "sweep the state")
    }
}
#endif
