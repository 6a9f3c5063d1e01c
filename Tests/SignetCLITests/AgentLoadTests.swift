import AgentWire
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Requests of sixteen clients to an agent that is locked, killed and started again meanwhile.
///
/// A thousand codes by default; with `SIGNET_KILLS=all` (`make kills`) ten thousand.
@Suite("Many requests to signet agent", .tags(.slow), .timeLimit(.minutes(10)))
struct AgentLoadTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["SIGNET_KILLS"] == "all"
    private static let clients = 16
    private static let share = isExhaustive ? 625 : 63

    @Test("No request of sixteen clients is lost or mixed up, while the agent is locked, killed and started again")
    func answersEveryRequest() async throws {
        try await CommandLineFixture.with { cli in
            let accounts = (0..<Self.clients).map { LoadAccount(number: $0) }
            let uris = accounts.flatMap { [$0.uri(counting: false), $0.uri(counting: true)] }.joined(separator: "\n")
            try await cli.signet("import", try cli.write(uris.utf8, to: "uris")).succeeds()
            let agent = try await RunningAgent.start(cli, "--no-push")
            let load = AgentLoad(agent, accounts, requests: Self.clients * Self.share)
            let last = try await load.running { try await Self.disturb(agent, load) }
            #expect(load.answered == Self.clients * Self.share)
            #expect(load.faults == [])
            await last.process.stop()
        }
    }

    /// Locks and unlocks the agent after a quarter of the requests, and kills it after the half.
    /// - Returns: The agent that runs at the end.
    private static func disturb(_ agent: RunningAgent, _ load: AgentLoad) async throws -> RunningAgent {
        try await load.wait { $0.answered >= load.requests / 4 }
        let locking = try agent.reply(to: "lock")
        try #require(locking.isResult)
        // The refusals are of the time while the vault is locked: an earlier request gets a code.
        try await load.wait { $0.refusals[.locked, default: 0] >= clients }
        let unlocking = try agent.reply(to: "unlock")
        try #require(unlocking.isResult)
        try await load.wait { $0.answered >= load.requests / 2 }
        agent.process.signal(SIGKILL)
        _ = await agent.process.end()
        try await load.wait { $0.refusals[.noAgent, default: 0] >= clients }
        return try await RunningAgent.start(agent.cli, "--no-push")
    }
}

extension AgentReply {
    /// True when the operation was performed.
    fileprivate var isResult: Bool { if case .result = self { true } else { false } }
}

/// The two accounts of a client: one with codes by time, and one with codes by counter.
private struct LoadAccount: Sendable {
    let number: Int

    private var secret: [UInt8] { Array("twenty bytes in all".utf8) + [UInt8(number)] }

    /// The name of one of them.
    func name(counting: Bool) -> String { (counting ? "counter" : "time") + "\(number)" }

    func uri(counting: Bool) -> String {
        let label = "Harbor:\(name(counting: counting))?secret=\(Base32.encode(secret))&issuer=Harbor&digits=8&algorithm=SHA1"
        return counting ? "otpauth://hotp/\(label)&counter=0" : "otpauth://totp/\(label)&period=30"
    }

    func code(counter: UInt64) -> String { HOTP.code(secret: Secret(secret), counter: counter, digits: .eight) }

    /// The codes by time that were valid since a time.
    func codes(since begin: Date) -> [String] {
        [begin, SystemWallClock().now].map { TOTP.code(secret: Secret(secret), at: $0, digits: .eight) }
    }
}

/// Clients that ask the agent until each of them has all of its codes.
private final class AgentLoad: Sendable {
    /// The reason for which a client got no code, and nothing was done.
    enum Refusal: Hashable { case locked, noAgent }

    struct State {
        /// The number of codes.
        var answered = 0
        var refusals: [Refusal: Int] = [:]
        /// Replies that the agent must not give.
        var faults: [String] = []
        var isOver = false
    }

    /// The number of codes that all clients together ask for.
    let requests: Int
    private let agent: RunningAgent
    private let accounts: [LoadAccount]
    private let state = Mutex(State())

    init(_ agent: RunningAgent, _ accounts: [LoadAccount], requests: Int) {
        (self.agent, self.accounts, self.requests) = (agent, accounts, requests)
    }

    var answered: Int { state.withLock { $0.answered } }
    var faults: [String] { state.withLock { $0.faults } }

    /// Lets the clients run while `body` runs, and waits for their last code.
    func running<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in accounts.indices { group.addTask(executorPreference: Blocking.executor) { await self.run(index) } }
            do {
                let result = try await body()
                try await group.waitForAll()
                return result
            } catch {
                state.withLock { $0.isOver = true }
                throw error
            }
        }
    }

    /// Waits for a state of the clients, which stop at the first fault.
    func wait(for condition: (State) -> Bool) async throws {
        let isReached = try await eventually { state.withLock { !$0.faults.isEmpty || condition($0) } }
        try #require(isReached && faults.isEmpty, "the clients stopped at \(answered) of \(requests) codes: \(faults)")
    }

    /// Asks for the codes of one client, one after the other.
    ///
    /// Every eighth one is of the account that counts, which no other client uses; the others are of all accounts in turn.
    private func run(_ client: Int) async {
        var counter = LoadCounter(account: accounts[client])
        for number in 0..<requests / accounts.count {
            let isCounting = number % 8 == 0
            let account = accounts[isCounting ? client : (client + number) % accounts.count]
            guard let answer = await answer(account.name(counting: isCounting)) else { return }
            let isRight = isCounting ? counter.takes(answer) : account.codes(since: answer.asked).contains(answer.code)
            if !isRight { report("\(answer.code) is not the code that client \(client) asked for") }
            state.withLock { $0.answered += 1 }
        }
    }

    /// A code of the agent.
    struct Answer {
        let code: String
        /// The time before the request.
        let asked: Date
        /// The number of earlier requests for which the agent may have made a code that it did not send.
        let interruptions: Int
    }

    /// Asks until the agent gives the code of an account; returns nil when the test is over, and for a reply that the agent must not
    /// give.
    private func answer(_ name: String) async -> Answer? {
        var interruptions = 0
        while !state.withLock({ $0.isOver || !$0.faults.isEmpty }) {
            let asked = SystemWallClock().now
            do {
                switch try agent.reply(to: "code", [name]) {
                case .result(let fields):
                    return Answer(
                        code: String(decoding: fields.first ?? [], as: UTF8.self), asked: asked, interruptions: interruptions)
                case .declined(.locked): note(.locked)
                case let other:
                    report("\(other)")
                    return nil
                }
            } catch AgentClient.Failure.noAgent {
                note(.noAgent)
            } catch AgentClient.Failure.interrupted {
                interruptions += 1
            } catch {
                report("\(error)")
                return nil
            }
            // A client that is refused leaves the processor to the others.
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func note(_ refusal: Refusal) { state.withLock { $0.refusals[refusal, default: 0] += 1 } }

    private func report(_ fault: String) { state.withLock { $0.faults.append(fault) } }
}

/// The counter of an account, as its only client knows it.
private struct LoadCounter {
    let account: LoadAccount
    private var next: UInt64 = 0

    init(account: LoadAccount) { self.account = account }

    /// Returns true when a code comes next: no code is repeated, and none is skipped but those of interrupted requests.
    mutating func takes(_ answer: AgentLoad.Answer) -> Bool {
        let possible = next...next + UInt64(answer.interruptions)
        guard let counter = possible.first(where: { account.code(counter: $0) == answer.code }) else { return false }
        next = counter + 1
        return true
    }
}
