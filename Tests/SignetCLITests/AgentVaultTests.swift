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
    // MARK: Unlocking

    @Test("Sixteen clients that unlock a vault at once open it once")
    func opensOnceForManyClients() async throws {
        try await CommandLineFixture.with { cli in
            let directory = try #require(VaultDirectory(environment: ["SIGNET_HOME": cli.home]))
            let openings = Counter()
            let vault = AgentVault(directory, authorityFile: nil) { directory in
                openings.add()
                return Session.openUnattended(in: directory)
            }
            let results = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 { group.addTask { await vault.unlockUnattended() } }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(results == Array(repeating: true, count: 16))
            #expect(openings.count == 1 && vault.isUnlocked)
            vault.lock(.user)
            let isOpenAgain = await vault.unlockUnattended()
            #expect(isOpenAgain && openings.count == 2)
        }
    }

    @Test("A vault that the user locks while it is opened stays locked")
    func staysLockedDuringOpening() async throws {
        try await CommandLineFixture.with { cli in
            let directory = try #require(VaultDirectory(environment: ["SIGNET_HOME": cli.home]))
            let made = Mutex<AgentVault?>(nil)
            let vault = AgentVault(directory, authorityFile: nil) { directory in
                made.withLock { $0 }?.lock(.user)
                return Session.openUnattended(in: directory)
            }
            made.withLock { $0 = vault }
            _ = await vault.unlockUnattended()
            #expect(vault.lockReason == .user)
            made.withLock { $0 = nil }
        }
    }

    @Test("A vault that does not open without a question stays locked")
    func staysLockedWithoutKey() async throws {
        try await CommandLineFixture.with { cli in
            let directory = try #require(VaultDirectory(environment: ["SIGNET_HOME": cli.home]))
            let vault = AgentVault(directory, authorityFile: nil) { _ in nil }
            let isOpen = await vault.unlockUnattended()
            #expect(!isOpen && vault.lockReason == .idle)
        }
    }

    @Test("Sixteen requests to unlock at once are all answered with an unlocked vault")
    func unlocksForManyRequests() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            try await agent.signet("lock").succeeds()
            let states = try await withThrowingTaskGroup(of: AgentReply.self) { group in
                for _ in 0..<16 { group.addTask { try agent.reply(to: "unlock") } }
                return try await group.reduce(into: [AgentReply]()) { $0.append($1) }
            }
            let unlocked = states.filter { reply in
                if case .result(let fields) = reply { fields.first == Array("unlocked".utf8) } else { false }
            }
            #expect(unlocked.count == 16)
            await agent.process.stop()
        }
    }

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
