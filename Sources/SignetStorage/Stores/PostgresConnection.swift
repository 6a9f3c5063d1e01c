#if PostgreSQL && os(Linux)
import CPostgreSQL
import Glibc
import SignetCore

/// One connection to a server.
///
/// Each call takes a lock, so that two threads never use libpq with this connection at once. ``PostgresPool`` makes sure that no
/// other caller uses the connection between two calls.
package final class PostgresConnection: Sendable {
    /// The rows of a result, and the command tag.
    package struct Answer: Sendable {
        package var rows: [[[UInt8]]] = []
        package var command = ""
    }

    fileprivate struct Handle {
        let functions: UnsafePointer<signet_libpq>
        /// The libpq connection; nil once it is closed.
        var connection: OpaquePointer?
    }

    private let handle: Mutex<Handle>
    /// The timeout for the server's response to a command.
    private let timeout: Duration

    package init(_ settings: PostgresSettings) throws(StoreError) {
        let functions = try PostgresSettings.functions()
        timeout = .seconds(settings.timeout + Self.grace)
        let connection = try settings.withParameters { names, values in
            functions.pointee.PQconnectStartParams(names, values, 1)
        }
        guard let connection else { throw StoreError(.failed, "connect to PostgreSQL", "no memory is left") }
        // Only error codes are requested, because the server's messages are not passed on. Notices would be written to standard
        // error.
        _ = functions.pointee.PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE)
        _ = functions.pointee.PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard Self.connect(connection, functions.pointee, until: .now + timeout) else {
            let words = functions.pointee.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
            functions.pointee.PQfinish(connection)
            throw settings.connectionFailure(words)
        }
        _ = functions.pointee.PQsetnonblocking(connection, 1)
        handle = Mutex(Handle(functions: functions, connection: connection))
    }

    /// The time, in seconds, that the server has in addition to the timeout.
    ///
    /// The server itself cancels a command that exceeds the timeout, and needs time to report it.
    private static let grace = 2.0

    private static func connect(_ connection: OpaquePointer, _ library: signet_libpq, until end: ContinuousClock.Instant) -> Bool
    {
        guard library.PQstatus(connection) != CONNECTION_BAD else { return false }
        var next = PGRES_POLLING_WRITING
        while next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING {
            let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard let ready = wait(for: library.PQsocket(connection), Int16(events), until: end), ready else { return false }
            next = library.PQconnectPoll(connection)
        }
        return next == PGRES_POLLING_OK
    }

    /// Waits until the socket is ready or the time `end`.
    ///
    /// Returns true when it is ready, false after a timeout, and nil when the system call fails.
    fileprivate static func wait(for socket: Int32, _ events: Int16, until end: ContinuousClock.Instant) -> Bool? {
        while true {
            var descriptor = pollfd(fd: socket, events: events, revents: 0)
            let left = max(.zero, end - .now) / .milliseconds(1)
            let ready = poll(&descriptor, 1, Int32(left.rounded(.up)))
            if ready < 0, errno == EINTR { continue }
            return ready < 0 ? nil : ready > 0
        }
    }

    deinit { close() }

    package func close() {
        handle.withLock { $0.close() }
    }

    /// True when the next transaction can begin on this connection.
    package var isIdle: Bool {
        handle.withLock { handle in
            handle.isAlive && handle.functions.pointee.PQtransactionStatus(handle.connection) == PQTRANS_IDLE
        }
    }

    /// True when the connection can still be used.
    package var isAlive: Bool { handle.withLock { $0.isAlive } }

    /// Runs SQL without parameters, one command or several.
    ///
    /// Returns the result of the last command.
    package func run(_ sql: String, _ operation: String) throws(StoreError) -> Answer {
        try exchange(operation) { functions, connection in functions.PQsendQuery(connection, sql) }
    }

    /// Prepares the statement `sql` on the server under a name.
    package func prepare(_ name: String, _ sql: String, _ operation: String) throws(StoreError) {
        _ = try exchange(operation) { functions, connection in functions.PQsendPrepare(connection, name, sql, 0, nil) }
    }

    /// Runs a prepared statement, with parameters and rows in PostgreSQL's binary format.
    package func run(prepared name: String, _ parameters: [[UInt8]], _ operation: String) throws(StoreError) -> Answer {
        // All values are in one buffer, and each is followed by one byte. An empty array may have no address, and libpq would
        // send a null pointer as NULL.
        let buffer: [UInt8] = parameters.flatMap { (bytes) -> [UInt8] in bytes + [0] }
        return try exchange(operation) { functions, connection in
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                let values: [UnsafePointer<CChar>?] = parameters.map { parameter in
                    defer { offset += parameter.count + 1 }
                    return bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
                }
                let lengths = parameters.map { Int32($0.count) }
                let formats = parameters.map { _ in Int32(1) }
                return functions.PQsendQueryPrepared(connection, name, Int32(parameters.count), values, lengths, formats, 1)
            }
        }
    }

    /// Returns the notifications from other connections on the channels that this one listens on.
    ///
    /// Waits at most `timeout` for the first one, and returns an empty array when none arrives. Returns nil when the connection
    /// is lost. If the server has disappeared without closing the connection, there are just no notifications; send a command to
    /// find out.
    package func notifications(timeout: Duration) -> [String]? {
        // Notifications that arrived with the response to a command have been read from the socket already.
        if let early = handle.withLock({ $0.notifications() }), !early.isEmpty { return early }
        // The lock is not held while waiting, because no other caller uses a connection that listens.
        guard let socket = handle.withLock({ $0.socket }) else { return nil }
        guard let isReady = Self.wait(for: socket, Int16(POLLIN), until: .now + timeout) else { return nil }
        return isReady ? handle.withLock { $0.notifications() } : []
    }

    /// Sends a command with `send`, and waits for the complete response.
    private func exchange(
        _ operation: String, _ send: (signet_libpq, OpaquePointer) -> Int32
    ) throws(StoreError) -> Answer {
        try handle.withLock { (handle) throws(StoreError) -> Answer in
            guard let connection = handle.connection else { throw PostgresFailure.connectionLost(operation) }
            guard send(handle.functions.pointee, connection) == 1 else {
                handle.close()
                throw PostgresFailure.connectionLost(operation)
            }
            return try handle.answer(operation, until: .now + timeout)
        }
    }
}

extension PostgresConnection.Handle {
    fileprivate mutating func close() {
        guard let open = connection else { return }
        functions.pointee.PQfinish(open)
        connection = nil
    }

    fileprivate var isAlive: Bool { connection.map { functions.pointee.PQstatus($0) == CONNECTION_OK } ?? false }
    fileprivate var socket: Int32? { connection.map { functions.pointee.PQsocket($0) } }

    fileprivate func notifications() -> [String]? {
        guard let connection, functions.pointee.PQconsumeInput(connection) == 1 else { return nil }
        var texts: [String] = []
        while let notification = functions.pointee.PQnotifies(connection) {
            texts.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
            functions.pointee.PQfreemem(notification)
        }
        return texts
    }

    /// Reads the complete response to a command.
    ///
    /// The rest is read even after an error, so that the connection stays usable.
    fileprivate mutating func answer(
        _ operation: String, until end: ContinuousClock.Instant
    ) throws(StoreError) -> PostgresConnection.Answer {
        var answer = PostgresConnection.Answer()
        var failure: StoreError?
        while true {
            guard let connection, try waitForResult(until: end, operation) else {
                throw failure ?? PostgresFailure.connectionLost(operation)
            }
            guard let result = functions.pointee.PQgetResult(connection) else { break }
            defer { functions.pointee.PQclear(result) }
            switch functions.pointee.PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: answer = read(result)
            default: failure = failure ?? self.failure(result, operation)
            }
        }
        if let failure { throw failure }
        return answer
    }

    /// Waits until the next result is complete.
    ///
    /// When the connection is lost, closes it and returns false.
    /// - Throws: ``StoreError/Code/busy`` when the server does not answer before `end`. The connection is closed then.
    private mutating func waitForResult(until end: ContinuousClock.Instant, _ operation: String) throws(StoreError) -> Bool {
        guard let connection else { return false }
        let library = functions.pointee
        var unsent = library.PQflush(connection)
        while unsent == 1 || library.PQisBusy(connection) == 1 {
            let events = Int16(POLLIN | (unsent == 1 ? POLLOUT : 0))
            let ready = PostgresConnection.wait(for: library.PQsocket(connection), events, until: end)
            if ready == false {
                close()
                throw StoreError(.busy, operation, "the server did not answer in time; nothing was changed, try again")
            }
            guard ready == true, library.PQconsumeInput(connection) == 1 else { return lost() }
            unsent = library.PQflush(connection)
        }
        return unsent == 0 ? true : lost()
    }

    private mutating func lost() -> Bool {
        close()
        return false
    }

    private func failure(_ result: OpaquePointer, _ operation: String) -> StoreError {
        let state = functions.pointee.PQresultErrorField(result, Int32(signet_libpq_sqlstate))
        // libpq itself creates a result without a code when the connection is lost.
        return state.map { PostgresFailure.storeError(sqlState: String(cString: $0), operation) }
            ?? PostgresFailure.connectionLost(operation)
    }

    private func read(_ result: OpaquePointer) -> PostgresConnection.Answer {
        let library = functions.pointee
        let rows = (0..<library.PQntuples(result)).map { row in
            (0..<library.PQnfields(result)).map { column in
                let length = Int(library.PQgetlength(result, row, column))
                return [UInt8](UnsafeRawBufferPointer(start: library.PQgetvalue(result, row, column), count: length))
            }
        }
        return PostgresConnection.Answer(
            rows: rows, command: library.PQcmdStatus(result).map { String(cString: $0) } ?? "")
    }
}

#endif
