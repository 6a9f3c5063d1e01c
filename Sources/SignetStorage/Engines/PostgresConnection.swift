#if PostgreSQL && os(Linux)
import CPostgreSQL
import Glibc
import Synchronization

/// One connection to a server. Each call takes a lock, so that two threads can never be inside libpq with it; that nobody else
/// speaks on it between two calls is for ``PostgresPool`` to see to.
final class PostgresConnection: Sendable {
    /// The rows of an answer, and the command that it answers.
    struct Answer: Sendable {
        var rows: [[[UInt8]]] = []
        var command = ""
    }

    fileprivate struct Handle {
        let functions: UnsafePointer<signet_libpq>
        /// Nil once it is closed.
        var connection: OpaquePointer?
    }

    private let handle: Mutex<Handle>
    /// How long the server may leave a command unanswered.
    private let patience: Duration

    init(_ settings: PostgresSettings) throws(StoreError) {
        let functions = try PostgresSettings.functions()
        patience = .seconds(settings.patience + Self.grace)
        let connection = try settings.withParameters { names, values in
            functions.pointee.PQconnectStartParams(names, values, 1)
        }
        guard let connection else { throw StoreError(.failed, "connect to PostgreSQL", "no memory is left") }
        // Errors as codes: the server's words are not passed on. Notices would go to standard error.
        _ = functions.pointee.PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE)
        _ = functions.pointee.PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard Self.connect(connection, functions.pointee, until: .now + patience) else {
            let words = functions.pointee.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
            functions.pointee.PQfinish(connection)
            throw settings.connectionFailure(words)
        }
        _ = functions.pointee.PQsetnonblocking(connection, 1)
        handle = Mutex(Handle(functions: functions, connection: connection))
    }

    /// The server ends what takes longer than the patience; this much longer it may take to say so, in seconds.
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

    /// Whether the socket became ready before the time was over; nil when the system cannot say.
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

    func close() {
        handle.withLock { $0.close() }
    }

    /// Whether the next transaction can begin on it.
    var isIdle: Bool {
        handle.withLock { handle in
            guard let connection = handle.connection else { return false }
            return handle.functions.pointee.PQstatus(connection) == CONNECTION_OK
                && handle.functions.pointee.PQtransactionStatus(connection) == PQTRANS_IDLE
        }
    }

    /// Whether it can still be spoken on.
    var isAlive: Bool {
        handle.withLock { handle in
            guard let connection = handle.connection else { return false }
            return handle.functions.pointee.PQstatus(connection) == CONNECTION_OK
        }
    }

    /// Runs SQL without parameters, one command or several; the answer is the last one's.
    func run(_ sql: String, _ operation: String) throws(StoreError) -> Answer {
        try exchange(operation) { functions, connection in functions.PQsendQuery(connection, sql) }
    }

    /// Has the server parse `sql` once, to be run by name.
    func prepare(_ name: String, _ sql: String, _ operation: String) throws(StoreError) {
        _ = try exchange(operation) { functions, connection in functions.PQsendPrepare(connection, name, sql, 0, nil) }
    }

    /// Runs what was prepared, with parameters and rows in PostgreSQL's binary form.
    func run(prepared name: String, _ parameters: [[UInt8]], _ operation: String) throws(StoreError) -> Answer {
        // In one buffer with a byte after each: a null pointer would be NULL, and an empty array may have no address.
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

    /// What other connections have said on the channels that this one listens on; waits for the first of it for as long as
    /// `patience`. Nil when the connection is lost. One whose other end is gone without a word says nothing: ask it for something.
    func notifications(patience: Duration) -> [String]? {
        // What came together with the answer to a command is not in the socket any more.
        if let early = handle.withLock({ $0.notifications() }), !early.isEmpty { return early }
        // The lock is not held while waiting: nobody else speaks on a connection that listens.
        guard let socket = handle.withLock({ $0.socket }) else { return nil }
        guard let isReady = Self.wait(for: socket, Int16(POLLIN), until: .now + patience) else { return nil }
        return isReady ? handle.withLock { $0.notifications() } : []
    }

    /// Sends with `send`, and waits for all that comes back.
    private func exchange(
        _ operation: String, _ send: (signet_libpq, OpaquePointer) -> Int32
    ) throws(StoreError) -> Answer {
        try handle.withLock { (handle) throws(StoreError) -> Answer in
            guard let connection = handle.connection else { throw PostgresFailure.connectionLost(operation) }
            guard send(handle.functions.pointee, connection) == 1 else {
                handle.close()
                throw PostgresFailure.connectionLost(operation)
            }
            return try handle.answer(operation, until: .now + patience)
        }
    }
}

extension PostgresConnection.Handle {
    fileprivate mutating func close() {
        guard let open = connection else { return }
        functions.pointee.PQfinish(open)
        connection = nil
    }

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

    /// Everything that answers what was sent. After a failure the rest is read too, so that the connection stays usable.
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

    /// Waits until the next result is complete. Closes the connection, and answers false, when it is lost.
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
        // libpq makes a result without a code itself, when the connection is lost.
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
