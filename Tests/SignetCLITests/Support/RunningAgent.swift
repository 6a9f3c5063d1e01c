import AgentWire
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// An agent of a test, with its socket in the test's directory.
struct RunningAgent: Sendable {
    let cli: CommandLineFixture
    let process: TestProcess
    /// The environment of commands that use the agent.
    let environment: [String: String]

    /// The path of the agent's socket.
    static func path(_ cli: CommandLineFixture) -> String { cli.directory.file("run/signet/agent.sock") }

    /// Starts an agent and waits until it listens.
    /// - Parameters:
    ///   - cli: The vault.
    ///   - options: The options of `signet agent`.
    ///   - passphrase: The passphrase of the vault; nil for a vault that opens without one, and for an agent that starts locked.
    ///   - desktop: Variables for the agent only, such as the addresses of message buses.
    /// - Returns: The agent.
    /// - Throws: The error of an agent that does not start.
    static func start(
        _ cli: CommandLineFixture, _ options: String..., passphrase: String? = nil, desktop: [String: String] = [:]
    ) async throws -> RunningAgent {
        let environment = ["XDG_RUNTIME_DIR": cli.directory.file("run")]
        let directory = cli.directory.file("run")
        if mkdir(directory, 0o700) != 0 { try #require(errno == EEXIST) }
        let arguments = ["agent"] + options + (passphrase == nil ? [] : ["--passphrase-fd", "0"])
        let process = try cli.start(
            arguments, input: passphrase.map { .text($0 + "\n") } ?? .nothing,
            environment: environment.merging(desktop) { $1 })
        _ = try await process.waitForOutput { _, errors in errors.contains("agent") }
        return RunningAgent(cli: cli, process: process, environment: environment)
    }

    /// Runs a command that can use the agent.
    func signet(_ arguments: String..., input: TestProcess.Input = .nothing) async throws -> Outcome {
        try await signet(arguments: arguments, input: input)
    }

    /// Runs a command that can use the agent.
    func signet(arguments: [String], input: TestProcess.Input = .nothing) async throws -> Outcome {
        try await TaskLimiter.processes.pass {
            try await cli.start(arguments, input: input, environment: environment).end()
        }
    }

    /// Sends a request to the agent from this process.
    func reply(to operation: String, _ arguments: [String] = [], version: String = AgentVersion.current) throws -> AgentReply {
        try AgentClient(path: Self.path(cli)).reply(to: request(operation, arguments, version: version))
    }

    /// Returns a request for the vault of this agent.
    func request(_ operation: String, _ arguments: [String] = [], version: String = AgentVersion.current) -> AgentRequest {
        let home = AgentHome { $0 == "SIGNET_HOME" ? cli.home : nil }
        return AgentRequest(version: version, home: home, operation: operation, arguments: arguments.map { Array($0.utf8) })
    }
}
