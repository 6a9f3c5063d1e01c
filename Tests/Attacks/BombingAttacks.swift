#if os(Linux)
import SignetCore
import SignetNetwork
import TestSupport
import Testing

/// Messages that an attacker makes the server send to a user.
@Suite("Attacks: bombing with messages", .timeLimit(.minutes(10)))
struct BombingAttacks {
    @Test("An attacker with a user's password can send that user only a few push messages")
    func bombsWithPushMessages() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            try await registerPhone(at: server)
            for _ in 0..<12 { _ = try await server.signIn("PushLogin") }
            let waiting = try await messages(at: server).count
            #expect((1...3).contains(waiting), "\(waiting) messages wait for one user")
            // For an hour: every message is ignored until it has expired.
            var sent = waiting
            for _ in 0..<60 {
                try await server.advanceClock(by: 60)
                let before = Set(try await messages(at: server))
                _ = try await server.signIn("PushLogin")
                sent += Set(try await messages(at: server)).subtracting(before).count
            }
            #expect((1...30).contains(sent), "\(sent) messages were sent in an hour")
        }
    }

    @Test("An attacker with only a user's name can have only a few emails sent to that user")
    func bombsWithEmails() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            for _ in 0..<60 {
                try await server.advanceClock(by: 4)
                let step = try #require(try await server.start("EmailLogin").step)
                let answer = try await server.answer(step, ["NameCallback": .string(AttackedServer.victim)])
                // The answer is the same whether or not an email is sent.
                #expect(answer.types == ["SuspendedTextOutputCallback"] || answer.status == 429, "\(answer.status)")
            }
            let log = try await server.admin("GET", "request-log?kind=email&user=\(AttackedServer.victim)")
            let sent = try #require(log["count"]?.lenientInteger)
            #expect((1...15).contains(sent), "\(sent) emails in four minutes")
        }
    }

    /// Registers a phone that ignores its messages.
    private func registerPhone(at server: AttackedServer) async throws {
        let shown = try #require(try await server.signIn("PushRegistration").step)
        let uri = try #require(shown.hiddenValue("mfaDeviceRegistration"))
        let invitation = try #require(try EnrollmentURI.parse(uri).push)
        let claims: [String: JSONValue] = [
            "response": .string(PushClaims.response(to: invitation.challenge, secret: invitation.secret)),
            "mechanismUid": "phone-1", "deviceId": "token", "deviceName": "Phone", "deviceType": "android",
            "communicationType": "gcm",
        ]
        let jwt = CompactJWS.sign(try JSON.encode(claims), with: invitation.secret)
        let body = JSON.text(of: PushRequestBody(messageId: invitation.messageID, jwt: jwt))
        let registered = try await server.post("/json/push/sns/message?_action=register", json: body)
        try #require(registered.status == 200, "\(registered.text)")
        try await server.advanceClock(by: 10)
        _ = try #require(try await server.answer(shown, [:]).session)
    }

    /// The ids of the messages that wait for an answer.
    private func messages(at server: AttackedServer) async throws -> [String] {
        try #require(try await server.admin("GET", "pushes")["pushes"]?.array)
            .filter { $0["state"]?.string == "waiting" }
            .compactMap { $0["messageId"]?.string }
    }
}
#endif
