import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("The names of signet code")
struct CodeSelectionTests {
    private func withAccounts(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            for (issuer, account, counter) in [("Harbor", "mira", 7), ("Harbor", "noa", 100), ("Ferry", "pia", 200)] {
                let uri = OATHSample.uri("hotp", issuer: issuer, account: account, "&counter=\(counter)")
                try await cli.signet("enroll", uri).succeeds()
            }
            try await body(cli)
        }
    }

    @Test(
        "Without a terminal, a part of a name is refused with the similar names, and no code is used up",
        arguments: [
            ("mir", "'Harbor:mira'"), ("ferr", "'Ferry:pia'"), ("hrbr", "'Harbor:mira' or 'Harbor:noa'"),
            ("mirra", "'Harbor:mira'"),
        ])
    func refusesPartialName(name: String, similar: String) async throws {
        try await withAccounts { cli in
            for command in [["code"], ["show"], ["accounts", "lock"]] {
                let outcome = try await cli.start(command + [name]).end()
                outcome.fails(66, "'\(name)'", "did you mean \(similar)")
            }
            #expect(try await cli.signet("code", "mira").succeeds().line == "099169")
        }
    }

    @Test(
        "At a terminal, a part of a name or an ambiguous name shows a list, and the picked account is used",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"),
        arguments: [("harbor", "1"), ("har", "1"), ("harbor", "mira"), ("mir", "")])
    func picksAccount(name: String, line: String) async throws {
        try await withAccounts { cli in
            let process = try cli.startAtTerminal(["code", name])
            try await process.waitForOutput { output, _ in output.contains("of the name: ") }
            #expect(process.soFar.output.contains("1  Harbor:mira (hotp)"))
            process.type(line + "\n")
            let outcome = await process.end()
            #expect(outcome.status == 0 && outcome.output.contains("099169"), "\(outcome.output)")
            #expect(try await cli.signet("code", "noa", "--json").succeeds().json["counter"] == .integer(100))
        }
    }

    @Test(
        "Ctrl-C and Ctrl-D at the list exit with 130, and no code is used up",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"), arguments: ["\u{3}", "\u{4}"])
    func cancelsPicking(key: String) async throws {
        try await withAccounts { cli in
            let process = try cli.startAtTerminal(["code", "har"])
            try await process.waitForOutput { output, _ in output.contains("of the name: ") }
            process.type(key)
            #expect(await process.end().status == 130)
            #expect(try await cli.signet("code", "mira").succeeds().line == "099169")
        }
    }

    @Test(
        "At a terminal, --json asks nothing, and a name that no account is similar to is refused",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func asksNothingForJSON() async throws {
        try await withAccounts { cli in
            for arguments in [["code", "har", "--json"], ["code", "zebra"]] {
                let ended = try await cli.startAtTerminal(arguments).end()
                #expect(ended.status == 66, "\(arguments)")
            }
        }
    }

    @Test(
        "At a terminal, accounts rename takes the account that the user picks",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func picksAccountToRename() async throws {
        try await withAccounts { cli in
            let process = try cli.startAtTerminal(["accounts", "rename", "harbor", "--issuer", "Work"])
            try await process.waitForOutput { output, _ in output.contains("of the name: ") }
            process.type("noa\n")
            let outcome = await process.end()
            #expect(outcome.status == 0 && outcome.output.contains("Work: noa"), "\(outcome.output)")
        }
    }
}
