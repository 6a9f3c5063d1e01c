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

    /// Starts `signet` at a terminal of its own.
    private func atTerminal(_ cli: CommandLineFixture, _ arguments: [String]) throws -> TestProcess {
        let command = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try cli.start(["-qec", command, "/dev/null"], program: "script", input: .open)
    }

    @Test("signet accounts remove without a terminal and without --yes exits with 77 and removes nothing")
    func requiresTerminalOrYes() async throws {
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
            let process = try atTerminal(cli, ["accounts", "remove", "mira"])
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
            let process = try atTerminal(cli, ["accounts", "remove", "mira"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to remove it:") }
            process.type(key)
            #expect(await process.end().status == 130)
            #expect(try await cli.accounts().count == 1)
        }
    }
}
