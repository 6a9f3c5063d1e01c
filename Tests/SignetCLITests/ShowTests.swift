import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet show")
struct ShowTests {
    private static let uri = OATHSample.uri("totp", "&digits=8")

    private func withAccount(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.uri).succeeds()
            try await body(cli)
        }
    }

    @Test("signet show prints the settings of an account without its secret")
    func showsSettings() async throws {
        try await withAccount { cli in
            let text = try await cli.signet("show", "mira").succeeds().output
            #expect(text.hasPrefix("Harbor: mira\n") && text.contains("  digits: 8\n") && text.contains("<secret of 20 bytes>"))
            let json = try await cli.signet("show", "mira", "--json").succeeds()
            #expect(json.json["digits"] == .integer(8) && json.json["type"]?.string == "totp")
            #expect(!json.output.contains(OATHSample.secretText) && !text.contains(OATHSample.secretText))
        }
    }

    @Test("Without a terminal, the secret is shown only with --yes", arguments: ["--qr", "--secret"])
    func showsSecretOnlyWithYes(option: String) async throws {
        try await withAccount { cli in
            let refused = try await cli.signet("show", "mira", option)
            refused.fails(77, "--yes")
            #expect(!refused.errors.contains(OATHSample.secretText))
            try await cli.signet("show", "mira", option, "--yes").succeeds()
        }
    }

    @Test("signet show --secret --yes prints the secret in Base32 and nothing else, or in the JSON")
    func printsSecret() async throws {
        try await withAccount { cli in
            let outcome = try await cli.signet("show", "mira", "--secret", "--yes").succeeds()
            #expect(outcome.output == OATHSample.secretText + "\n" && outcome.errors == "")
            let json = try await cli.signet("show", "mira", "--secret", "--yes", "--json").succeeds().json
            #expect(json["secret"]?.string == OATHSample.secretText)
        }
    }

    @Test("signet show --qr --yes draws the QR code of the enrollment")
    func drawsCode() async throws {
        try await withAccount { cli in
            let outcome = try await cli.signet("show", "mira", "--qr", "--yes").succeeds()
            let text = EnrollmentURI.printListed(try EnrollmentURI.parse(Self.uri))
            #expect(outcome.output == (try QRDrawing(text: text).terminalText(ansi: false)))
        }
    }

    @Test("A locked account shows no secret, and a name that is only similar exits with 66")
    func refusesLockedAccount() async throws {
        try await withAccount { cli in
            try await cli.signet("accounts", "lock", "mira").succeeds()
            for option in ["--qr", "--secret"] {
                let outcome = try await cli.signet("show", "mira", option, "--yes")
                outcome.fails(77, "locked")
                #expect(!outcome.errors.contains(OATHSample.secretText))
            }
            try await cli.signet("show", "mira").succeeds()
            try await cli.signet("show", "mir", "--secret", "--yes").fails(66, "did you mean 'Harbor:mira'?")
        }
    }

    @Test(
        "Options of signet show that contradict each other exit with 64",
        arguments: [["--qr", "--secret"], ["--qr", "--json", "--yes"], ["--yes"]])
    func refusesShowOptions(options: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.start(["show", "mira"] + options).end().fails(64, "Usage: signet show")
        }
    }

    @Test(
        "At a terminal, the secret is shown after the user typed 'yes', and not after another answer",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"),
        arguments: [("--secret", "yes", 0 as Int32), ("--secret", "no", 77), ("--qr", "yes", 0), ("--qr", "", 77)])
    func confirmsSecretAtTerminal(option: String, answer: String, exit: Int32) async throws {
        try await withAccount { cli in
            let process = try cli.startAtTerminal(["show", "mira", option])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to show it:") }
            #expect(process.soFar.output.contains("This shows the secret of Harbor:mira (totp)"))
            process.type("\(answer)\n")
            let outcome = await process.end()
            #expect(outcome.status == exit, "\(outcome.output)")
            let isShown = outcome.output.contains("▀") || outcome.output.contains("KDJ7 CDBN BTGW")
            #expect(isShown == (exit == 0))
        }
    }

    @Test("A secret is typed more easily in groups of four characters")
    func groupsSecret() {
        #expect(Show.inGroups("KDJ7CDBNBT") == "KDJ7 CDBN BT" && Show.inGroups("") == "" && Show.inGroups("ABCD") == "ABCD")
    }
}
