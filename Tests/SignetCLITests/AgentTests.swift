import AgentWire
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet agent", .timeLimit(.minutes(5)))
struct AgentTests {
    private static let passphrase = "four unrelated words here"

    /// Runs `body` with a vault that only a passphrase opens, and one account.
    private static func withPassphraseVault(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let typed = TestProcess.Input.text(passphrase + "\n")
            try await cli.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: typed).succeeds()
            try await cli.signet("enroll", OATHSample.uri(), "--passphrase-fd", "0", input: typed).succeeds()
            try await body(cli)
        }
    }

    @Test("A command gets a code without the passphrase while an agent holds the vault, and not after signet lock")
    func makesCodeUntilLocked() async throws {
        try await Self.withPassphraseVault { cli in
            let agent = try await RunningAgent.start(cli, passphrase: Self.passphrase)
            let code = try await agent.signet("code", "mira").succeeds()
            #expect(code.line.wholeMatch(of: #/[0-9]{6}/#) != nil)
            let status = try await agent.signet("agent", "status", "--json").succeeds()
            #expect(status.json["state"]?.string == "unlocked")
            #expect(status.json["pid"]?.lenientInteger == Int64(agent.process.identifier))
            let locked = try await agent.signet("lock").succeeds()
            #expect(locked.output.hasPrefix("locked"))
            try await agent.signet("code", "mira").fails(78, "passphrase")
            try await agent.signet("unlock", "--passphrase-fd", "0", input: .text(Self.passphrase + "\n")).succeeds()
            try await agent.signet("code", "mira").succeeds()
            await agent.process.stop()
        }
    }

    @Test("A wrong passphrase leaves the vault of the agent locked")
    func staysLockedAfterWrongPassphrase() async throws {
        try await Self.withPassphraseVault { cli in
            let agent = try await RunningAgent.start(cli)
            let refused = try await agent.signet("unlock", "--passphrase-fd", "0", input: .text("another one\n"))
            refused.fails(78)
            #expect(try agent.reply(to: "code", ["mira"]) == .declined(.locked))
            await agent.process.stop()
        }
    }

    @Test("Commands list accounts and codes through the agent as they do without it")
    func listsAsWithoutAgent() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", account: "noa", "&counter=5")).succeeds()
            let agent = try await RunningAgent.start(cli)
            for arguments in [["accounts"], ["accounts", "--json"], ["push", "list"], ["codes", "noa", "--json"]] {
                let without = try await cli.start(arguments).end().succeeds()
                let with = try await cli.start(arguments, environment: agent.environment).end().succeeds()
                #expect(with.output == without.output, "\(arguments)")
            }
            await agent.process.stop()
        }
    }

    @Test("No reply of the agent has the secret of an account")
    func keepsSecrets() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            let secret = try OATHSample.secret.bytes
            let forms = [Data(secret).base64EncodedString(), OATHSample.secretText].map { Array($0.utf8) } + [secret]
            for operation in ["accounts", "notifications", "damaged-records", "current-codes", "codes-of-view", "status"] {
                let bytes = try agent.reply(to: operation).message.bytes
                for form in forms { #expect(bytes.firstRange(of: form) == nil, "\(operation)") }
            }
            await agent.process.stop()
        }
    }

    @Test("The agent declines a client of another version, one of another vault, and an unknown operation")
    func declinesOthers() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            #expect(try agent.reply(to: "status", version: "9.9.9") == .declined(.otherVersion))
            #expect(try agent.reply(to: "export") == .declined(.unsupported))
            let other = AgentRequest(
                version: AgentVersion.current, home: AgentHome { $0 == "SIGNET_HOME" ? "/nonexistent" : nil },
                operation: "status", arguments: [])
            #expect(try AgentClient(path: RunningAgent.path(cli)).reply(to: other) == .declined(.otherVault))
            let status = try await cli.signet(
                "agent", "status", environment: agent.environment.merging(["SIGNET_HOME": "/nonexistent"]) { $1 })
            status.fails(66, "another vault")
            await agent.process.stop()
        }
    }

    @Test("Sixteen clients at once get the codes of their own accounts")
    func servesManyClients() async throws {
        try await CommandLineFixture.with { cli in
            for number in 0..<4 {
                try await cli.signet("enroll", OATHSample.uri("hotp", account: "user\(number)")).succeeds()
            }
            let agent = try await RunningAgent.start(cli)
            let codes = try await withThrowingTaskGroup(of: (Int, AgentReply).self) { group in
                for client in 0..<16 {
                    group.addTask { (client % 4, try agent.reply(to: "code", ["user\(client % 4)"])) }
                }
                return try await group.reduce(into: [Int: Set<AgentReply>]()) { $0[$1.0, default: []].insert($1.1) }
            }
            // The accounts have the same secret, so their codes are the same four counters.
            #expect(Set(codes.values).count == 1)
            #expect(codes[0]?.count == 4)
            await agent.process.stop()
        }
    }

    @Test("After kill -9 of the agent commands open the vault themselves, and a new agent starts")
    func survivesKill() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            agent.process.signal(SIGKILL)
            _ = await agent.process.end()
            try await agent.signet("code", "mira").succeeds()
            try await agent.signet("agent", "status").fails(66, "no agent runs")
            let next = try await RunningAgent.start(cli)
            #expect(try next.reply(to: "status").isResult)
            await next.process.stop()
            #expect(!FileManager.default.fileExists(atPath: RunningAgent.path(cli)))
        }
    }

    @Test("A second agent does not start, and the first one continues")
    func refusesSecondAgent() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            try await agent.signet("agent").fails(75, "running already")
            #expect(try agent.reply(to: "status").isResult)
            await agent.process.stop()
        }
    }

    @Test("The socket is in a directory that only the user can enter, and one that others can enter is refused")
    func requiresPrivateDirectory() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            let directory = cli.directory.file("run/signet")
            let modes = try [directory, RunningAgent.path(cli)].map { path in
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(modes == [0o700, 0o600])
            await agent.process.stop()
            try #require(chmod(directory, 0o755) == 0)
            try await agent.signet("agent").fails(77, "mode 0700")
        }
    }

    @Test("The vault is locked after a time without use")
    func locksWhenIdle() async throws {
        try await Self.withPassphraseVault { cli in
            let agent = try await RunningAgent.start(cli, "--lock-after", "1", passphrase: Self.passphrase)
            let isLocked = try await eventually {
                guard case .result(let fields) = try agent.reply(to: "status") else { return false }
                return fields.first == Array("locked-idle".utf8)
            }
            #expect(isLocked)
            #expect(try agent.reply(to: "code", ["mira"]) == .declined(.locked))
            await agent.process.stop()
        }
    }

    @Test("With --confirm-with a code needs the consent of a program, and a list does not", arguments: [true, false])
    func asksForEachUse(allows: Bool) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli, "--confirm-with", allows ? "true" : "false")
            let code = try await agent.signet("code", "mira")
            if allows { try code.succeeds() } else { code.fails(77, "not allowed") }
            try await agent.signet("accounts").succeeds()
            await agent.process.stop()
        }
    }

    @Test("With --confirm-with a view is asked for once for each connection, and again after the vault was locked")
    func asksOnceForView() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            let view = agent.request("codes-of-view")
            let link = try AgentLink(AgentClient(path: RunningAgent.path(cli)))
            for _ in 0..<3 {
                let reply = try link.reply(to: view)
                #expect(reply.isResult)
            }
            #expect(cli.questionLines == ["Allow a command to use all codes of the vault as long as it runs?"])
            let other = try AgentLink(AgentClient(path: RunningAgent.path(cli)))
            let reply = try other.reply(to: view)
            #expect(reply.isResult && cli.questionLines.count == 2)
            for command in ["lock", "unlock"] { try await agent.signet(command).succeeds() }
            let again = try link.reply(to: view)
            #expect(again.isResult && cli.questionLines.count == 3)
            // The consent is for the codes of the view only.
            let code = try link.reply(to: agent.request("code", ["mira"]))
            #expect(code.isResult && cli.questionLines.count == 4)
            await agent.process.stop()
        }
    }

    @Test("After another process has rotated the key of the vault the agent opens it again, and misses no account")
    func opensVaultAgainAfterRotation() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            try await cli.signet("vault", "key", "rotate").succeeds()
            for command in [["accounts"], ["codes"], ["code", "mira"]] {
                try await agent.signet(arguments: command).succeeds()
            }
            let status = try await agent.signet("agent", "status", "--json").succeeds()
            #expect(status.json["state"]?.string == "unlocked")
            await agent.process.stop()
        }
    }

    @Test("When another vault is put into the directory the agent gives no code of the former one")
    func refusesReplacedVault() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Former", account: "mira")).succeeds()
            let agent = try await RunningAgent.start(cli)
            try FileManager.default.moveItem(atPath: cli.home, toPath: cli.home + ".former")
            let reply = try agent.reply(to: "code", ["mira"])
            #expect(reply == .declined(.locked))
            try await cli.signet("init", "--protect", "keyfile").succeeds()
            try await cli.signet("enroll", OATHSample.uri(issuer: "Later", account: "mira")).succeeds()
            let accounts = try await agent.signet("accounts").succeeds().output
            #expect(accounts.contains("Later") && !accounts.contains("Former"))
            let list = try agent.reply(to: "accounts")
            #expect(list.isResult)
            await agent.process.stop()
        }
    }

    @Test("A command whose environment requires a level of protection opens the vault itself")
    func leavesRequiredLevelToCommand() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            let environment = agent.environment.merging(["SIGNET_REQUIRE": "hardware"]) { $1 }
            let outcome = try await cli.signet("code", "mira", environment: environment)
            outcome.fails(78, "hardware")
            await agent.process.stop()
        }
    }

    @Test("A code at once is declined when the agent asks the user, and after the time of its request")
    func declinesCodeAtOnce() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            let agent = try await RunningAgent.start(cli)
            let inTime = AgentDeadline(secondsFromNow: 60).text
            let code = try agent.reply(to: "code-at-once", ["mira", inTime])
            #expect(code.isResult)
            for deadline in [AgentDeadline(secondsFromNow: 0).text, "0", "", "soon"] {
                let late = try agent.reply(to: "code-at-once", ["mira", deadline])
                #expect(late == .declined(.late))
            }
            await agent.process.stop()
            let asking = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            let asked = try asking.reply(to: "code-at-once", ["mira", inTime])
            #expect(asked == .declined(.asks) && cli.questionLines == [])
            await asking.process.stop()
            // Only the first request has used up a code.
            let next = try await cli.signet("code", "mira", "--json").succeeds().json["counter"]
            #expect(next == .integer(1))
        }
    }

    @Test(
        "With --confirm-with signet codes --watch is asked for once, however often its codes end",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func asksOnceForWatch() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("totp", "&period=1")).succeeds()
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            let process = try cli.start(
                ["-qec", "'\(Program.path)' codes --watch", "/dev/null"], program: "script", input: .open,
                environment: agent.environment)
            try await process.waitForOutput { output, _ in
                Set(output.matches(of: #/mira  ([0-9]{6})/#).map(\.output.1)).count >= 3
            }
            process.type("\u{3}")
            _ = await process.end()
            #expect(cli.questionLines.count == 1)
            await agent.process.stop()
        }
    }

    @Test(
        "An agent that SIGNET_AGENT turns off, or gives no path, says so",
        arguments: [("off", "SIGNET_AGENT=off is set"), ("run/agent.sock", "neither 'off' nor an absolute path")])
    func namesVariableThatTurnsAgentOff(value: String, words: String) async throws {
        try await CommandLineFixture.with { cli in
            let environment = ["SIGNET_AGENT": value, "XDG_RUNTIME_DIR": cli.directory.path]
            let outcome = try await cli.signet("agent", environment: environment)
            outcome.fails(64, words)
            #expect(!outcome.errors.contains("XDG_RUNTIME_DIR"))
            guard value == "off" else { return }
            for command in [["agent", "status"], ["lock"]] {
                try await cli.start(command, environment: environment).end().fails(66, words)
            }
        }
    }

    @Test("A malformed or too long request gets no answer, and the agent continues")
    func refusesMalformedRequest() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            let requests: [[UInt8]] = [
                [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 4, 1, 2, 3, 4], AgentMessage([[1]]).bytes + [0],
                Array("GET / HTTP/1.1\r\n\r\n".utf8),
            ]
            for bytes in requests {
                let answer = try RawConnection.answer(to: bytes, at: RunningAgent.path(cli))
                #expect(answer.isEmpty)
            }
            #expect(try agent.reply(to: "status").isResult)
            await agent.process.stop()
        }
    }

    @Test(
        "The memory of the agent cannot be read by other processes of the user",
        .enabled(if: geteuid() == 0, "only root can start an agent of another user and look at its files in /proc"))
    func isNotDumpable() async throws {
        try await CommandLineFixture.with { cli in
            let user = 65_534
            try await TestProcess.run("chown", ["-R", "\(user)", cli.directory.path]).succeeds()
            let agent = try cli.start(
                ["--reuid", "\(user)", "--clear-groups", Program.path, "agent", "--no-push"], program: "setpriv",
                environment: ["SIGNET_AGENT": cli.directory.file("agent/agent.sock")])
            try await agent.waitForOutput { _, errors in errors.contains("The agent holds") }
            // The files in /proc of a process that is not dumpable belong to root (proc(5)).
            let files = try ["mem", "environ"].map { name in
                try FileManager.default.attributesOfItem(atPath: "/proc/\(agent.identifier)/\(name)")[.ownerAccountID] as? Int
            }
            #expect(files == [0, 0])
            await agent.stop()
        }
    }
}

extension AgentReply {
    /// True when the operation was performed.
    fileprivate var isResult: Bool { if case .result = self { true } else { false } }
}

/// A connection to the agent that sends any bytes.
private enum RawConnection {
    /// Sends bytes and returns what comes until the agent closes the connection.
    static func answer(to bytes: [UInt8], at path: String) throws -> [UInt8] {
        let descriptor = try #require(AgentSocket.new())
        defer { close(descriptor) }
        let result = AgentSocket.withAddress(path) { connect(descriptor, $0, $1) }
        try #require(result == 0)
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { answer += buffer.prefix(count) }
        return answer
    }
}
