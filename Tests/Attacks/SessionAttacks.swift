#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetServer
import SignetTesting
import TestSupport
import Testing

/// Sessions and tokens that an attacker got before the user reacted.
@Suite("Attacks: stolen sessions", .timeLimit(.minutes(5)))
struct SessionAttacks {
    @Test("A new password ends the sessions and refresh tokens that an attacker has")
    func keepsSessionPastNewPassword() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            let tokens = try await server.tokens()
            try await resetPassword(to: "A-new-Passw0rd", at: server)
            #expect(try await server.signIn(password: "A-new-Passw0rd").session != nil)
            #expect(try await server.signIn().session == nil)
            #expect(try await !server.isValid(session: session))
            #expect(try await server.renew(tokens.refresh).oauthError == "invalid_grant")
        }
    }

    /// Completes the journey for a forgotten password, whatever it asks the user for.
    private func resetPassword(to password: String, at server: AttackedServer) async throws {
        var last = try await server.start("ForgottenPassword")
        for _ in 0..<8 {
            guard let step = last.step else { break }
            switch step.callbacks.first?.type {
            case "NameCallback": last = try await server.answer(step, ["NameCallback": .string(AttackedServer.victim)])
            case "PasswordCallback":
                last = try await server.answer(step, ["PasswordCallback": .string(AttackedServer.securityAnswer)])
            case "SuspendedTextOutputCallback":
                let emails = try await server.admin("GET", "emails?user=\(AttackedServer.victim)")["emails"]?.array
                let link = try #require(emails?.first?["link"]?.string)
                let token = try #require(FormCoding.query(of: link)["suspendedId"])
                last = JourneyAnswer(
                    response: try await server.post("\(AttackedServer.authenticate)?suspendedId=\(token)", json: ""))
            default: last = try await server.answer(step, ["ValidatedCreatePasswordCallback": .string(password)])
            }
        }
        try #require(last.session != nil, "\(last.status) \(last.response.text)")
    }

    @Test("A user that is removed and created again has none of the earlier sessions and tokens")
    func inheritsSession() async throws {
        try await TemporaryDirectory.with { directory in
            let (state, key) = (directory.file("state"), directory.file("key"))
            try Data(repeating: 7, count: 32).write(to: URL(filePath: key))
            try #require(chmod(key, 0o600) == 0)
            let kept = ["--state", state, "--state-key", key]
            var stolen = ("", "")
            try await AttackedServer.with(options: kept) { server in
                stolen = (try await server.session(), try await server.tokens().refresh)
                #expect(try await server.isValid(session: stolen.0))
            }
            try await AttackedServer.with(options: kept, users: [AttackedServer.attacker]) { server in
                let isValid = try await server.isValid(session: stolen.0)
                #expect(!isValid)
            }
            try await AttackedServer.with(options: kept) { server in
                let isValid = try await server.isValid(session: stolen.0)
                #expect(!isValid)
                #expect(try await server.renew(stolen.1).oauthError == "invalid_grant")
                #expect(try await server.signIn().session != nil)
            }
        }
    }
}
#endif
