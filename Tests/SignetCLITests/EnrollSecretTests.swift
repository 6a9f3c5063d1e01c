import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet enroll --secret")
struct EnrollSecretTests {
    /// The secret as a page may show it.
    private static let typed = "kdj7 cdbn btgw zbqc 7wmb-g46r pbz6 l4ud"

    @Test("A typed secret becomes an account with the given names and settings")
    func enrollsTypedSecret() async throws {
        try await CommandLineFixture.with { cli in
            let words = ["enroll", "--secret-fd", "0", "--account", "mira", "--json"]
            let simple = try await cli.start(words, input: .text(Self.typed + "\n")).end().succeeds().json
            #expect(simple["issuer"]?.string == "mira" && simple["account"]?.string == "mira" && simple["type"]?.string == "totp")
            #expect(simple["digits"] == .integer(6) && simple["period"] == .integer(30) && simple["algorithm"]?.string == "SHA1")

            let options = ["--issuer", "Harbor", "--type", "hotp", "--digits", "8", "--counter", "41", "--algorithm", "sha256"]
            try await cli.start(words + options, input: .text(Self.typed)).end().succeeds()
            let code = try await cli.signet("code", "Harbor:mira").succeeds().line
            let expected = try HOTP.code(secret: OATHSample.secret, counter: 41, digits: .eight, algorithm: .sha256)
            #expect(code == expected)
        }
    }

    @Test("A typed secret of Steam makes its codes of five letters and digits")
    func enrollsSteamSecret() async throws {
        try await CommandLineFixture.with { cli in
            let words = ["enroll", "--secret-fd", "0", "--account", "mira", "--type", "steam"]
            try await cli.start(words, input: .text(Self.typed)).end().succeeds()
            let code = try await cli.signet("code", "Steam:mira").succeeds().line
            let isSteam = code.count == 5 && code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) }
            #expect(isSteam, "\(code)")
        }
    }

    @Test(
        "A text that is not a secret in Base32 exits with 65, and is not repeated",
        arguments: [("kdj7!cdbn", "not Base32"), ("", "empty"), ("otpauth://totp/a?secret=KDJ7CDBN", "signet enroll -")])
    func refusesTypedText(text: String, words: String) async throws {
        try await CommandLineFixture.with { cli in
            let command = ["enroll", "--secret-fd", "0", "--account", "mira"]
            let outcome = try await cli.start(command, input: .text(text + "\n")).end()
            outcome.fails(65, words)
            #expect(!outcome.errors.lowercased().contains("kdj7"))
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("A descriptor that is not open exits with 65 and names the option")
    func refusesClosedDescriptor() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "--secret-fd", "77", "--account", "mira").fails(65, "descriptor 77")
        }
    }

    @Test(
        "Options of a typed secret that are missing, contradict each other or are out of range exit with 64",
        arguments: [
            ["--secret"], ["--secret", "--account", ""], ["--secret", "--secret-fd", "0", "--account", "mira"],
            ["x.png", "--secret", "--account", "mira"], ["x.png", "--clipboard"], ["--clipboard", "--screen"],
            ["x.png", "--digits", "6"],
            ["x.png", "--issuer", "Harbor"], ["--secret", "--account", "mira", "--digits", "3"],
            ["--secret", "--account", "mira", "--period", "0"], ["--secret", "--account", "mira", "--counter", "1"],
            ["--secret", "--account", "mira", "--type", "hotp", "--period", "30"],
            ["--secret", "--account", "mira", "--type", "steam", "--digits", "6"],
            ["--secret", "--account", "mira", "--algorithm", "MD5"], ["--secret", "--account", "mira", "--issuer", "a\u{1B}b"],
        ])
    func refusesSecretOptions(options: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.start(["enroll"] + options).end().fails(64, "Usage: signet enroll")
        }
    }

    @Test(
        "At a terminal the secret is typed unseen, and Ctrl-C exits with 130",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func typesSecretUnseen() async throws {
        try await CommandLineFixture.with { cli in
            let words = ["enroll", "--secret", "--issuer", "Harbor", "--account", "mira"]
            let canceled = try cli.startAtTerminal(words)
            try await canceled.waitForOutput { output, _ in output.contains("Secret: ") }
            canceled.type("kdj7\u{3}")
            #expect(await canceled.end().status == 130)
            #expect(try await cli.accounts().isEmpty)

            let process = try cli.startAtTerminal(words)
            try await process.waitForOutput { output, _ in output.contains("Secret: ") }
            process.type(Self.typed + "\n")
            let outcome = await process.end()
            #expect(outcome.status == 0 && outcome.output.contains("Enrolled Harbor: mira"), "\(outcome.output)")
            #expect(!outcome.output.lowercased().contains("kdj7"))
            #expect(try await cli.accounts().count == 1)
        }
    }
}
