import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet codes")
struct CodesTests {
    /// A vault with an account by time and one by a counter.
    private func withAccounts(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor Bank", account: "mira")).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", issuer: "Library", account: "4711", "&counter=7")).succeeds()
            try await body(cli)
        }
    }

    @Test("signet codes lists codes with their seconds and counters, and uses up no code")
    func listsCodes() async throws {
        try await withAccounts { cli in
            let start = Date()
            let lines = try await cli.signet("codes").succeeds().output.split(separator: "\n").map(String.init)
            let possible = try [start, Date()].map { try TOTP.code(secret: OATHSample.secret, at: $0) }
            try #require(lines.count == 2)
            let isCode = possible.contains { lines[0].hasPrefix("Harbor Bank  mira  \($0)  ") } && lines[0].hasSuffix(" s left")
            #expect(isCode, "\(lines)")
            #expect(lines[1] == "Library      4711  counter 7")
            #expect(try await cli.signet("code", "4711").succeeds().line == "099169")
        }
    }

    @Test("signet codes --json prints one account a line with the names of signet code --json")
    func listsCodesAsJSON() async throws {
        try await withAccounts { cli in
            try await cli.signet("accounts", "lock", "mira").succeeds()
            let lines = try await cli.signet("codes", "--json").succeeds().jsonLines
            try #require(lines.count == 2)
            let locked: [String: JSONValue] = [
                "issuer": .string("Harbor Bank"), "account": .string("mira"), "type": .string("totp"), "locked": .bool(true),
            ]
            #expect(lines[0] == .object(locked))
            #expect(lines[1]["counter"] == .integer(7) && lines[1]["code"] == nil)
            try await cli.signet("accounts", "unlock", "mira").succeeds()
            let code = try await cli.signet("codes", "harbor", "--json").succeeds().json
            let names = code.object.map { Set($0.keys) }
            #expect(names == ["issuer", "account", "type", "code", "secondsLeft", "validUntil"])
        }
    }

    @Test("A query of signet codes leaves the accounts with a similar name, and one without a similar account exits with 66")
    func filtersCodes() async throws {
        try await withAccounts { cli in
            for (query, name) in [
                ("har", "Harbor"), ("MIRA", "Harbor"), ("hbk", "Harbor"), ("47", "Library"), ("lbry", "Library"),
            ] {
                let lines = try await cli.signet("codes", query).succeeds().output.split(separator: "\n")
                #expect(lines.count == 1 && lines.first?.hasPrefix(name) == true, "\(query)")
            }
            try await cli.signet("codes", "zebra").fails(66, "'zebra'")
            try await cli.signet("codes", "").fails(64)
        }
    }

    @Test("signet codes shows the displayed names of an account, and its own names in JSON")
    func listsDisplayedNames() async throws {
        try await withAccounts { cli in
            try await cli.signet("accounts", "rename", "4711", "--issuer", "Books").succeeds()
            let lines = try await cli.signet("codes", "books").succeeds().line
            #expect(lines == "Books  4711  counter 7")
            #expect(try await cli.signet("codes", "library", "--json").succeeds().json["issuer"]?.string == "Library")
        }
    }

    @Test("signet codes in an empty vault says how to add an account, and prints no JSON")
    func listsNoCodes() async throws {
        try await CommandLineFixture.with { cli in
            let list = try await cli.signet("codes").succeeds()
            #expect(list.line.contains("signet enroll"))
            let json = try await cli.signet("codes", "--json").succeeds()
            #expect(json.output == "")
        }
    }

    @Test("signet codes --watch without a terminal, or with --json, exits with 64")
    func refusesWatchWithoutTerminal() async throws {
        try await withAccounts { cli in
            try await cli.signet("codes", "--watch").fails(64, "terminal")
            try await cli.signet("codes", "--watch", "--json").fails(64)
        }
    }

    @Test(
        "signet codes --watch refreshes the terminal until Ctrl-C, and then shows what it showed before",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func watchesCodes() async throws {
        try await withAccounts { cli in
            let process = try cli.startAtTerminal(["codes", "--watch"])
            try await process.waitForOutput { output, _ in output.components(separatedBy: "\u{1B}[H").count > 2 }
            process.type("\u{3}")
            let outcome = await process.end()
            #expect(outcome.status == 130)
            #expect(outcome.output.contains("counter 7") && outcome.output.contains("Ctrl-C ends."))
            let start = outcome.output.range(of: "\u{1B}[?1049h\u{1B}[?25l")
            // The codes are cleared before: tmux leaves a part of the second screen in the scrolled text when its size has changed.
            let end = outcome.output.range(of: "\u{1B}[H\u{1B}[2J\u{1B}[?25h\u{1B}[?1049l")
            #expect(start != nil && end != nil)
            #expect(try await cli.signet("code", "4711").succeeds().line == "099169")
        }
    }
}
