import Foundation
import SignetCore
import TestSupport
import Testing

@testable import signet

@Suite("signet accounts remove", .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
struct AccountsRemoveTests {
    private func withAccount(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "otpauth://totp/Bank:mira?secret=JBSWY3DPEHPK3PXP").succeeds()
            try await body(cli)
        }
    }

    @Test("signet accounts remove without a terminal and without --yes exits with 77 and removes nothing")
    func removesOnlyWithTerminalOrYes() async throws {
        try await withAccount { cli in
            let outcome = try await cli.signet("accounts", "remove", "mira")
            outcome.fails(77, "Bank: mira", "can't be undone", "--yes")
            #expect(try await cli.accounts().count == 1)
        }
    }

    @Test("signet accounts remove --yes reports the removed account", arguments: [false, true])
    func removesWithYes(json: Bool) async throws {
        try await withAccount { cli in
            let outcome = try await cli.start(["accounts", "remove", "mira", "--yes"] + (json ? ["--json"] : [])).end()
            try outcome.succeeds()
            if json {
                #expect(outcome.json["account"]?.string == "mira" && outcome.json["issuer"]?.string == "Bank")
            } else {
                #expect(outcome.line == "Removed Bank: mira  [totp]")
            }
            #expect(try await cli.accounts().isEmpty)
            try await cli.signet("accounts", "remove", "mira", "--yes").fails(66, "mira")
        }
    }

    @Test(
        "signet accounts remove at a terminal removes the account only when the user types 'yes'",
        arguments: [("yes", 0 as Int32, 0), ("y", 77, 1), ("", 77, 1)])
    func confirmsRemovalAtTerminal(answer: String, exit: Int32, left: Int) async throws {
        try await withAccount { cli in
            let process = try cli.startAtTerminal(["accounts", "remove", "mira"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to remove it:") }
            #expect(process.soFar.output.contains("This removes Bank: mira  [totp] with its codes and push messages."))
            process.type("\(answer)\n")
            #expect(await process.end().status == exit)
            #expect(try await cli.accounts().count == left)
        }
    }

    @Test("Ctrl-C and Ctrl-D at the confirmation prompt exit with 130 and remove nothing", arguments: ["\u{3}", "\u{4}"])
    func cancelsRemovalAtPrompt(key: String) async throws {
        try await withAccount { cli in
            let process = try cli.startAtTerminal(["accounts", "remove", "mira"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to remove it:") }
            process.type(key)
            #expect(await process.end().status == 130)
            #expect(try await cli.accounts().count == 1)
        }
    }

    // MARK: One mechanism

    @Test(
        "C10: signet accounts remove --mechanism removes one mechanism, and the last one with its account",
        arguments: [false, true])
    func removesOneMechanism(json: Bool) async throws {
        try await withAccount { cli in
            try await cli.signet("enroll", "otpauth://hotp/Bank:mira?secret=JBSWY3DPEHPK3PXP").succeeds()
            let options = ["--yes"] + (json ? ["--json"] : [])
            let first = try await cli.start(["accounts", "remove", "mira", "--mechanism", "totp"] + options).end().succeeds()
            let left = try await cli.accounts().first?["mechanisms"]?.array?.map { $0["type"]?.string }
            #expect(left == ["hotp"])
            let missing = try await cli.signet("accounts", "remove", "mira", "--mechanism", "push", "--yes")
            missing.fails(66, "no push mechanism", "hotp")
            let last = try await cli.start(["accounts", "remove", "mira", "--mechanism", "hotp"] + options).end().succeeds()
            #expect(try await cli.accounts().isEmpty)
            if json {
                let removed = [first, last].map { $0.json["mechanisms"]?.array?.map { $0["type"]?.string } }
                #expect(removed == [["totp"], ["hotp"]])
                #expect(first.json["accountRemoved"] == .bool(false) && last.json["accountRemoved"] == .bool(true))
            } else {
                #expect(first.line == "Removed totp of Bank: mira  [hotp]")
                #expect(last.line == "Removed hotp with the account Bank: mira")
            }
        }
    }

    @Test("C10: signet accounts remove --mechanism push removes the push messages and keeps the codes")
    func removesPushAlone() async throws {
        try await FakePushServer.withAccount { server, cli in
            try await cli.signet("accounts", "remove", "mira", "--mechanism", "push", "--yes").succeeds()
            #expect(try await cli.messages().isEmpty)
            try await cli.signet("code", "mira").succeeds()
            try await cli.signet("enroll", "-", input: .text(server.uri(2))).succeeds()
        }
    }

    @Test(
        "C10: signet accounts remove --mechanism says at a terminal what it removes, and removes nothing without 'yes'",
        arguments: [("yes", 0 as Int32), ("no", 77)])
    func confirmsOneMechanism(answer: String, exit: Int32) async throws {
        try await withAccount { cli in
            try await cli.signet("accounts", "remove", "mira", "--mechanism", "totp").fails(77, "totp of Bank: mira", "--yes")
            let process = try cli.startAtTerminal(["accounts", "remove", "mira", "--mechanism", "totp"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to remove it:") }
            let warning = "This removes totp of Bank: mira  [totp] with its codes. The account is removed too."
            #expect(process.soFar.output.contains(warning))
            process.type("\(answer)\n")
            #expect(await process.end().status == exit)
            #expect(try await cli.accounts().isEmpty == (exit == 0))
        }
    }
}
