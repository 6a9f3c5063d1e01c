import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("The account and the subject of a push message at the command line")
struct PushAccountTests {
    /// Runs `body` with a vault that has messages `M1` and `M2` of a server like OpenAM: they have no text.
    private func withMessages(
        subject: String? = nil, _ body: (CommandLineFixture, _ heard: Outcome, _ ids: [String]) async throws -> Void
    ) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "-", input: .text(server.uri())).succeeds()
            for id in ["1", "2"] { server.send(try server.message(id: "M\(id)", text: nil, subject: subject), id: id) }
            let listener = try cli.start(["push", "listen"])
            try await listener.waitForOutput { output, _ in output.split(separator: "\n").count == 2 }
            listener.signal(SIGINT)
            let heard = await listener.end()
            try await body(cli, heard, cli.messages().compactMap { $0["id"]?.string })
        }
    }

    @Test("C9: A push message without text is shown with its account by push listen, list, approve and deny")
    func showsAccount() async throws {
        try await withMessages { cli, heard, ids in
            try #require(ids.count == 2)
            var lines = heard.output.split(separator: "\n").map(String.init)
            lines.append(try await cli.signet("push", "list").succeeds().output)
            lines.append(try await cli.signet("push", "approve", ids[0]).succeeds().output)
            lines.append(try await cli.signet("push", "deny", ids[1]).succeeds().output)
            for line in lines { #expect(line.contains("  Harbor: mira  (no text)"), "\(line)") }
        }
    }

    @Test("C9: The JSON of a push message names the issuer and the account")
    func namesAccountInJSON() async throws {
        try await withMessages { cli, _, ids in
            try #require(ids.count == 2)
            var messages = try await cli.messages()
            messages.append(try await cli.signet("push", "approve", ids[0], "--json").succeeds().json)
            messages.append(try await cli.signet("push", "deny", ids[1], "--json").succeeds().json)
            for message in messages {
                #expect(message["issuer"]?.string == "Harbor" && message["account"]?.string == "mira")
                #expect(message["message"] == nil && message["unsignedSubject"] == nil)
            }
        }
    }

    @Test("C9: The subject of a push message is shown as unsigned, with its control characters escaped")
    func marksSubjectAsUnsigned() async throws {
        let subject = "Login attempt from bob at LabAM\u{1B}[2J\n\u{202E}\"  numbers 7"
        try await withMessages(subject: subject) { cli, heard, _ in
            for output in [heard.output, try await cli.signet("push", "list").succeeds().output] {
                #expect(output.contains("unsigned: \"Login attempt from bob at LabAM\\"), "\(output)")
                #expect(output.contains("\\\"  numbers 7\""))
                #expect(!output.contains("\u{1B}") && !output.contains("\u{202E}"))
                #expect(output.split(separator: "\n").count == 2)
            }
            let listed = try await cli.signet("push", "list", "--json").succeeds()
            #expect(!listed.output.contains("\u{1B}") && !listed.output.contains("\u{202E}"))
            #expect(listed.jsonLines.first?["unsignedSubject"]?.string == subject)
        }
    }
}
