import SignetCore
import TestSupport
import Testing

@Suite("signet accounts: groups, notes and codes of Steam")
struct AccountDetailsTests {
    private static let note = "recovery code 1234"
    /// An Aegis vault with a note, a group and an account of Steam.
    private static let file = #"""
        {"version":1,"header":{},"db":{"version":2,"entries":[
        {"type":"totp","name":"mira","issuer":"Harbor Bank","note":"\#(note)\nsecond \u001b[31mline","group":"Work",
        "icon":"iVBORw0KGgo=","info":{"secret":"JBSWY3DPEHPK3PXP","algo":"SHA1","digits":6,"period":30}},
        {"type":"steam","name":"gordon","issuer":"Steam","info":{"secret":"BUWMP4DZCFV2N7AVRDWNFVHDFFUZENT6"}}]}}
        """#

    @Test("The list and the report of an import say that there is a note, and do not have its text")
    func listsWithoutNotes() async throws {
        try await CommandLineFixture.with { cli in
            let path = try cli.write(Self.file.utf8, to: "aegis.json")
            for flags in [["--dry-run"], ["--dry-run", "--json"], []] as [[String]] {
                let report = try await cli.start(["import", path] + flags).end()
                #expect(report.status == 0 && !report.output.contains("1234"))
                #expect(report.output.contains("Work"))
            }
            let list = try await cli.signet("accounts").succeeds().output
            #expect(list.contains("Harbor Bank: mira  [totp]  in Work  with a note"))
            #expect(list.contains("Steam: gordon  [totp]  codes of Steam"))
            #expect(!list.contains("1234"))
        }
    }

    @Test("An account that is named is shown with its note, in which nothing acts on the terminal")
    func showsNote() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", cli.write(Self.file.utf8, to: "aegis.json")).succeeds()
            let shown = try await cli.signet("accounts", "show", "mira").succeeds().output
            #expect(shown.contains("group: Work\nicon: image/png, 8 bytes\nnote:\n  \(Self.note)\n  second \\u{1B}[31mline\n"))
            let json = try await cli.signet("accounts", "show", "mira", "--json").succeeds().json
            #expect(json["note"]?.string == "\(Self.note)\nsecond \u{1B}[31mline")
            #expect(json["groups"] == .array([.string("Work")]) && json["icon"]?.string?.utf8.count == 64)
            try await cli.signet("accounts", "show", "nobody").fails(66, "nobody")
            let accounts = try await cli.accounts()
            let notes = accounts.compactMap { $0["note"]?.string }
            #expect(notes.count == 1)
            let encodings = accounts.flatMap { $0["mechanisms"]?.array ?? [] }.map { $0["encoding"]?.string }
            #expect(encodings.contains("steam") && encodings.count == 2)
        }
    }

    @Test("signet code prints a code of Steam")
    func printsSteamCode() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", cli.write(Self.file.utf8, to: "aegis.json")).succeeds()
            let code = try await cli.signet("code", "gordon").succeeds().line
            let isOfAlphabet = code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) }
            #expect(code.count == 5 && isOfAlphabet)
        }
    }

    @Test("signet enroll takes an account of Steam from a URI of KeePassXC and from a secret of Bitwarden")
    func enrollsSteam() async throws {
        let secret = "BUWMP4DZCFV2N7AVRDWNFVHDFFUZENT6"
        for uri in ["otpauth://totp/Valve:gordon?secret=\(secret)&digits=6&encoder=steam", "steam://\(secret)"] {
            try await CommandLineFixture.with { cli in
                let enrolled = try await cli.signet("enroll", "-", "--json", input: .text(uri)).succeeds()
                #expect(enrolled.json["encoding"]?.string == "steam" && !enrolled.output.contains(secret))
                #expect(try await cli.accounts().count == 1)
            }
        }
    }
}
