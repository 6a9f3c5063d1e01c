import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// `signet serve` as a process, and a user at its login page.
struct RunningServer {
    let process: TestProcess
    let url: String
    let browser: Browser

    /// Starts a server and runs `body`.
    ///
    /// The server has ended when this returns.
    /// - Parameters:
    ///   - cli: The directory of the server's user.
    ///   - options: Options of `signet serve`.
    ///   - port: The port of the server; nil for a free port.
    ///   - body: The code that uses the server.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`, and those of a server that does not start.
    static func with<R>(
        _ cli: CommandLineFixture, _ options: [String] = [], port: ReservedPort? = nil, body: (RunningServer) async throws -> R
    ) async throws -> R {
        try await TestServer.Process.with(options, port: port, environment: cli.environment()) { server in
            try await AsyncHTTPTransport().use { transport in
                let journey = Journey(try ServerProfile(url: server.url), transport: transport)
                let user = try server.user
                let browser = Browser(journey: journey, user: user.name, password: user.password)
                return try await body(RunningServer(process: server.process, url: server.url, browser: browser))
            }
        }
    }

    /// The arguments and the input that log in as this server's user by name and password.
    var credentials: (arguments: [String], input: String) {
        (["--answer", "name=\(browser.user)", "--answer", "password=-"], browser.password + "\n")
    }

    /// Logs in at this server from a directory, without a terminal.
    func logIn(
        _ cli: CommandLineFixture, _ arguments: String..., input: String = "", timeout: Duration = TestTimeout.default
    ) async throws -> Outcome {
        let (known, password) = credentials
        return try await TaskLimiter.processes.pass {
            try await cli.start(["login", url] + known + arguments, input: .text(password + input)).end(within: timeout)
        }
    }

    /// Registers the authenticator of `cli` for push: the device enrolls on one side, the login page waits on the other.
    func registerForPush(_ cli: CommandLineFixture) async throws {
        let state = try await browser.begin("PushRegistration")
        let uri = try #require(try Browser.step(state).hiddenValue("mfaDeviceRegistration"))
        // Not through the gate: the server's wait is limited.
        try await cli.start(["enroll", "-"], input: .text(uri + "\n")).end().succeeds()
    }

    /// Registers at a server that the caller has started.
    static func registerForPush(
        _ cli: CommandLineFixture, url: String, user: String, password: String, environment: [String: String] = [:]
    ) async throws {
        let authorities = environment["SIGNET_CA_FILE"].map { AsyncHTTPTransport.Authorities.file($0) } ?? .system
        try await AsyncHTTPTransport(authorities: authorities).use { transport in
            let journey = Journey(try ServerProfile(url: url), transport: transport)
            let state = try await Browser(journey: journey, user: user, password: password).begin("PushRegistration")
            let uri = try #require(try Browser.step(state).hiddenValue("mfaDeviceRegistration"))
            try await cli.signet("enroll", "-", input: .text(uri), environment: environment).succeeds()
        }
    }

    /// Waits until the login is decided; nil when it succeeded, otherwise the server's message.
    func refusal(of login: JourneyState) async throws -> String? {
        do {
            guard case .loggedIn = try await browser.wait(from: login) else {
                return "no session"
            }
            return nil
        } catch let error as JourneyError where error.code == .loginFailed {
            return error.message
        }
    }
}

extension ClientSocket {
    /// Sends a complete request and, in the same packet, the head and the first byte of another one.
    ///
    /// When the response to the first one has arrived, the server has read them.
    func beginRequest(bodyLength: Int) {
        let head = [
            "POST /am/json/authenticate HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
            "Content-Length: \(bodyLength)",
        ]
        send("GET /am/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + head.joined(separator: "\r\n") + "\r\n\r\n{")
        #expect(receive().hasPrefix("HTTP/1.1 200"))
    }
}
