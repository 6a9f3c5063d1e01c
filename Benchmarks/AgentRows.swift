import Foundation

/// `signet code NAME` through the agent, as the installed small program asks it, beside the start of a Swift program that does
/// nothing.
///
/// Only a passphrase opens the vault, and no terminal asks for it: the command fails when it does not reach the agent.
enum AgentRows {
    private static let timeName = "signet code through the agent, beside the start of a bare Swift program"
    private static let memoryName = "signet code through the agent, peak memory"

    static func measure(signet: String) async throws -> [Row] {
        let vault = try SampleVault(signet: signet, passphrase: "four unrelated words here")
        defer { vault.remove() }
        guard let front = vault.installedProgram else {
            return [.skipped(timeName, because: "the small program is not in bin/ beside \(signet)")]
        }
        guard let bare = try BareProgram(in: vault.directory) else {
            return [.skipped(timeName, because: "there is no swiftc that links the static library")]
        }
        let agent = try await SampleAgent(vault, ["--no-push"])
        defer { agent.stop() }
        let code = [front, "code", SampleAccount.only.name]
        let ours = Contender("signet code") { try time($0) { try run(code, vault) } }
        let reference = Contender("a bare program") { try time($0) { try run([bare.path], vault) } }
        let outcome = try await Race(ours: ours, reference: reference, rounds: 301, slice: .microseconds(1)).run()
        let peaks = try (0..<11).map { _ in try PeakMemory.mebibytes(of: code, vault.environment) }
        return [
            Row(timeName, outcome, .atMost(1.3)),
            Row(memoryName, of: "signet code", peaks.median, atMost: 15, "MiB"),
        ]
    }

    private static func time(_ runs: Int, _ body: () throws -> Void) rethrows -> Duration {
        try ContinuousClock().measure { for _ in 0..<runs { try body() } }
    }

    private static func run(_ command: [String], _ vault: SampleVault) throws {
        try ChildProcess(command, environment: vault.environment, input: .nowhere, output: .nowhere).wait()
    }
}

/// A Swift program that imports FoundationEssentials and prints six digits.
private struct BareProgram {
    let path: String

    /// Compiles the program; returns nil when this machine has no compiler for it.
    init?(in directory: String) throws {
        path = directory + "/bare"
        let source = directory + "/bare.swift"
        try "import FoundationEssentials\nprint(Date.now > .distantPast ? 123456 : 0)\n".write(
            toFile: source, atomically: false, encoding: .utf8)
        guard let compiler = ChildProcess.find("swiftc") else { return nil }
        let compiling = try ChildProcess(
            [compiler, "-O", "-static-stdlib", source, "-o", path], environment: ChildProcess.environment(), input: .nowhere,
            output: .nowhere)
        guard (try? compiling.wait()) != nil else { return nil }
    }
}
