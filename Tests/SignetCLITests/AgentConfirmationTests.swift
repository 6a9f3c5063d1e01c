import AgentWire
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet agent --confirm-with", .timeLimit(.minutes(5)))
struct AgentConfirmationTests {
    // MARK: Codes

    @Test("The question for a code names the issuer and the account, whatever the client sent")
    func namesAccountOfCode() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor%20Bank")).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", issuer: "Other", account: "noa")).succeeds()
            let mechanisms = try await cli.accounts().first?["mechanisms"]?.array
            let uid = try #require(mechanisms?.first?["id"]?.string)
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            for (operation, arguments) in [
                ("code", ["mira"]), ("code", [uid]), ("code-of-mechanism", [uid, "current"]),
                ("code-of-mechanism", [uid, "next"]),
            ] {
                let reply = try agent.reply(to: operation, arguments)
                #expect(reply.isResult, "\(operation)")
            }
            let question = "Allow a command to use the code of 'Harbor Bank: mira'?"
            #expect(
                cli.questionLines
                    == [question, question, question, "Allow a command to use the next code of 'Harbor Bank: mira'?"])
            await agent.process.stop()
        }
    }

    @Test(
        "For an account, a mechanism or a message that does not exist the user is not asked",
        arguments: [
            ("code", ["nobody"]), ("code-of-mechanism", ["nothing", "current"]), ("approve", ["nothing", ""]),
            ("deny", ["nothing"]),
        ])
    func asksNothingForUnknown(operation: String, arguments: [String]) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            guard case .failure(let failure) = try agent.reply(to: operation, arguments) else {
                Issue.record("the agent performed \(operation)")
                return
            }
            #expect(failure.exit == 66)
            #expect(cli.questionLines.isEmpty)
            await agent.process.stop()
        }
    }

    // MARK: Logins

    @Test("The question for an answer describes the login as a notification does", arguments: ["approve", "deny"])
    func describesLogin(command: String) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            server.send(try server.message(id: "M1", text: "Log in\nfrom Oslo?", subject: "A subject"), id: "1")
            let message = try await cli.signet("push", "listen", "--once", "--json", "--timeout", "30").succeeds().json
            let id = try #require(message["id"]?.string)
            let agent = try await RunningAgent.start(cli, "--no-push", "--confirm-with", try cli.confirmationProgram())
            try await agent.signet("push", command, id).succeeds()
            let lines = cli.questionLines
            let first = [
                "Allow a command to \(command) this login?", "Login request: Harbor", "Log in from Oslo?",
                "Not signed: “A subject”", "Account: mira",
            ]
            #expect(Array(lines.prefix(first.count)) == first)
            let hasID = lines.last?.contains("message \(id.prefix(8))") ?? false
            #expect(hasID && server.answers.count == 1)
            await agent.process.stop()
        }
    }

    @Test("A login that the user does not allow is not approved, and the question has the number of the command")
    func asksWithNumber() async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            server.send(try server.message(id: "M1", kind: .number(choices: [7, 42, 99])), id: "1")
            let message = try await cli.signet("push", "listen", "--once", "--json", "--timeout", "30").succeeds().json
            let id = try #require(message["id"]?.string)
            let program = try cli.confirmationProgram(allows: false)
            let agent = try await RunningAgent.start(cli, "--no-push", "--confirm-with", program)
            try await agent.signet("push", "approve", id, "--number", "42").fails(77, "not allowed")
            #expect(cli.questionLines.first == "Allow a command to approve this login with the number 42?")
            #expect(server.answers.isEmpty)
            await agent.process.stop()
        }
    }

    // MARK: Notes

    private static let note = "recovery code 1234"

    /// Runs `body` with a vault that has an account with a note.
    private func withNote(_ body: (CommandLineFixture) async throws -> Void) async throws {
        let file = #"""
            {"version":1,"header":{},"db":{"version":2,"entries":[{"type":"totp","name":"mira","issuer":"Harbor",
            "note":"\#(Self.note)","info":{"secret":"JBSWY3DPEHPK3PXP","algo":"SHA1","digits":6,"period":30}}]}}
            """#
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", cli.write(file.utf8, to: "aegis.json")).succeeds()
            try await body(cli)
        }
    }

    @Test("A list of accounts has no note, and the user is asked before a command gets the notes")
    func asksForNotes() async throws {
        try await withNote { cli in
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram())
            let bytes = try agent.reply(to: "accounts").message.bytes
            #expect(bytes.firstRange(of: Array("1234".utf8)) == nil)
            let list = try await agent.signet("accounts").succeeds().output
            #expect(list.contains("with a note") && cli.questionLines.isEmpty)
            let json = try await agent.signet("accounts", "--json").succeeds().json
            #expect(json["note"]?.string == Self.note)
            #expect(cli.questionLines == ["Allow a command to use the notes of all accounts?"])
            await agent.process.stop()
        }
    }

    @Test("Without the user's consent a command gets no note, and accounts without notes need none")
    func refusesNotes() async throws {
        try await withNote { cli in
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram(allows: false))
            try await agent.signet("accounts", "--json").fails(77, "not allowed")
            await agent.process.stop()
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli, "--confirm-with", try cli.confirmationProgram(allows: false))
            try await agent.signet("accounts", "--json").succeeds()
            #expect(cli.questionLines.isEmpty)
            await agent.process.stop()
        }
    }

    @Test("An agent that does not ask gives the notes to a list that has them")
    func givesNotesWithoutQuestion() async throws {
        try await withNote { cli in
            let agent = try await RunningAgent.start(cli)
            let with = try await agent.signet("accounts", "--json").succeeds()
            let without = try await cli.signet("accounts", "--json").succeeds()
            #expect(with.output == without.output && with.output.contains(Self.note))
            await agent.process.stop()
        }
    }
}

extension AgentReply {
    /// True when the operation was performed.
    fileprivate var isResult: Bool { if case .result = self { true } else { false } }
}
