import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite(
    "signet watch", .timeLimit(.minutes(5)),
    .enabled(if: Programs.missing(["script", "stty", "bash"]).isEmpty, "script(1), stty(1) or bash is not installed"))
struct WatchTests {
    /// A vault with an account by time and one by a counter.
    private func withAccounts(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor Bank", account: "mira")).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", issuer: "Library", account: "4711", "&counter=7")).succeeds()
            try await body(cli)
        }
    }

    /// Starts `signet watch` at a terminal of 80 columns and 24 rows, whose settings are shown after it.
    ///
    /// The name of the terminal and the ID of the process are in the files `tty` and `pid`.
    private func watch(
        _ cli: CommandLineFixture, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> TestProcess {
        let command = ([Program.path, "watch"] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let shell = "sh -c 'tty > \"$1/tty\"; echo $$ > \"$1/pid\"; shift; exec \"$@\"' sh '\(cli.directory.path)' \(command)"
        let process = try cli.start(
            ["-q", "-e", "-c", "trap : INT; stty cols 80 rows 24; \(shell); code=$?; stty -a; exit $code", "/dev/null"],
            program: "script", input: .open, environment: environment)
        try await process.waitForOutput { output, _ in output.contains("Esc ends") || output.contains("Esc goes back") }
        return process
    }

    /// Returns a file that the shell of ``watch(_:_:environment:)`` has written.
    private func content(_ name: String, _ cli: CommandLineFixture) throws -> String {
        try String(contentsOfFile: cli.directory.file(name), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func pid(_ cli: CommandLineFixture) throws -> pid_t {
        let text = try content("pid", cli)
        return try #require(pid_t(text))
    }

    /// Expects an exit code, and the terminal as it was before.
    private func expectEnd(_ process: TestProcess, _ status: Int32, _ location: SourceLocation = #_sourceLocation) async {
        let outcome = await process.end()
        #expect(outcome.status == status, "\(outcome.output)", sourceLocation: location)
        let parts = outcome.output.components(separatedBy: "\u{1B}[?25h\u{1B}[?1049l")
        #expect(parts.count >= 2, sourceLocation: location)
        let after = parts.last ?? ""
        let isRestored = after.contains(" echo ") && !after.contains(" -echo ") && !after.contains("-icanon")
        #expect(isRestored, "\(after)", sourceLocation: location)
    }

    /// The environment of a desktop with a clipboard, and the other programs of the system.
    private func environment(of fake: FakeDesktop) -> [String: String] {
        ["PATH": "\(fake.directory):\(Program.environment["PATH"] ?? "/usr/bin:/bin")", "DISPLAY": ":9"]
    }

    // MARK: Copying

    @Test("Enter copies the code of the account that was searched for, and Escape ends the search and then the view")
    func copiesSearchedCode() async throws {
        try await withAccounts { cli in
            let fake = try FakeDesktop(at: cli)
            try fake.addClipboard("xclip")
            let start = Date()
            let process = try await watch(cli, ["--clear-after", "0"], environment: environment(of: fake))
            process.type("harb")
            try await process.waitForOutput { output, _ in output.contains("1 of 2") }
            process.type("\r")
            try await process.waitForOutput { output, _ in output.contains("Copied with xclip") }
            let possible = try [start, Date()].map { try TOTP.code(secret: OATHSample.secret, at: $0) }
            #expect(possible.contains(fake.text))
            process.type("\u{1B}\u{1B}")
            await expectEnd(process, 0)
        }
    }

    @Test("The code of a counter is used up only after a question, and is shown because it cannot be made again")
    func usesCounterAfterQuestion() async throws {
        try await withAccounts { cli in
            let process = try await watch(cli, ["libr"])
            process.type("\r")
            try await process.waitForOutput { output, _ in output.contains("y or n: use up the next code of Library: 4711?") }
            process.type("n")
            try await process.waitForOutput { output, _ in output.contains("No code was used up.") }
            #expect(try await cli.signet("codes", "library").succeeds().line == "Library  4711  counter 7")
            process.type("\ry")
            let output = try await process.waitForOutput { output, _ in
                output.contains("099 169: Sent") && output.contains("counter 8")
            }.output
            #expect(output.contains("\u{1B}]52;c;MDk5MTY5\u{07}"))
            process.type("\u{1B}\u{1B}")
            await expectEnd(process, 0)
            #expect(try await cli.signet("codes", "library").succeeds().line == "Library  4711  counter 8")
        }
    }

    // MARK: The terminal

    /// The ways to end the view from outside.
    enum Ending: CaseIterable {
        case controlC, terminate, hangUp
    }

    @Test("Ctrl-C and signals end the view with 130 and restore the terminal", arguments: Ending.allCases)
    func restoresTerminal(ending: Ending) async throws {
        try await withAccounts { cli in
            let process = try await watch(cli)
            switch ending {
            case .controlC: process.type("\u{3}")
            case .terminate: kill(try pid(cli), SIGTERM)
            case .hangUp: kill(try pid(cli), SIGHUP)
            }
            await expectEnd(process, 130)
        }
    }

    @Test("Another size of the terminal draws all lines of it again")
    func followsSize() async throws {
        try await withAccounts { cli in
            let process = try await watch(cli)
            let sized = try await TestProcess.run("stty", ["-F", try content("tty", cli), "cols", "40", "rows", "12"])
            try #require(sized.status == 0, "\(sized.errors)")
            try await process.waitForOutput { output, _ in
                let frames = output.components(separatedBy: "\u{1B}[2J")
                guard frames.count >= 3, let last = frames.last else { return false }
                return last.contains("\u{1B}[12;1H") && !last.contains("\u{1B}[13;1H")
            }
            process.type("\u{1B}")
            await expectEnd(process, 0)
        }
    }

    @Test("Ctrl-Z stops the view with the terminal restored, and the shell continues it")
    func stopsAndContinues() async throws {
        try await withAccounts { cli in
            let lines = "set -m\n'\(Program.path)' watch\necho stopped $?\nstty -a\nfg\necho ended $?\nstty -a\nexit 0\n"
            let script = try cli.write(lines.utf8, to: "jobs.sh")
            let process = try cli.start(["-qec", "bash '\(script)'", "/dev/null"], program: "script", input: .open)
            try await process.waitForOutput { output, _ in output.contains("Esc ends") }
            process.type("\u{1A}")
            let stopped = try await process.waitForOutput { output, _ in
                output.components(separatedBy: "\u{1B}[?1049h").count >= 3
            }.output
            let between = stopped.components(separatedBy: "\u{1B}[?1049l").dropFirst().first ?? ""
            #expect(between.contains("stopped 148"))
            #expect(between.contains(" echo ") && !between.contains("-icanon"))
            process.type("\u{3}")
            let outcome = await process.end()
            #expect(outcome.status == 0)
            let after = outcome.output.components(separatedBy: "ended 130").last ?? ""
            #expect(after.contains(" echo ") && !after.contains(" -echo ") && !after.contains("-icanon"), "\(outcome.output)")
        }
    }

    @Test("Without a shell that could continue it, Ctrl-Z does not stop the view")
    func ignoresStopWithoutShell() async throws {
        try await withAccounts { cli in
            let process = try await watch(cli)
            process.type("\u{1A}")
            try await process.waitForOutput { output, _ in output.components(separatedBy: "\u{1B}[?1049h").count >= 3 }
            process.type("libr")
            try await process.waitForOutput { output, _ in output.contains("1 of 2") }
            process.type("\u{3}")
            await expectEnd(process, 130)
        }
    }

    @Test("A view that another process has stopped and continued draws everything again")
    func drawsAfterStop() async throws {
        try await withAccounts { cli in
            let process = try await watch(cli)
            let identifier = try pid(cli)
            kill(identifier, SIGSTOP)
            kill(identifier, SIGCONT)
            try await process.waitForOutput { output, _ in output.components(separatedBy: "\u{1B}[?1049h").count >= 3 }
            process.type("\u{1B}")
            await expectEnd(process, 0)
        }
    }

    @Test("NO_COLOR leaves out the styles, and nothing else", arguments: [false, true])
    func leavesOutStyles(hasColors: Bool) async throws {
        try await withAccounts { cli in
            let process = try await watch(cli, environment: hasColors ? [:] : ["NO_COLOR": "1"])
            let output = process.soFar.output
            #expect(output.contains("\u{1B}[7m") == hasColors && output.contains("\u{1B}[2m") == hasColors)
            #expect(output.contains("Harbor Bank") && output.contains("counter 7"))
            process.type("\u{1B}")
            await expectEnd(process, 0)
        }
    }

    @Test("Without a terminal signet watch exits with 64 and names the commands for scripts")
    func refusesWithoutTerminal() async throws {
        try await withAccounts { cli in
            try await cli.signet("watch").fails(64, "terminal", "'signet codes'")
            try await cli.signet("watch", "--json").fails(64)
            try await cli.signet("watch", "--clear-after", "-1").fails(64)
        }
    }

    // MARK: The vault

    @Test("An account that another process enrolls appears")
    func showsNewAccount() async throws {
        try await withAccounts { cli in
            let process = try await watch(cli)
            try await cli.signet("enroll", OATHSample.uri(issuer: "Ferry Line", account: "noa")).succeeds()
            try await process.waitForOutput { output, _ in output.contains("Ferry Line") && output.contains("3 codes") }
            process.type("\u{1B}")
            await expectEnd(process, 0)
        }
    }

    @Test("An agent opens the view without a passphrase, and the view has no codes any more when the agent is locked")
    func usesAgent() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let typed = TestProcess.Input.text("four unrelated words here\n")
            try await cli.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: typed).succeeds()
            try await cli.signet("enroll", OATHSample.uri(), "--passphrase-fd", "0", input: typed).succeeds()
            try await locksAndUnlocks(cli, typed)
        }
    }

    private func locksAndUnlocks(_ cli: CommandLineFixture, _ typed: TestProcess.Input) async throws {
        let agent = try await RunningAgent.start(cli, passphrase: "four unrelated words here")
        let process = try await watch(cli, environment: agent.environment)
        let output = process.soFar.output
        #expect(!output.contains("Passphrase"))
        try await agent.signet("lock").succeeds()
        // The view looks at the agent when the vault has changed.
        let uri = OATHSample.uri(account: "noa")
        try await cli.signet("enroll", uri, "--passphrase-fd", "0", input: typed).succeeds()
        try await process.waitForOutput { output, _ in output.contains("The agent is locked.") && output.contains("...") }
        try await agent.signet("unlock", "--passphrase-fd", "0", input: typed).succeeds()
        try await process.waitForOutput { output, _ in output.contains("2 codes") }
        process.type("\u{1B}")
        await expectEnd(process, 0)
        await agent.process.stop()
    }

    // MARK: Push messages

    /// A kind of message, the keys after Tab, and the words about the answer.
    private static let answers: [(kind: PushKind, keys: String, words: String)] = [
        (.tap, "a", "Approved: Harbor: mira"), (.tap, "d", "Denied: Harbor: mira"),
        (.number(choices: [34, 56, 82]), "56", "Approved: Harbor: mira"), (.biometric, "ayes\r", "Approved: Harbor: mira"),
    ]

    @Test("With --listen a message is shown when it arrives, and its answer goes to the server", arguments: answers)
    func answersArrivedMessage(answer: (kind: PushKind, keys: String, words: String)) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            let process = try await watch(cli, ["--listen"])
            try await process.waitForOutput { output, _ in output.contains("Listening for Harbor: mira.") }
            server.send(try server.message(id: "M1", kind: answer.kind, text: "Log in to the harbor?"), id: "1")
            try await process.waitForOutput { output, _ in output.contains("Log in to the harbor?") }
            process.type("\t\(answer.keys)")
            try await process.waitForOutput { output, _ in output.contains(answer.words) }
            #expect(server.answers.count == 1)
            process.type("\u{1B}")
            await expectEnd(process, 0)
            let states = try await cli.messages().compactMap { $0["state"]?.string }
            #expect(states == [answer.keys == "d" ? "denied" : "approved"])
        }
    }

    @Test(
        "A message that another command has received is shown, and one that the server refuses to answer is kept with the reason")
    func showsStoredMessage() async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            let process = try await watch(cli)
            server.send(try server.message(id: "M1", text: "Log in to the harbor?"), id: "1")
            try await cli.signet("push", "listen", "--once").succeeds()
            try await process.waitForOutput { output, _ in output.contains("Log in to the harbor?") }
            server.answer(with: "500 Internal Server Error")
            process.type("\ta")
            try await process.waitForOutput { output, _ in output.contains("a approves") && output.contains("Harbor: mira: ") }
            process.type("\u{3}")
            await expectEnd(process, 130)
            let states = try await cli.messages().compactMap { $0["state"]?.string }
            #expect(states == ["pending"])
        }
    }
}
