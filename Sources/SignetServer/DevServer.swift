public import Hummingbird
import HummingbirdCore
public import Logging
public import Metrics
import NIOCore
import ServiceLifecycle
public import SignetCore
public import Tracing
import UnixSignals

/// An AM for a developer's desk: login journeys, push that really arrives, one-time codes that are really checked.
///
/// It speaks what AM speaks (protocol/journey.md, protocol/authenticator.md) and hands push messages to desktop authenticators
/// over streams of its own (docs/desk.md). What it knows is kept where ``ServerConfiguration/state`` says.
///
/// docs/server.md tells which endpoints and journeys it has.
public struct DevServer: Sendable {
    let context: ServerContext

    init(context: ServerContext) { self.context = context }

    /// A server that has not been started.
    /// - Parameters:
    ///   - configuration: how it behaves, and who can log in.
    ///   - clock: what time it is for every timeout, code and signature.
    ///   - logger: where it tells what happens. No secret, code, token or message goes there.
    ///   - metrics: where counts and durations go (docs/operations.md); nil for what the process has chosen.
    ///   - tracer: where spans go; nil for what the process has chosen.
    public init(
        configuration: ServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger,
        metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil
    ) {
        context = ServerContext(
            configuration, clock: clock, logger: logger, telemetry: Telemetry(metrics: metrics, tracer: tracer))
    }

    /// The links of the letters that were sent to a user, the newest last: what a test follows instead of reading mail. The 16
    /// newest are kept.
    /// - Parameters:
    ///   - user: the user's name.
    ///   - realm: the realm the user lives in, as a path.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func letters(to user: String, realm: String = "/") async throws -> [String] {
        try await context.transact { state, moment in
            state.outbox.links(of: UserKey(realm: RealmPath(realm), name: user), at: moment.now)
        }
    }

    /// Makes a new key that signs id_tokens from now on. The keys before it stay in the key set, so that what they signed can
    /// still be verified: what a client does with a `kid` that it has not seen yet.
    /// - Throws: when ``ServerConfiguration/signingKey`` is no key.
    public func rotateSigningKey() async throws {
        try await context.signer.rotate()
    }

    /// Serves until the task is cancelled. Open desk streams end at once then.
    /// - Parameters:
    ///   - gracefulShutdownSignals: whether SIGINT and SIGTERM end the server too, after the requests that are being answered,
    ///     and after 5 seconds, or at a second signal, whether they are answered or not.
    ///   - onReady: called once, when the socket listens, with the base URL, for example `http://127.0.0.1:43121/am`.
    /// - Throws: `StoreError` when the state cannot be opened; ``ConfigurationError`` when it has the starter file's journeys and that
    ///   file cannot be read; ``ServerTLSError`` when there is no certificate to show; what binding the socket throws, for example
    ///   when the port is taken. Being cancelled is no error.
    public func run(
        gracefulShutdownSignals: Bool = false, onReady: @escaping @Sendable (_ baseURL: String) async -> Void
    ) async throws {
        // What is wrong with the state is said before anybody can connect.
        try await context.prepare()
        let application = application(onReady: onReady)
        do {
            if gracefulShutdownSignals {
                try await Self.run(application, untilSignalled: context.logger)
            } else {
                try await application.run()
            }
        } catch  where Task.isCancelled || error is CancellationError {
            context.logger.debug("the server was ended before it had answered everybody")
        } catch {
            await context.close()
            throw error
        }
        await context.close()
    }

    /// Gives back the file or the database that the state is kept in, so that another server can take it. ``run(gracefulShutdownSignals:onReady:)``
    /// and ``serve(_:)`` do so at their end; it is for who uses ``application(onReady:)``. State in memory stays.
    public func close() async { await context.close() }

    /// Serves for as long as `body` takes: a server for a test. It has ended when this returns.
    /// - Parameter body: What needs the server. It gets the base URL.
    /// - Throws: What `body` throws, or what ``run(gracefulShutdownSignals:onReady:)`` throws.
    public func serve<R>(_ body: (_ baseURL: String) async throws -> R) async throws -> R {
        let (ready, urls) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { urls.finish() }
                try await run { urls.yield($0) }
            }
            defer { group.cancelAll() }
            guard let baseURL = await ready.first(where: { _ in true }) else {
                // It ended before it listened, and says why.
                try await group.waitForAll()
                throw CancellationError()
            }
            let value = try await body(baseURL)
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }

    /// Runs it until a signal asks for an end. A second one does not wait for anybody.
    private static func run(_ application: some Service, untilSignalled logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        let group = ServiceGroup(configuration: configuration)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await group.run()
                return true
            }
            tasks.addTask {
                var isEnding = false
                for await _ in signals {
                    guard !isEnding else {
                        logger.warning("a second signal: who is still being answered is cut off")
                        return false
                    }
                    isEnding = true
                    logger.notice("a signal: no more connections are taken; who is being answered is answered")
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

    /// The server as a Hummingbird application, for a test that runs it in process or has its own way to start it.
    public func application(
        onReady: @escaping @Sendable (_ baseURL: String) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let context = context
        var application = Application(
            responder: ServerResponder(server: context),
            server: HTTPServerBuilder { responder in try context.channel(responder) },
            configuration: ApplicationConfiguration(
                address: .hostname(context.configuration.host, port: context.configuration.port), serverName: "signet",
                availableConnectionsDelegate: .maximum(
                    context.configuration.limits.openConnections,
                    logger: Logger(label: "connections") { _ in SwiftLogNoOpLogHandler() })),
            services: context.sns == nil ? [] : [PushDeliveryWorker(server: context)],
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { context.bound(to: port) }
                await onReady(context.baseURL)
            },
            logger: context.logger)
        application.beforeServerStarts {
            if let defect = context.configuration.journeys.defect { throw defect }
        }
        return application
    }
}
