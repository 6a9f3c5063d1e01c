import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet enroll --replace")
struct EnrollReplaceTests {
    private func mechanism(_ type: String, _ cli: CommandLineFixture) async throws -> JSONValue? {
        try await cli.accounts().first?["mechanisms"]?.array?.first { $0["type"]?.string == type }
    }

    @Test("C10: signet enroll --replace registers push again, says what it replaced, and keeps the account's codes")
    func replacesPush() async throws {
        try await FakePushServer.withAccount { server, cli in
            let (totp, push) = (try await mechanism("totp", cli), try await mechanism("push", cli))
            let uri = try server.uri(2)
            try await cli.signet("enroll", "-", input: .text(uri)).fails(73, "has a push mechanism already", "--replace")
            let outcome = try await cli.start(["enroll", "-", "--replace", "--yes"], input: .text(uri)).end().succeeds()
            #expect(outcome.output.contains("replaced: [\"push\"]"))
            #expect(try await mechanism("totp", cli) == totp)
            let replacement = try await mechanism("push", cli)
            #expect(replacement?["id"]?.string == server.mechanismUID && replacement?["id"] != push?["id"])
            #expect(try await cli.accounts().count == 1)
            #expect(try await cli.messages().isEmpty)

            server.send(try server.message(id: "M2"), id: "2")
            let heard = try await cli.start(["push", "listen", "--once", "--json"]).end().succeeds()
            #expect(heard.json["messageId"]?.string == "M2")
        }
    }

    @Test(
        "C10: A registration that the server refuses leaves the old push mechanism and its messages in place",
        arguments: [("400 Bad Request", 77 as Int32), ("500 Internal Server Error", 76)])
    func keepsOldWhenRefused(status: String, exit: Int32) async throws {
        try await FakePushServer.withAccount { server, cli in
            let (accounts, messages) = (try await cli.accounts(), try await cli.messages())
            let uri = try server.uri(2)
            server.refuseRegistrations(with: status)
            let outcome = try await cli.start(["enroll", "-", "--replace", "--yes"], input: .text(uri)).end()
            outcome.fails(exit)
            #expect(try await cli.accounts() == accounts)
            #expect(try await cli.messages() == messages)
            let id = try #require(messages.first?["id"]?.string)
            try await cli.signet("push", "approve", id).succeeds()
        }
    }

    @Test("C10: signet enroll --replace without a terminal and without --yes exits with 77, sends nothing and changes nothing")
    func replacesOnlyWithTerminalOrYes() async throws {
        try await FakePushServer.withAccount { server, cli in
            let (accounts, registrations) = (try await cli.accounts(), server.registrations)
            let outcome = try await cli.start(["enroll", "-", "--replace"], input: .text(server.uri(2))).end()
            outcome.fails(77, "Harbor: mira", "push", "can't be undone", "--yes")
            #expect(try await cli.accounts() == accounts)
            #expect(server.registrations == registrations)
        }
    }

    @Test("C10: signet enroll --yes without --replace exits with 64 and enrolls nothing")
    func refusesYesAlone() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "--yes", OATHSample.uri()).fails(64, "needs --replace")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test(
        "C10: signet enroll --replace at a terminal replaces codes only when the user types 'yes'",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"),
        arguments: [("yes", 0 as Int32), ("no", 77)])
    func enrollConfirmsReplacement(answer: String, exit: Int32) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let before = try await mechanism("totp", cli)
            let uri = OATHSample.uri("totp", "&digits=8")
            let process = try cli.startAtTerminal(["enroll", uri, "--replace"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to replace it:") }
            #expect(process.soFar.output.contains("This replaces in Harbor: mira: totp, enrolled "))
            process.type("\(answer)\n")
            #expect(await process.end().status == exit)
            let after = try await mechanism("totp", cli)
            #expect(after?["digits"]?.lenientInteger == (exit == 0 ? 8 : 6))
            #expect((after?["id"] == before?["id"]) == (exit != 0))
        }
    }

    @Test(
        "C10: signet enroll --replace asks nothing where nothing is replaced, and --dry-run shows what would be and changes nothing"
    )
    func enrollAsksNothingWithoutReplacement() async throws {
        try await CommandLineFixture.with { cli in
            let first = try await cli.signet("enroll", "--json", "--replace", OATHSample.uri()).succeeds()
            #expect(first.json["replaced"] == nil)
            try await cli.signet("enroll", "--replace", OATHSample.uri("hotp")).succeeds()
            let before = try cli.vaultFiles()
            let dry = try await cli.signet("enroll", "--json", "--replace", "--dry-run", OATHSample.uri()).succeeds()
            #expect(dry.json["replaced"] == .array([.string("totp")]))
            #expect(try cli.vaultFiles() == before)
        }
        try await CommandLineFixture.with(vault: false) { cli in
            let dry = try await cli.signet("enroll", "--json", "--replace", "--dry-run", OATHSample.uri()).succeeds()
            #expect(dry.json["type"]?.string == "totp" && dry.json["replaced"] == nil)
        }
    }
}
