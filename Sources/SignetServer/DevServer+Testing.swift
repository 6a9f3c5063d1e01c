public import Logging
public import SignetCore

extension DevServer {
    /// The log of client requests and of push message events.
    public var requestLog: RequestLog { context.requestLog }

    /// The faults that the server injects.
    public var faults: FaultTable { context.faults }

    /// The server's clock, which a test can move.
    public var clock: AdjustableClock { context.clock }

    /// Creates a link that opens the console once, in a browser on this machine.
    ///
    /// The console shows users, devices, sessions, push messages and requests. It can also move the clock and end sessions
    /// (docs/reference/server.md).
    /// - Throws: `StoreError` when the server's state cannot be written.
    public func consoleLink() async throws -> String { try await context.consoleLink() }

    /// The URL of the administration API, for programs on this machine.
    ///
    /// The API is only available with ``ServerConfiguration/adminToken``.
    package var adminURL: String { "\(context.localURL)/admin" }

    /// Moves the server's clock, which determines all timeouts, codes and signatures.
    /// - Parameter duration: The distance; negative to move the clock backward.
    public func moveClock(by duration: Duration) { clock.advance(by: duration) }

    /// Returns the entries of the ``requestLog`` that match a filter, oldest first.
    public func requestLog(matching filter: RequestLogFilter) -> [RequestLogEntry] { requestLog.entries(matching: filter) }

    /// Waits until the ``requestLog`` has an entry that matches a filter.
    /// - Parameters:
    ///   - filter: The filter.
    ///   - timeout: The longest time to wait, by the machine's clock.
    /// - Returns: The oldest matching entry.
    /// - Throws: ``RequestLogTimeout`` when no entry matched in time, `CancellationError` when the task was canceled.
    public func waitForEntry(matching filter: RequestLogFilter, within timeout: Duration = .seconds(10)) async throws
        -> RequestLogEntry
    {
        try await requestLog.waitForEntry(matching: filter, within: timeout)
    }

    /// Opens a session of a user as the end of a journey does, without running one.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    ///   - journey: The journey that the session shows as completed; nil for ``ServerConfiguration/defaultJourney``.
    /// - Returns: The session's token, as `tokenId` of a journey's end contains it.
    /// - Throws: An error when the user or the journey doesn't exist or the account is locked; `StoreError` when the server's
    ///   state cannot be read or written.
    public func openSession(for user: String, realm: String = "/", journey: String? = nil) async throws -> String {
        try await AdminOperations(server: context).openSession(
            of: UserKey(realm: RealmPath(realm), name: user), journey: journey)
    }

    /// Ends all sessions of a user.
    ///
    /// Clients with a ``RegisteredClient/backchannelLogoutURI`` are informed.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    /// - Returns: The number of sessions that were ended.
    /// - Throws: `StoreError` when the server's state cannot be read or written.
    @discardableResult
    public func endSessions(of user: String, realm: String = "/") async throws -> Int {
        try await AdminOperations(server: context).endSessions(of: UserKey(realm: RealmPath(realm), name: user))
    }

    /// Locks or unlocks a user's account.
    /// - Parameters:
    ///   - isLocked: True to reject the correct password and to suspend the user's sessions and tokens, which become valid again
    ///     when the account is unlocked.
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    /// - Returns: True if the user exists.
    /// - Throws: `StoreError` when the server's state cannot be read or written.
    @discardableResult
    public func setLocked(_ isLocked: Bool, _ user: String, realm: String = "/") async throws -> Bool {
        try await AdminOperations(server: context).change(
            UserKey(realm: RealmPath(realm), name: user), isLocked: isLocked, password: nil)
    }

    /// Takes over a new configuration while the server runs.
    ///
    /// Users, clients, journeys and most settings change; sessions and tokens of users and clients that the new configuration has
    /// stay valid. Changes to clients and journeys over `/admin` are gone.
    /// - Parameter configuration: The new configuration.
    /// - Returns: The difference, with the settings that keep their values until a restart.
    /// - Throws: `StoreError` when the server's state cannot be written; in that case nothing has changed.
    @discardableResult
    public func reload(_ configuration: ServerConfiguration) async throws -> ConfigurationDifference {
        try await context.reload(configuration)
    }

    /// Resets the server to its initial state.
    ///
    /// Users, devices, sessions, tokens, journeys and messages return to their configured state, the clock returns to the
    /// machine's time, all faults are disabled, and open streams end. The request log, the id_token signing keys and open
    /// console logins are kept.
    /// - Throws: `StoreError` when the server's state cannot be written; in that case nothing has changed.
    public func reset() async throws { try await AdminOperations(server: context).reset() }
}

extension DevServer {
    /// The base URL, for example `http://127.0.0.1:43121/am`.
    ///
    /// It is the address of a running server; before the server runs, it is the address that follows from the configuration.
    public var url: String { context.baseURL }
}

/// Runs a server on its own port until `body` returns.
///
/// Tests that run at the same time can each have a server.
///
///     try await withServer { server in
///         try server.faults.enable(FaultRule(.status(503), at: "accessToken", .times(1)))
///         …
///         #expect(server.requestLog.entries.count == 3)
///     }
///
/// - Parameters:
///   - configuration: The server's configuration, with its users. Its port is ignored. The default is the starter file, in which
///     the user `demo` has no password, so a test that logs in must pass a configuration.
///   - clock: The clock that the server's clock follows until the test moves it.
///   - logger: The logger of the server. The default discards everything.
///   - body: The work that needs the server. The server has ended when `withServer` returns.
/// - Returns: The value that `body` returns.
/// - Throws: The error that `body` throws, or the error from binding the socket.
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
