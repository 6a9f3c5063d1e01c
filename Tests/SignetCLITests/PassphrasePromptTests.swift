import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite(
    "A prompt for a passphrase", .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
struct PassphrasePromptTests {
    /// A vault with two key slots, a passphrase that is asked for first and a key file, and an account that makes codes.
    private func withVault(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            try await cli.signet("vault", "key", "add", "keyfile", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            try await cli.signet("enroll", OATHSample.uri(account: "mira")).succeeds()
            try await body(cli)
        }
    }

    /// Starts `signet` at a terminal of its own; the terminal's settings and the process id are shown after it.
    private func atTerminal(
        _ cli: CommandLineFixture, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> TestProcess {
        let command = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let shell = "sh -c 'echo $$ > \"$1\"; shift; exec \"$@\"' sh '\(cli.directory.file("pid"))' \(command)"
        return try cli.start(
            ["-q", "-e", "-c", "trap : INT; stty cols 200; \(shell); code=$?; stty -a; exit $code", "/dev/null"],
            program: "script", input: .open, environment: environment)
    }

    /// Types each line at the next prompt that begins with `prompt`, and returns the outcome and the number of prompts.
    private func typeLines(
        _ lines: [String], at prompt: String, _ process: TestProcess
    ) async throws -> (outcome: Outcome, promptCount: Int) {
        for (index, line) in lines.enumerated() {
            try await process.waitForOutput { output, _ in output.components(separatedBy: prompt).count == index + 2 }
            process.type(line + "\n")
        }
        let outcome = await process.end()
        return (outcome: outcome, promptCount: outcome.output.components(separatedBy: prompt).count - 1)
    }

    @Test(
        "A passphrase typed at a terminal has three tries to open the vault, and one on a descriptor has one",
        arguments: [
            ["wrong", "first"]: 0 as Int32, ["wrong", "", "first"]: 0, ["wrong", "still wrong", "no"]: 78,
        ])
    func triesTypedPassphraseThreeTimes(typed: [String], exit: Int32) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            let (outcome, promptCount) = try await typeLines(typed, at: "Passphrase: ", atTerminal(cli, ["accounts"]))
            #expect(outcome.status == exit && promptCount == typed.count, "\(outcome.output)")
            #expect(outcome.output.contains("does not open with this passphrase. Try again."))
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text("wrong\nfirst\n")).fails(78, "passphrase")
        }
    }

    @Test(
        "A file's passphrase typed at a terminal has three tries, and one on a descriptor has one",
        arguments: zip(
            [["backup", "verify"], ["import"], ["import"]],
            [(["wrong", "right one"], 0), (["wrong", "right one"], 0), (["wrong", "still wrong", "no"], 65)]
                as [([String], Int32)]))
    func triesFilePassphraseThreeTimes(command: [String], tries: (typed: [String], exit: Int32)) async throws {
        let (typed, exit) = tries
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let file = cli.directory.file("accounts.signet")
            let right = TestProcess.Input.text("right one\n")
            try await cli.signet("backup", "create", file, "--file-passphrase-fd", "0", input: right).succeeds()
            let (outcome, promptCount) = try await typeLines(typed, at: "Passphrase of ", atTerminal(cli, command + [file]))
            #expect(outcome.status == exit && promptCount == typed.count, "\(outcome.output)")
            let twoLines = TestProcess.Input.text("wrong\nright one\n")
            try await cli.start(command + [file, "--file-passphrase-fd", "0"], input: twoLines).end().fails(65, "passphrase")
        }
    }

    @Test(
        "Before signet asks for the passphrase of a new vault, it says that it chose one and why",
        arguments: [["init"], ["enroll", OATHSample.uri()]])
    func explainsPassphraseBeforePrompt(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let unreachable = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent"]
            let process = try atTerminal(cli, arguments, environment: unreachable)
            let output = try await process.waitForOutput { output, _ in output.contains("New passphrase") }.output
            let before = output.components(separatedBy: "New passphrase")[0]
            for words in ["A passphrase will protect the vault in \(cli.home)", "tpm: ", "secret-service: ", "credential: "] {
                #expect(before.contains(words), "\(output)")
            }
            process.type("\u{3}")
            await isAborted(process)
        }
    }

    /// The ways to abort a prompt.
    enum AbortMethod: CaseIterable {
        case controlC, controlD, terminate, hangUp
    }

    @Test(
        "An aborted passphrase prompt exits with 130, tries no other key slot and restores the terminal's echo",
        arguments: AbortMethod.allCases)
    func abortsPassphrasePrompt(how: AbortMethod) async throws {
        try await withVault { cli in
            let process = try atTerminal(cli, ["accounts", "remove", "mira"])
            try await process.waitForOutput { output, _ in output.contains("Passphrase: ") }
            switch how {
            case .controlC: process.type("\u{3}")
            case .controlD: process.type("\u{4}")
            case .terminate: kill(try pid(cli), SIGTERM)
            case .hangUp: kill(try pid(cli), SIGHUP)
            }
            await isAborted(process)
            #expect(try await cli.accounts().count == 1)
        }
    }

    @Test("The secret of a client is typed unseen at a terminal, and its prompt can be aborted")
    func hidesTypedClientSecret() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try atTerminal(cli, ["login", "https://a.test", "--client", "web", "--client-secret-file", "-"])
            try await process.waitForOutput { output, _ in output.contains("Secret of the client: ") }
            process.type("typed-unseen\u{3}")
            let outcome = await isAborted(process)
            #expect(outcome.output.contains("read the client secret: canceled at the prompt"))
            #expect(!outcome.output.contains("typed-unseen") && !outcome.output.contains("passphrase"))
        }
    }

    @Test("A signal aborts the second passphrase prompt of one process too")
    func abortsSecondPrompt() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try atTerminal(cli, ["init", "--protect", "passphrase"])
            try await process.waitForOutput { output, _ in output.contains("New passphrase: ") }
            process.type("first\n")
            try await process.waitForOutput { output, _ in output.contains("Repeat the passphrase: ") }
            kill(try pid(cli), SIGTERM)
            await isAborted(process)
        }
    }

    @Test("A login after a typed passphrase can be interrupted by a signal", arguments: [SIGINT, SIGTERM])
    func interruptsLoginAfterPrompt(number: Int32) async throws {
        try await LoginTests.withServer { server, _ in
            try await withVault { cli in
                let login = try atTerminal(cli, ["login", server.url])
                try await login.waitForOutput { output, _ in output.contains("Passphrase: ") }
                login.type("first\n")
                try await login.waitForOutput { output, _ in output.contains("User Name: ") }
                kill(try pid(cli), number)
                let outcome = await login.end()
                #expect(outcome.status == 130, "\(outcome.output)")
            }
        }
    }

    /// Expects a command to exit with 130, and the terminal to echo again.
    @discardableResult
    private func isAborted(_ process: TestProcess) async -> Outcome {
        let outcome = await process.end()
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("canceled at the prompt"))
        #expect(outcome.output.contains(" echo ") && !outcome.output.contains(" -echo "))
        return outcome
    }

    private func pid(_ cli: CommandLineFixture) throws -> pid_t {
        let text = try String(contentsOfFile: cli.directory.file("pid"), encoding: .utf8)
        return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test(
        "Two different passphrases, or an empty one, for a new key slot are refused with 65", arguments: [["a", "b"], ["", ""]])
    func refusesUnusableNewPassphrase(typed: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try atTerminal(cli, ["init", "--protect", "passphrase"])
            try await process.waitForOutput { output, _ in output.contains("New passphrase: ") }
            process.type(typed[0] + "\n")
            try await process.waitForOutput { output, _ in output.contains("Repeat the passphrase: ") }
            process.type(typed[1] + "\n")
            let outcome = await process.end()
            #expect(outcome.status == 65, "\(outcome.output)")
            #expect(!FileManager.default.fileExists(atPath: cli.home + "/vault.sqlite"))
        }
    }
}
