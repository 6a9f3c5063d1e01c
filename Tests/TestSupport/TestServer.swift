package import HummingbirdTesting
package import Logging
package import SignetCore
import SignetJourney
package import SignetNetwork
import SignetOAuth
package import SignetServer
package import SignetTesting

/// A development server for one test, in this process and without a socket.
///
/// ``Live`` is one on a port of this machine, and ``Process`` is `signet serve` as a process.
package struct TestServer: Sendable {
    /// The server.
    package let devServer: DevServer
    /// The clock of the server.
    package let clock: ManualClock
    /// Sends requests to the server's router.
    package let client: any TestClientProtocol

    /// Runs `body` with a server, and closes the server's state afterwards.
    /// - Parameters:
    ///   - devServer: The server, which isn't running.
    ///   - clock: The clock of that server.
    ///   - body: The code that uses the server.
    /// - Throws: The error of `body`, or the one with which the server refuses to start.
    package static func run(
        _ devServer: DevServer, clock: ManualClock, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let outcome = await Result(of: {
            try await devServer.application().test(.router) { client in
                try await body(TestServer(devServer: devServer, clock: clock, client: client))
            }
        })
        await devServer.close()
        try outcome.get()
    }

    /// Runs `body` with a server of this configuration, and closes the server's state afterwards.
    /// - Parameters:
    ///   - configuration: The configuration, with the users and the location of the state.
    ///   - clock: The clock of the server.
    ///   - logger: The logger of the server.
    ///   - body: The code that uses the server.
    /// - Throws: The error of `body`, or the one with which the server refuses to start.
    package static func run(
        _ configuration: ServerConfiguration, clock: ManualClock = ManualClock(), logger: Logger = .silent,
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run(DevServer(configuration: configuration, clock: clock, logger: logger), clock: clock, body)
    }
}

extension TestServer {
    /// A server in this process that listens on a port of the loopback interface, and a transport to it.
    package struct Live: Sendable {
        /// The server.
        package let devServer: DevServer
        /// The base URL, for example `http://127.0.0.1:43121/am`.
        package let url: String
        /// A transport for requests to the server.
        package let transport: AsyncHTTPTransport

        /// Creates a user of this server.
        /// - Parameters:
        ///   - name: The name of the user.
        ///   - password: The password of the user.
        /// - Returns: A user that runs journeys at this server.
        /// - Throws: `ProfileError` for a base URL that a client does not accept.
        package func user(_ name: String = "demo", password: String = "password") throws -> TestUser {
            TestUser(journey: Journey(try ServerProfile(url: url), transport: transport), name: name, password: password)
        }
    }

    /// Runs `body` with a server on a socket.
    ///
    /// The server has stopped when this returns.
    /// - Parameters:
    ///   - configuration: The configuration. Its port is ignored, because another program may occupy any fixed port.
    ///   - port: The port of the server; nil for a free port.
    ///   - clock: The clock of the server.
    ///   - logger: The logger of the server.
    ///   - body: The code that uses the server.
    /// - Throws: The error of `body`, or the one with which the server refuses to start.
    package static func live(
        _ configuration: ServerConfiguration, port: ReservedPort? = nil, clock: any WallClock = SystemWallClock(),
        logger: Logger = .silent, _ body: (Live) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.port = port?.number ?? 0
        let devServer = DevServer(configuration: configuration, clock: clock, logger: logger)
        try await devServer.serve { url in
            try await AsyncHTTPTransport().use { transport in
                try await body(Live(devServer: devServer, url: url, transport: transport))
            }
        }
    }
}

extension ManualClock {
    /// Creates a clock that shows the start of 2025.
    package convenience init() { self.init(Sample.start) }
}

extension Logger {
    /// A logger that discards its messages.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
