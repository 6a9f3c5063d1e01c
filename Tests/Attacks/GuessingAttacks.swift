#if os(Linux)
import SignetCore
import SignetNetwork
import TestSupport
import Testing

/// Guesses of passwords, codes and answers, at a server that other machines can reach.
@Suite("Attacks: guessing", .timeLimit(.minutes(10)))
struct GuessingAttacks {
    /// The number of wrong guesses before the right one.
    private static let guesses = 30
    /// The seconds between two guesses, so that no limit of requests per minute stops them.
    private static let pause = 15

    @Test("A guessed security question is not accepted after many wrong answers, and a right password does not help")
    func guessesSecurityAnswers() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            func guess(_ answer: String) async throws -> JourneyAnswer {
                try await server.advanceClock(by: Self.pause)
                let question = try await server.signIn("QuestionLogin")
                guard let step = question.step else { return question }
                return try await server.answer(step, ["PasswordCallback": .string(answer)])
            }
            let known = try await guess(AttackedServer.securityAnswer)
            #expect(known.session != nil)
            for number in 0..<Self.guesses {
                #expect(try await guess("wrong \(number)").session == nil)
                // The user's own logins go on in the meantime.
                if number.isMultiple(of: 4) { #expect(try await server.signIn().session != nil) }
            }
            #expect(try await guess(AttackedServer.securityAnswer).session == nil)
        }
    }

    @Test("The answer to a security question without the password gives no session")
    func logsInByAnswerAlone() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            let asked = try #require(try await server.start("QuestionLogin").step)
            let answer = try await server.answer(
                asked,
                [
                    "NameCallback": .string(AttackedServer.victim), "PasswordCallback": .string(AttackedServer.securityAnswer),
                ])
            #expect(answer.session == nil && answer.step == nil)
        }
    }

    @Test("A guessed one-time code is not accepted after many wrong codes, though the attacker knows the password")
    func guessesOneTimeCodes() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            let device = try await CodeDevice.registered(for: AttackedServer.victim, at: server)
            func guess(_ code: String) async throws -> JourneyAnswer {
                try await server.advanceClock(by: Self.pause)
                let asked = try await server.signIn("OATHLogin")
                guard let step = asked.step else { return asked }
                return try await server.answer(step, ["NameCallback": .string(code)])
            }
            #expect(try await guess(try await device.code(at: server)).session != nil)
            for _ in 0..<Self.guesses { #expect(try await guess("000000").session == nil) }
            try await server.advanceClock(by: 30)
            #expect(try await guess(try await device.code(at: server)).session == nil)
        }
    }

    @Test("A recovery code is not accepted after many wrong ones, though the attacker knows the password")
    func guessesRecoveryCodes() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            let shown = try #require(try await server.signIn("RecoveryRegistration").step)
            let codes = try #require(try await server.answer(shown, ["ConfirmationCallback": .integer(0)]).step)
            let script = try #require(codes.callbacks.first?.output("message")?.string)
            let shownCodes = script.matches(of: #/"(\w{10})\\n"/#).map { String($0.output.1) }
            try #require(Set(shownCodes).count > 1)
            #expect(try await server.answer(codes, [:]).session != nil)
            func guess(_ code: String) async throws -> JourneyAnswer {
                try await server.advanceClock(by: Self.pause)
                let asked = try await server.signIn("RecoveryLogin")
                guard let step = asked.step else { return asked }
                let chosen = try await server.answer(step, ["ConfirmationCallback": .integer(1)])
                guard let recovery = chosen.step else { return chosen }
                return try await server.answer(recovery, ["NameCallback": .string(code)])
            }
            // Each recovery code is valid once.
            #expect(try await guess(shownCodes[0]).session != nil)
            for _ in 0..<Self.guesses { #expect(try await guess("aaaaaaaaaa").session == nil) }
            #expect(try await guess(shownCodes[1]).session == nil)
        }
    }

    @Test("The answer to a security question alone does not set a new password")
    func resetsPasswordWithoutEmail() async throws {
        try await AttackedServer.with { server in
            let asked = try #require(try await server.start("ForgottenPassword").step)
            let question = try #require(try await server.answer(asked, ["NameCallback": .string(AttackedServer.victim)]).step)
            let next = try await server.answer(question, ["PasswordCallback": .string(AttackedServer.securityAnswer)])
            #expect(!next.types.contains("ValidatedCreatePasswordCallback"))
        }
    }

    @Test("Wrong passwords lock a user however the attacker spells the address, the journey and the request")
    func guessesPasswordsByDetours() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            let journeys = ["Login", "OATHLogin", "PushLogin", "DeviceSigning", "WebAuthnLogin"]
            for number in 0..<10 {
                let address = "10.0.0.\(number)"
                let headers = [
                    ("X-Forwarded-For", address), ("Forwarded", "for=\(address)"), ("X-Real-IP", address),
                    ("User-Agent", "guess/\(number)"),
                ]
                let answer = try await server.signIn(journeys[number % journeys.count], password: "wrong \(number)", headers)
                #expect(answer.session == nil)
            }
            #expect(try await server.signIn().session == nil)
            #expect(try await server.signIn(name: AttackedServer.attacker).session != nil)
        }
    }

    @Test("The user codes of devices cannot be tried without a limit")
    func guessesUserCodes() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            let session = try await server.session(of: AttackedServer.attacker)
            try await server.stopClock()
            let cookie = [("Cookie", "iPlanetDirectoryPro=\(session)")]
            var looked = 0
            for number in 0..<200 {
                let code = "BCDF-\(String(repeating: "G", count: 4 - "\(number)".count))\(number)"
                let shown = try await server.send("GET", "\(AttackedServer.oauth)/device/user?user_code=\(code)", cookie)
                let answered = try await server.post(
                    "\(AttackedServer.oauth)/device/user",
                    form: [("user_code", code), ("decision", "allow"), ("csrf", session)], cookie)
                looked += [shown, answered].count { $0.status != 429 }
            }
            // Ten wrong codes at once (`RateLimits.default.userCode`), and no further one while the clock is stopped.
            #expect(looked == 10, "\(looked) of 400 guesses were looked at")
        }
    }

    @Test("The login page counts as much as the authenticate resource: beyond the limit it is refused")
    func floodsLoginPage() async throws {
        try await AttackedServer.with(isExposed: true) { server in
            try await server.stopClock()
            let junk = String(repeating: "x", count: 20_000)
            var statuses: [Int: Int] = [:]
            for number in 0..<200 {
                let response = try await server.send("GET", "/XUI/?realm=/&x\(number)=\(junk)")
                statuses[response.status, default: 0] += 1
            }
            #expect(statuses[429, default: 0] > 50, "\(statuses)")
        }
    }
}
#endif
