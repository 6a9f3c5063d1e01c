import AgentWire
import Foundation
import Glibc

/// A `signet agent` that holds a sample vault, without the limit of unused time.
final class SampleAgent {
    /// The path of its socket.
    let path: String
    /// The process.
    let identifier: pid_t
    private let process: ChildProcess
    private let home: AgentHome

    /// Starts an agent, and waits until the vault is unlocked.
    /// - Parameters:
    ///   - vault: The vault.
    ///   - options: Further options of `signet agent`.
    ///   - variables: Further environment variables.
    /// - Throws: ``BenchError`` when the agent does not start.
    init(_ vault: SampleVault, _ options: [String] = [], _ variables: [String: String] = [:]) async throws {
        path = vault.variables[AgentSocket.variable] ?? ""
        home = AgentHome { vault.variables[$0] }
        process = try ChildProcess(
            vault.command(["agent", "--lock-after", "0"] + options + vault.opening),
            environment: ChildProcess.environment(adding: vault.variables.merging(variables) { $1 }),
            input: .file(vault.passphraseFile), output: .nowhere)
        identifier = process.identifier
        for _ in 0..<200 {
            if isUnlocked { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        stop()
        throw BenchError("the agent did not start")
    }

    /// Returns a request of the user of the vault.
    func request(_ operation: String, _ arguments: [String] = []) -> AgentRequest {
        AgentRequest(
            version: AgentVersion.current, home: home, operation: operation, arguments: arguments.map { Array($0.utf8) })
    }

    private var isUnlocked: Bool {
        let reply = try? AgentClient(path: path).reply(to: request("status"), within: AgentClient.statusTimeout)
        guard case .result(let fields) = reply else { return false }
        return fields.first == Array("unlocked".utf8)
    }

    /// Ends the agent.
    func stop() {
        kill(identifier, SIGTERM)
        // How it ends says nothing of what was measured.
        _ = try? process.wait()
    }
}
