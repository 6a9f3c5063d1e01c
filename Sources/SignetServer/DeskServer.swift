public import Hummingbird
public import Logging
import NIOCore
import ServiceLifecycle
public import SignetCore
import UnixSignals

/// An AM for a developer's desk: login journeys, push that really arrives, one-time codes that are really checked.
///
/// It speaks what AM speaks (protocol/journey.md, protocol/authenticator.md) and hands push messages to desktop authenticators
/// over streams of its own (docs/desk.md). Everything it knows is in memory for now, and gone when the server is.
///
/// docs/server.md tells which endpoints and journeys it has.
public struct DeskServer: Sendable {
    let desk: Desk

    init(desk: Desk) { self.desk = desk }

    /// A server that has not been started.
    /// - Parameters:
    ///   - configuration: how it behaves, and who can log in.
    ///   - clock: what time it is for every timeout, code and signature.
    ///   - logger: where it tells what happens. No secret, code, token or message goes there.
    public init(configuration: ServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger) {
        desk = Desk(configuration, clock: clock, logger: logger)
    }

    /// The links of the letters that were sent to a user, the newest last: what a test follows instead of reading mail. The 16
    /// newest are kept.
    /// - Parameters:
    ///   - user: the user's name.
    ///   - realm: the realm the user lives in, as a path.
    public func letters(to user: String, realm: String = "/") -> [String] {
        desk.transact { state, _ in state.outbox[UserKey(realm: RealmPath(realm), name: user)] }
    }

    /// Makes a new key that signs id_tokens from now on. The keys before it stay in the key set, so that what they signed can
    /// still be verified: what a client does with a `kid` that it has not seen yet.
    /// - Throws: when ``ServerConfiguration/signingKey`` is no key.
    public func rotateSigningKey() async throws {
        try await desk.signer.rotate()
    }

    /// Serves until the task is cancelled. Open desk streams end at once then.
    /// - Parameters:
    ///   - gracefulShutdownSignals: whether SIGINT and SIGTERM end the server too, after the requests that are being answered,
    ///     and after 5 seconds whether they are answered or not.
    ///   - onReady: called once, when the socket listens, with the base URL, for example `http://127.0.0.1:43121/am`.
    /// - Throws: what binding the socket throws, for example when the port is taken. Being cancelled is no error.
    public func run(
        gracefulShutdownSignals: Bool = false, onReady: @escaping @Sendable (_ baseURL: String) async -> Void
    ) async throws {
        let application = application(onReady: onReady)
        do {
            if gracefulShutdownSignals {
                try await Self.group(of: application, logger: desk.logger).run()
            } else {
                try await application.run()
            }
        } catch  where Task.isCancelled || error is CancellationError {
            desk.logger.debug("the server was ended before it had answered everybody")
        }
    }

    /// Serves for as long as `body` takes: a server for a test. It has ended when this returns.
    /// - Parameter body: What needs the server. It gets the base URL.
    /// - Throws: What `body` throws, or what binding the socket throws.
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

    private static func group(of application: some Service, logger: Logger) -> ServiceGroup {
        var configuration = ServiceGroupConfiguration(
            services: [application], gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        return ServiceGroup(configuration: configuration)
    }

    /// After so long without a request a connection is closed; one that a desk stream is open on is never idle.
    private static var idleTimeout: TimeAmount { .seconds(60) }

    /// The server as a Hummingbird application, for a test that runs it in process or has its own way to start it.
    public func application(
        onReady: @escaping @Sendable (_ baseURL: String) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let desk = desk
        return Application(
            responder: DeskResponder(desk: desk),
            server: .http1(configuration: .init(idleTimeout: Self.idleTimeout)),
            configuration: ApplicationConfiguration(
                address: .hostname(desk.configuration.host, port: desk.configuration.port), serverName: "signet"),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { desk.bound(to: port) }
                await onReady(desk.baseURL)
            },
            logger: desk.logger)
    }
}
