#if PostgreSQL && os(Linux)
import Dispatch
import SignetCore

/// The connections of one store.
///
/// They are created when they are needed, kept for later use, and lent to one caller at a time.
final class PostgresPool: Sendable {
    private let idle = Mutex<[PostgresConnection]>([])
    private let permits: DispatchSemaphore
    private let connect: @Sendable () throws(StoreError) -> PostgresConnection

    init(size: Int, connect: @escaping @Sendable () throws(StoreError) -> PostgresConnection) {
        permits = DispatchSemaphore(value: max(1, size))
        self.connect = connect
    }

    /// Runs `body` with a connection on which a transaction has begun with `command`.
    ///
    /// Keeps the connection afterwards if it can be used again.
    ///
    /// An idle connection may have been lost since its last use, for example because the server was restarted. Nothing has been
    /// done on it then, so the transaction begins on a new one.
    func withTransaction<R>(
        _ command: String, _ operation: String, _ body: (PostgresConnection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        permits.wait()
        defer { permits.signal() }
        let connection = try begun(command, operation)
        defer { release(connection) }
        return try body(connection)
    }

    func close() {
        for connection in idle.withLock({ connections in
            defer { connections = [] }
            return connections
        }) {
            connection.close()
        }
    }

    private func begun(_ command: String, _ operation: String) throws(StoreError) -> PostgresConnection {
        while true {
            let known = idle.withLock { $0.popLast() }
            let connection = if let known { known } else { try connect() }
            do throws(StoreError) {
                _ = try connection.run(command, operation)
                return connection
            } catch {
                if known != nil, !connection.isAlive, error.code != .busy { continue }
                // If this fails, the connection is not idle, and `release` closes it.
                _ = try? connection.run("ROLLBACK", "roll back")
                release(connection)
                throw error
            }
        }
    }

    private func release(_ connection: PostgresConnection) {
        if connection.isIdle {
            idle.withLock { $0.append(connection) }
        } else {
            connection.close()
        }
    }
}

#endif
