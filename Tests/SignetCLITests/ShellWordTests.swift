import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Commands that signet prints")
struct ShellWordTests {
    @Test(
        "A text is quoted for a shell only when a character of it has a meaning there",
        arguments: [
            ("a/b-1.signet", "a/b-1.signet"), ("my backup", "'my backup'"), ("it's", "'it'\\''s'"), ("", "''"),
            ("$HOME", "'$HOME'"),
            ("a\nb", "'a\nb'"), ("~x", "'~x'"),
        ])
    func quotesShellWord(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test(
        "The report of a new backup has the whole command that checks it",
        arguments: [("accounts.signet", false), ("my accounts.signet", true)])
    func printsVerifyCommand(name: String, isQuoted: Bool) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let file = cli.directory.file(name)
            let input = TestProcess.Input.text("four unrelated words here\n")
            let made = try await cli.signet("backup", "create", file, "--file-passphrase-fd", "0", input: input).succeeds()
            let argument = isQuoted ? "'\(file)'" : file
            #expect(made.output.hasSuffix("Check it: signet backup verify \(argument)\n"), "\(made.output)")
        }
    }
}
