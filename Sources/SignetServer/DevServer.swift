public import Hummingbird
import HummingbirdCore
public import Logging
public import Metrics
import ServiceLifecycle
public import SignetCore
public import Tracing
import UnixSignals

/// An AM server for development: it runs login journeys, delivers push messages, and verifies one-time codes.
///
/// It implements AM's protocols (protocol/journey.md, protocol/authenticator.md) and delivers push messages to desktop
/// authenticators over its own push streams (docs/protocol/push-stream.md). ``ServerConfiguration/state`` says where it stores its state.
///
/// docs/reference/server.md lists its endpoints and journeys.
public struct DevServer: Sendable {
    let context: ServerContext

    init(context: ServerContext) { self.context = context }

    /// Creates a server and does not start it.
    /// - Parameters:
    ///   - configuration: The server's configuration, with its users.
    ///   - clock: The time source for every timeout, code and signature.
    ///   - logger: The server's logger. It receives no secrets, codes, tokens or messages.
    ///   - metrics: The factory for counters and timers (docs/guides/operations.md); nil to use the process-wide one.
    ///   - tracer: The tracer that receives spans; nil to use the process-wide one.
    public init(
        configuration: ServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger,
        metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil
    ) {
        context = ServerContext(
            configuration, clock: clock, logger: logger, telemetry: Telemetry(metrics: metrics, tracer: tracer))
    }

    /// Returns the links of the emails that were sent to a user, newest last, so that a test can follow them.
    ///
    /// The server keeps the 16 newest links.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    /// - Returns: At most 16 addresses; empty when no email is stored.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func emailLinks(to user: String, realm: String = "/") async throws -> [String] {
        try await context.store.read { tx in
            try tx.emails.links(of: UserKey(realm: RealmPath(realm), name: user))
        }
    }

    /// Returns the emails that were sent to an address, oldest first: to existing users, and to those that a journey is about to
    /// create.
    /// - Parameter address: The address, without regard to case; nil for all emails.
    /// - Returns: The emails that the server keeps: at most the 16 newest ones of each user and each address.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func emails(to address: String? = nil) async throws -> [Email] {
        try await context.store.read(skippingUnreadableRows: true) { tx in
            try tx.emails.newest(ConsoleFacts.rows).filter { address == nil || $0.isTo(address ?? "") }.map { Email($0) }
        }
    }

    /// Creates new keys, one for each algorithm, that sign tokens from now on.
    ///
    /// Earlier keys stay in the key set until the longest lifetime of a token is over, by the server's clock, so that tokens that they
    /// signed can still be verified. A test uses it to check that a
    /// client fetches the key set again for an unknown `kid`.
    /// - Throws: An error when ``ServerConfiguration/signingKey`` isn't a valid key.
    public func rotateSigningKey() async throws {
        try await context.signer.rotate()
    }

    /// Runs the server until the task is canceled.
    ///
    /// Cancellation ends open push streams at once.
    /// - Parameters:
    ///   - gracefulShutdownSignals: True to also shut down on SIGINT and SIGTERM. The server then finishes the requests in
    ///     progress, and stops after at most 5 seconds or at a second signal.
    ///   - onHangup: The closure to call at each SIGHUP, for example to ``reload(_:)`` a configuration; false stops the server like
    ///     SIGTERM. When nil, SIGHUP has its usual effect. It needs `gracefulShutdownSignals`.
    ///   - onReady: The closure to call once, when the socket listens, with the base URL, for example
    ///     `http://127.0.0.1:43121/am`.
    /// - Throws: `StoreError` when the state cannot be opened; ``ConfigurationError`` when the configuration uses the starter
    ///   file's journeys and that file cannot be read; ``ServerTLSError`` when the server has no certificate to present; the
    ///   error from binding the socket, for example when the port is taken. Cancellation doesn't throw.
    public func run(
        gracefulShutdownSignals: Bool = false, onHangup: (@Sendable () async -> Bool)? = nil,
        onReady: @escaping @Sendable (_ baseURL: String) async -> Void
    ) async throws {
        // Open the state first, so that an error in it is reported before a client can connect.
        try await context.prepare()
        let application = application(onReady: onReady)
        do {
            if gracefulShutdownSignals {
                try await Self.run(application, onHangup, untilSignalled: context.logger)
            } else {
                try await application.run()
            }
        } catch  where Task.isCancelled || error is CancellationError {
            context.logger.debug("the server ended before it had answered all requests")
        } catch {
            await context.store.close()
            throw error
        }
        await context.store.close()
    }

    /// Releases the file or the database that holds the state, so that another server can open it.
    ///
    /// ``run(gracefulShutdownSignals:onHangup:onReady:)`` and ``serve(_:)`` do this when they end; a caller of
    /// ``application(onReady:)`` must do it itself. In-memory state is kept.
    public func close() async { await context.store.close() }

    /// Runs the server until `body` returns, for example in a test.
    ///
    /// The server has ended when this method returns.
    /// - Parameter body: The work that needs the server. Its argument is the base URL.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws, or an error that ``run(gracefulShutdownSignals:onHangup:onReady:)`` throws.
    public func serve<R>(_ body: (_ baseURL: String) async throws -> R) async throws -> R {
        let (ready, urls) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { urls.finish() }
                try await run { urls.yield($0) }
            }
            defer { group.cancelAll() }
            guard let baseURL = await ready.first(where: { _ in true }) else {
                // The server ended before it listened: throw its error.
                try await group.waitForAll()
                throw CancellationError()
            }
            let value = try await body(baseURL)
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }

    /// Runs the application until a signal requests a graceful shutdown.
    ///
    /// A second signal stops it without waiting for open requests.
    private static func run(
        _ application: some Service, _ onHangup: (@Sendable () async -> Bool)?, untilSignalled logger: Logger
    ) async throws {
        var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        let group = ServiceGroup(configuration: configuration)
        let signals =
            onHangup == nil
            ? await UnixSignalsSequence(trapping: .sigint, .sigterm)
            : await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await group.run()
                return true
            }
            tasks.addTask {
                var isEnding = false
                for await signal in signals {
                    if signal == .sighup, await onHangup?() != false { continue }
                    guard !isEnding else {
                        logger.warning("second signal: open requests are canceled")
                        return false
                    }
                    isEnding = true
                    logger.notice("signal: no new connections are accepted; open requests are completed")
                    await group.triggerGracefulShutdown()
                }
                return true
            }
            defer { tasks.cancelAll() }
            if try await tasks.next() == false {
                tasks.cancelAll()
                throw CancellationError()
            }
        }
    }

    /// Returns the server as a Hummingbird application, for a test that runs it in process or starts it in its own way.
    public func application(
        onReady: @escaping @Sendable (_ baseURL: String) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let context = context
        var application = Application(
            responder: context.responder,
            server: HTTPServerBuilder { responder in try context.channel(responder) },
            configuration: ApplicationConfiguration(
                address: .hostname(context.configuration.host, port: context.configuration.port), serverName: "signet",
                availableConnectionsDelegate: .maximum(
                    context.configuration.limits.openConnections,
                    logger: Logger(label: "connections") { _ in SwiftLogNoOpLogHandler() })),
            services: context.services,
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { context.bound(to: port) }
                // The errors of the socket come to the first handler. Without it, the server runs as well.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(context.acceptErrorLog, position: .first)
                }.get()
                await onReady(context.baseURL)
            },
            logger: context.logger)
        application.beforeServerStarts {
            if let defect = context.configuration.journeys.defect { throw defect }
        }
        return application
    }
}

extension ServerContext {
    /// The services that run beside the HTTP server.
    fileprivate var services: [any Service] {
        var services: [any Service] = []
        if let sns { services.append(PushDeliveryWorker(server: self, sns: sns)) }
        if let smtp { services.append(EmailDeliveryWorker(server: self, client: smtp)) }
        services.append(LogoutDeliveryWorker(server: self, transport: logoutTransport))
        return services
    }
}
