import Foundation
import SignetCore
import TestSupport
import Testing

@testable import signet

@Suite("signet login at a terminal", .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
struct LoginTerminalTests {
    /// Starts `signet` at a terminal of its own; what it shows comes on standard output.
    private func atTerminal(_ cli: CommandLineFixture, _ arguments: String...) throws -> TestProcess {
        let command = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try cli.start(
            ["-q", "-e", "-c", "trap : INT; stty cols 200; \(command); code=$?; stty -a; exit $code", "/dev/null"],
            program: "script",
            input: .open)
    }

    private func waits(_ process: TestProcess, _ word: String) async throws {
        try await process.waitForOutput { output, _ in output.contains(word) }
    }

    @Test("signet login asks at the terminal, hides the password and restores the terminal's settings")
    func asksAtTerminal() async throws {
        try await LoginTests.withServer { server, cli in
            let login = try atTerminal(cli, "login", server.url, "--client", "app")
            try await waits(login, "User Name: ")
            login.type("demo\n")
            try await waits(login, "Password: ")
            login.type(server.browser.password + "\n")
            let outcome = await login.end()
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("Logged in at \(server.url) as demo."))
            #expect(!outcome.output.contains(server.browser.password))
            #expect(outcome.output.contains(" echo ") && !outcome.output.contains(" -echo "))
        }
    }

    @Test("A new password is asked for twice, and again when the two passwords are different")
    func repeatsNewPassword() async throws {
        try await LoginTests.withServer { server, cli in
            let known = server.browser
            let login = try atTerminal(
                cli, "login", server.url, "--journey", "ValidatedCreatePasswordCallback", "--answer", "name=\(known.user)")
            func answer(_ prompt: String, _ number: Int, _ text: String) async throws {
                try await login.waitForOutput { output, _ in output.components(separatedBy: prompt).count > number }
                login.type(text + "\n")
            }
            try await answer("Password: ", 1, known.password)
            try await answer("Password: ", 2, "correct horse 1")
            try await answer("Repeat password: ", 1, "correct horse 2")
            try await waits(login, "The passwords are different. Enter the new password again:")
            try await answer("Password: ", 3, "correct horse 3")
            try await answer("Repeat password: ", 2, "correct horse 3")
            let outcome = await login.end()
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("Choices are numbered, an invalid answer is asked for again, and Enter takes the default")
    func asksForChoice() async throws {
        try await LoginTests.withServer { server, cli in
            let known = server.browser
            let login = try atTerminal(
                cli, "login", server.url, "--journey", "ChoiceCallback", "--answer", "name=\(known.user)")
            try await waits(login, "Password: ")
            login.type(known.password + "\n")
            try await waits(login, "Second factor [2]: ")
            login.type("9\n")
            try await waits(login, "Please answer with a number from 1 to 3")
            login.type("\n")
            let outcome = await login.end()
            #expect(outcome.status == 0, "\(outcome.output)")
            for line in ["1) Email", "2) SMS", "3) Push"] { #expect(outcome.output.contains(line)) }
        }
    }

    @Test("A new authenticator's QR code is drawn, and enrolled when the user agrees")
    func enrollsAtTerminal() async throws {
        try await LoginTests.withServer { server, cli in
            let login = try atTerminal(
                cli, "login", server.url, "--journey", "PushRegistration", "--answer", "name=\(server.browser.user)")
            try await waits(login, "Password: ")
            login.type(server.browser.password + "\n")
            try await waits(login, "Enroll the account in this vault [y/N]: ")
            #expect(login.soFar.output.contains("▀") && !login.soFar.output.contains("pushauth://"))
            login.type("y\n")
            let outcome = await login.end()
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("Enrolled Signet: demo in this vault."))
        }
    }

    @Test("C3: The QR code that OpenAM draws with a script is drawn at the terminal")
    func drawsCodeOfScript() async throws {
        let server = try PagedOpenAM(Array(OpenAMEnrollmentTests.oath(OpenAMEnrollmentTests.totp)[2...2]))
        try await CommandLineFixture.with { cli in
            let login = try atTerminal(cli, "login", server.url)
            try await waits(login, "Enroll the account in this vault [y/N]: ")
            #expect(login.soFar.output.contains("▀") && !login.soFar.output.contains("otpauth://"))
            login.type("n\n")
            let outcome = await login.end()
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test(
        "Ctrl-C and Ctrl-D at the password prompt exit with 130, restore the terminal and keep nothing",
        arguments: ["\u{03}", "\u{04}"])
    func cancelsPasswordPrompt(key: String) async throws {
        try await LoginTests.withServer { server, cli in
            let login = try atTerminal(cli, "login", server.url, "--answer", "name=demo")
            try await waits(login, "Password: ")
            login.type(key)
            let outcome = await login.end()
            #expect(outcome.status == 130, "\(outcome.output)")
            #expect(outcome.output.contains(" echo ") && !outcome.output.contains(" -echo "))
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }
}
