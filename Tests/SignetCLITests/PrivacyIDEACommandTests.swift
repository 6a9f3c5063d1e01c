#if os(Linux)
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite(
    "signet at a real privacyIDEA", .serialized, .timeLimit(.minutes(4)),
    .enabled(if: PrivacyIDEA.isPossible, "privacyidea is not installed: scripts/setup test installs it"))
struct PrivacyIDEACommandTests {
    @Test("The usual commands enroll a push token of privacyIDEA, receive its messages and answer them", .tags(.slow))
    func answersByUsualCommands() async throws {
        try await PrivacyIDEA.with { server in
            try await CommandLineFixture.with { cli in
                let uri = try await server.invitation()
                let serial = try #require(FormCoding.query(of: uri)["serial"])
                let shown = try await cli.signet("enroll", "--dry-run", "--json", "-", input: .text(uri)).succeeds()
                let credential = try #require(FormCoding.query(of: uri)["enrollment_credential"])
                #expect(shown.json["pushResourceId"]?.string == serial && !shown.output.contains(credential))
                try await cli.signet("enroll", "-", input: .text(uri)).succeeds()
                try await cli.signet("enroll", "--rename", "-", input: .text(uri)).fails(77, "refused")
                #expect(try await cli.accounts().count == 1)

                let approved = try await server.begin(serial)
                let first = try await Self.nextMessage(cli)
                #expect(first["type"]?.string == "default" && first["issuer"]?.string == "privacyIDEA")
                try await cli.signet("push", "approve", first["id"]?.string ?? "").succeeds()
                #expect(try await server.finish(approved))

                let denied = try await server.begin(serial)
                try await cli.signet("push", "deny", try await Self.nextMessage(cli)["id"]?.string ?? "").succeeds()
                #expect(try await server.state(of: denied) == "declined")

                try await server.setLoginPolicy("push_require_presence", "push_presence_options=NUMERIC")
                let login = try await server.begin(serial)
                let message = try await Self.nextMessage(cli)
                let number = try #require(login.choice.flatMap(Int.init))
                try await cli.signet("push", "approve", message["id"]?.string ?? "", "--number", String(number)).succeeds()
                #expect(try await server.finish(login))
                let states = try await cli.messages().compactMap { $0["state"]?.string }
                #expect(states.sorted() == ["approved", "approved", "denied"])
            }
        }
    }

    private static func nextMessage(_ cli: CommandLineFixture) async throws -> JSONValue {
        try await cli.signet("push", "listen", "--once", "--json", "--timeout", "60").succeeds().json
    }
}
#endif
