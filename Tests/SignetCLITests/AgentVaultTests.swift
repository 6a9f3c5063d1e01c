import AgentWire
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The vault of signet agent", .timeLimit(.minutes(5)))
struct AgentVaultTests {
    // MARK: Counters

    @Test(
        "A counter is not used after the time of a request whose transaction had to wait",
        .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func keepsCounterAfterDeadline() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            let agent = try await RunningAgent.start(cli, "--no-push")
            let holder = try SQLite.holder(of: cli.home + "/vault.sqlite", at: cli)
            try await holder.waitForOutput { output, _ in output.contains("held") }
            let deadline = AgentDeadline(secondsFromNow: 1)
            let waiting = Task { try agent.reply(to: "code-at-once", ["mira", deadline.text]) }
            while !deadline.isOver { try await Task.sleep(for: .milliseconds(50)) }
            holder.closeInput()
            try await holder.end().succeeds()
            let late = try await waiting.value
            #expect(late == .declined(.late))
            let next = try await cli.signet("code", "mira", "--json").succeeds().json["counter"]
            #expect(next == .integer(0))
            await agent.process.stop()
        }
    }
}
