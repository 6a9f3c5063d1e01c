import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite(
    "A prompt for a passphrase", .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
struct PassphrasePromptTests {
    /// A vault with two ways in, a passphrase that is asked for first and a key file, and an account that makes codes.
    private func withVault(_ body: (Workplace) async throws -> Void) async throws {
        try await Workplace.with(vault: false) { place in
            try await place.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            try await place.signet("protect", "add", "keyfile", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            try await place.signet("enroll", OATHSample.uri(account: "mira")).succeeds()
            try await body(place)
        }
    }

    /// `signet` at a terminal of its own, whose settings and whose own process are told behind it.
    private func atTerminal(_ place: Workplace, _ arguments: [String]) throws -> TestProcess {
        let command = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let shell = "sh -c 'echo $$ > \"$1\"; shift; exec \"$@\"' sh '\(place.directory.file("pid"))' \(command)"
        return try place.start(
            ["-q", "-e", "-c", "trap : INT; stty cols 200; \(shell); code=$?; stty -a; exit $code", "/dev/null"],
            program: "script", input: .open)
    }

    /// How somebody does not answer.
    enum GivingUp: CaseIterable {
        case controlC, controlD, terminate, hangUp
    }

    @Test(
        "that is given up ends the verb with 130, whatever else could open the vault, and the terminal shows again what is typed",
        arguments: GivingUp.allCases)
    func cancelled(how: GivingUp) async throws {
        try await withVault { place in
            let verb = try atTerminal(place, ["accounts", "remove", "mira"])
            try await verb.said { output, _ in output.contains("Passphrase: ") }
            switch how {
            case .controlC: verb.type("\u{3}")
            case .controlD: verb.type("\u{4}")
            case .terminate: kill(try pid(place), SIGTERM)
            case .hangUp: kill(try pid(place), SIGHUP)
            }
            await isGivenUp(verb)
            #expect(try await place.accounts().count == 1)
        }
    }

    @Test("A signal is heard at the second prompt of one process too")
    func secondPrompt() async throws {
        try await Workplace.with(vault: false) { place in
            let verb = try atTerminal(place, ["init", "--protect", "passphrase"])
            try await verb.said { output, _ in output.contains("New passphrase: ") }
            verb.type("first\n")
            try await verb.said { output, _ in output.contains("The same again: ") }
            kill(try pid(place), SIGTERM)
            await isGivenUp(verb)
        }
    }

    @Test("A login after a passphrase was typed can be interrupted", arguments: [SIGINT, SIGTERM])
    func loginAfterPrompt(number: Int32) async throws {
        try await LoginTests.withServer { server, _ in
            try await withVault { place in
                let login = try atTerminal(place, ["login", server.url])
                try await login.said { output, _ in output.contains("Passphrase: ") }
                login.type("first\n")
                try await login.said { output, _ in output.contains("User Name: ") }
                kill(try pid(place), number)
                let outcome = await login.end()
                #expect(outcome.status == 130, "\(outcome.output)")
            }
        }
    }

    /// Expects a verb to end for that reason, and the terminal to show what is typed as before.
    private func isGivenUp(_ verb: TestProcess) async {
        let outcome = await verb.end()
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("given up"))
        #expect(outcome.output.contains(" echo ") && !outcome.output.contains(" -echo "))
    }

    private func pid(_ place: Workplace) throws -> pid_t {
        let text = try String(contentsOfFile: place.directory.file("pid"), encoding: .utf8)
        return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test("for a new one refuses two that are not the same, and an empty one, as bad input", arguments: [["a", "b"], ["", ""]])
    func unusable(typed: [String]) async throws {
        try await Workplace.with(vault: false) { place in
            let verb = try atTerminal(place, ["init", "--protect", "passphrase"])
            try await verb.said { output, _ in output.contains("New passphrase: ") }
            verb.type(typed[0] + "\n")
            try await verb.said { output, _ in output.contains("The same again: ") }
            verb.type(typed[1] + "\n")
            let outcome = await verb.end()
            #expect(outcome.status == 65, "\(outcome.output)")
            #expect(!FileManager.default.fileExists(atPath: place.home + "/vault.sqlite"))
        }
    }
}
