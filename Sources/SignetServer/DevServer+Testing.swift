public import Logging
public import SignetCore

extension DevServer {
    /// What clients asked and what became of push messages.
    public var journal: RequestLog { context.journal }

    /// What goes wrong on purpose.
    public var faults: FaultTable { context.faults }

    /// The clock that everything goes by.
    public var clock: AdjustableClock { context.clock }

    /// The entries of the ``journal`` that a filter lets through, oldest first.
    /// - Parameter filter: What is wanted.
    public func journal(matching filter: RequestLogFilter) -> [RequestLogEntry] { journal.entries(matching: filter) }

    /// Waits until there is an entry in the ``journal`` that a filter lets through, and gives the oldest one.
    /// - Parameters:
    ///   - filter: What is wanted.
    ///   - patience: How long to wait, by the machine's clock.
    /// - Throws: ``RequestLogTimeout`` when there was none in time, `CancellationError` when the task was cancelled.
    public func waitForEntry(matching filter: RequestLogFilter, within patience: Duration = .seconds(10)) async throws
        -> RequestLogEntry
    {
        try await journal.waitForEntry(matching: filter, within: patience)
    }

    /// Ends all sessions of a user, as their time would.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The realm the user lives in, as a path.
    /// - Returns: How many there were.
    /// - Throws: `StoreError` when the server's state cannot be read or written.
    @discardableResult
    public func endSessions(of user: String, realm: String = "/") async throws -> Int {
        try await AdminOperations(server: context).endSessions(of: UserKey(realm: RealmPath(realm), name: user))
    }

    /// Lets nobody in as this user any more, or lets them in again.
    /// - Parameters:
    ///   - isLocked: Whether the right password is refused, and sessions and tokens are not good. They are again when it is lifted.
    ///   - user: The user's name.
    ///   - realm: The realm the user lives in, as a path.
    /// - Returns: Whether there is such a user.
    /// - Throws: `StoreError` when the server's state cannot be read or written.
    @discardableResult
    public func setLocked(_ isLocked: Bool, _ user: String, realm: String = "/") async throws -> Bool {
        try await AdminOperations(server: context).change(
            UserKey(realm: RealmPath(realm), name: user), isLocked: isLocked, password: nil)
    }

    /// Forgets everything that happened: users, devices, sessions, tokens, journeys and messages are as at the start, the clock is that of
    /// the machine, no fault is on, and streams have ended. The journal, the keys of id_tokens, and who has the console open stay.
    /// - Throws: `StoreError` when the server's state cannot be written; then nothing has changed.
    public func startAgain() async throws { try await AdminOperations(server: context).startAgain() }
}

extension DevServer {
    /// The base URL, for example `http://127.0.0.1:43121/am`: where a server that runs is, and otherwise where its configuration says
    /// that it would be.
    public var url: String { context.baseURL }
}

/// Runs a server on a port of its own for as long as `body` takes. Tests that run at the same time each have theirs.
///
///     try await withServer { server in
///         try server.faults.switchOn(FaultRule(.status(503), at: "accessToken", .times(1)))
///         …
///         #expect(server.journal.entries.count == 3)
///     }
///
/// - Parameters:
///   - configuration: How it behaves, and who can log in. Its port is not used. Without one, it is the starter file, in which `demo` has
///     no password: give one.
///   - clock: What time it is, until the test moves it.
///   - logger: Where it tells what happens; nowhere unless given.
///   - body: What needs the server. It has ended when this returns.
/// - Throws: What `body` throws, or what binding the socket throws.
public func withServer<R>(
    _ configuration: ServerConfiguration = .starter, clock: any WallClock = SystemWallClock(),
    logger: Logger = Logger(label: "signet.server", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ body: (DevServer) async throws -> R
) async throws -> R {
    var configuration = configuration
    configuration.port = 0
    let server = DevServer(configuration: configuration, clock: clock, logger: logger)
    return try await server.serve { _ in try await body(server) }
}
