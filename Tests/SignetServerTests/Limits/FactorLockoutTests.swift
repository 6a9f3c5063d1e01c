import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// Logs in with the password, by the journey of the starter file that then asks a security question, and answers the question.
    fileprivate func answerQuestion(
        _ answer: String, after journey: String = "QuestionLogin", password: String = password
    ) async throws -> Reply {
        try await self.answer(try await logIn(journey, password: password), answer)
    }

    /// Runs a journey that asks a security question after the name alone.
    fileprivate func answerQuestionByName(_ answer: String) async throws -> Reply {
        var step = try await start("ByName").step
        step.fill("NameCallback", "mira")
        return try await self.answer(try await next(step), answer)
    }

    /// Runs a journey that asks a security question after the link in an email.
    fileprivate func answerQuestionByEmail(_ answer: String) async throws -> Reply {
        var step = try await start("ByEmail").step
        step.fill("NameCallback", "mira")
        _ = try await next(step)
        let token = try #require(try await devServer.emailLinks(to: "mira").last?.split(separator: "suspendedId=").last)
        return try await self.answer(try await send(.post, "\(Self.authenticate)?suspendedId=\(token)"), answer)
    }

    private func answer(_ question: Reply, _ answer: String) async throws -> Reply {
        var step = try question.step
        step.fill("PasswordCallback", .string(answer))
        return try await next(step)
    }

    /// Logs in with the password, and enters a one-time code.
    fileprivate func enterCode(_ code: String) async throws -> Reply {
        var step = try await logIn("OATHLogin").step
        step.fill("NameCallback", .string(code))
        return try await next(step)
    }

    /// Registers a device for one-time codes, and returns its settings.
    fileprivate func registeredOATH() async throws -> OATHSettings {
        var step = try await logIn("OATHRegistration").step
        let settings = try #require(EnrollmentURI.parse(try step.registrationURI).oath)
        step = try await next(step).step
        step.fill("NameCallback", .string(settings.code(at: clock.now).digits))
        #expect(try await next(step).isLoggedIn)
        clock.advance(by: 30)
        return settings
    }

    /// Logs in with the password, and enters a recovery code in place of a one-time code.
    fileprivate func enterRecoveryCode(_ code: String) async throws -> Reply {
        var step = try await logIn("RecoveryLogin").step
        step.fill("ConfirmationCallback", .integer(1))
        step = try await next(step).step
        step.fill("NameCallback", .string(code))
        return try await next(step)
    }
}

extension Reply {
    /// Indicates whether the response is AM's for a locked user.
    fileprivate var isLockedOut: Bool {
        status == 401 && message == "User Locked Out." && json["detail"]?["failureUrl"] == ""
    }
}

@Suite("Lockout after wrong answers and codes", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct FactorLockoutTests {
    private static let rule = FactorLockout(failures: 3, duration: 100, total: 7)

    private static func configuration(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.users[0].securityAnswers = ["Which ship?": Secret("Argo".utf8)]
            $0.limits.factorLockout = rule
            configure(&$0)
        }
    }

    // MARK: Attacks

    /// Journeys that ask a security question after the name, the password or an email.
    private static let questions = """
        ByName:
          nodes:
            name: {type: UsernameCollectorNode, outcomes: {outcome: question}}
            question: {type: KbaVerifyNode, outcomes: {true: success, false: failure}}
        ByPassword:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: question, false: failure}}
            question: {type: KbaVerifyNode, outcomes: {true: success, false: failure}}
        ByEmail:
          nodes:
            name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
            email: {type: EmailSuspendNode, outcomes: {outcome: question}}
            question: {type: KbaVerifyNode, outcomes: {true: success, false: failure}}
        """

    /// Runs `body` with a server that has these journeys.
    private static func runQuestions(
        _ rule: FactorLockout = Self.rule, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(journeys: questions) {
            $0.users[0].securityAnswers = ["Which ship?": Secret("Argo".utf8)]
            $0.limits.factorLockout = rule
        } _: { server in
            try await body(server)
        }
    }

    @Test("The answer to a security question is a second factor in the starter file: without the password, none is asked")
    func starterAsksForPasswordFirst() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let step = try await server.start("QuestionLogin").step
            #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            #expect(try await server.logIn("QuestionLogin", password: "Argo").message == "Login failure")
            #expect(try await server.answerQuestion("Argo").isLoggedIn)
        }
    }

    @Test("An attacker who knows only a name cannot lock the journeys that ask for the password or send an email first")
    func nameAloneLocksNoIdentifiedUser() async throws {
        try await Self.runQuestions { server in
            for _ in 0..<10 {
                for _ in 0..<3 { _ = try await server.answerQuestionByName("wrong") }
                server.clock.advance(by: 100)
            }
            server.clock.advance(by: 10 * 365 * 86_400)
            #expect(try await server.answerQuestionByName("Argo").isLockedOut)
            #expect(try await server.answerQuestionByEmail("wrong").message == "Login failure")
            #expect(try await server.answerQuestionByEmail("Argo").isLoggedIn)
            // The user has ended the attacker's lockout too.
            #expect(try await server.answerQuestionByName("Argo").isLoggedIn)
        }
    }

    @Test("Wrong answers after the password and after an email are counted together, and a right one by the name clears none")
    func identifiedAttemptsAreCountedTogether() async throws {
        try await Self.runQuestions { server in
            for _ in 0..<2 { _ = try await server.answerQuestion("wrong", after: "ByPassword") }
            #expect(try await server.answerQuestionByName("Argo").isLoggedIn)
            #expect(try await server.answerQuestionByEmail("wrong").message == "Login failure")
            #expect(try await server.answerQuestion("Argo", after: "ByPassword").isLockedOut)
            #expect(try await server.answerQuestionByEmail("Argo").isLockedOut)
            #expect(try await server.answerQuestionByName("Argo").isLoggedIn)
        }
    }

    @Test("An attacker who knows a name cannot guess the answer to a security question for half an hour")
    func stopsGuessesAtAnswers() async throws {
        try await Self.runQuestions(.default) { server in
            var compared = 0
            for guess in 0..<600 {
                if try await !server.answerQuestionByName("guess \(guess)").isLockedOut { compared += 1 }
                server.clock.advance(by: 3)
            }
            #expect(compared <= 30)
        }
    }

    @Test("An attacker who knows the password cannot guess one-time codes for a day: at most a hundred are compared")
    func stopsGuessesAtCodes() async throws {
        let configuration = Self.configuration { $0.limits.factorLockout = .default }
        try await TestServer.run(configuration) { server in
            let settings = try await server.registeredOATH()
            var compared = 0
            for _ in 0..<240 {
                // The correct password, which each attempt begins with, does not clear the count.
                if try await !server.enterCode("wrong").isLockedOut { compared += 1 }
                server.clock.advance(by: 360)
            }
            #expect(compared == 100)
            // Even a year later only an unlock helps.
            server.clock.advance(by: 400 * 86_400)
            #expect(try await server.enterCode(settings.code(at: server.clock.now).digits).isLockedOut)
            #expect(try await server.logIn("Login").isLoggedIn)
            #expect(try await server.devServer.setLocked(false, "mira"))
            #expect(try await server.enterCode(settings.code(at: server.clock.now).digits).isLoggedIn)
        }
    }

    @Test("Of many simultaneous answers, only as many are compared as the lockout permits")
    func comparesConcurrentAnswersUpToLimit() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await server.answerQuestion("wrong") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let lockedOut = replies.count { $0.isLockedOut }
            #expect(lockedOut == 17)
        }
    }

    @Test("A device that an attacker registers and verifies does not clear the count of wrong codes")
    func registrationClearsNothing() async throws {
        try await TestServer.run(Self.configuration()) { server in
            _ = try await server.registeredOATH()
            for _ in 0..<2 { _ = try await server.enterCode("wrong") }
            let settings = try await server.registeredOATH()
            _ = try await server.enterCode("wrong")
            #expect(try await server.enterCode(settings.code(at: server.clock.now).digits).isLockedOut)
        }
    }

    @Test("A name without a user is locked like a known one, so the answer does not disclose users")
    func locksFactorOfUnknownName() async throws {
        let journeys = """
            Recover:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: code}}
                code: {type: RecoveryCodeCollectorDecisionNode, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) {
            $0.limits.factorLockout = Self.rule
        } _: { server in
            var answers: [[String?]] = []
            for name in ["mira", "nobody"] {
                var messages: [String?] = []
                for _ in 0..<5 {
                    var step = try await server.start("Recover").step
                    step.fill("NameCallback", .string(name))
                    step = try await server.next(step).step
                    step.fill("NameCallback", "wrong")
                    messages.append(try await server.next(step).message)
                }
                answers.append(messages)
            }
            #expect(answers[0] == answers[1])
            #expect(answers[0].last == "User Locked Out.")
        }
    }

    // MARK: The rule

    @Test("A lockout of answers ends by the server's clock, and a correct password does not end it")
    func lockoutEndsByTime() async throws {
        try await TestServer.run(Self.configuration()) { server async throws in
            for _ in 0..<3 { #expect(try await server.answerQuestion("wrong").status == 200) }
            #expect(try await server.answerQuestion("Argo").isLockedOut)
            #expect(try await server.logIn("Login").isLoggedIn, "the password is another proof")
            server.clock.advance(by: 99)
            #expect(try await server.answerQuestion("Argo").isLockedOut)
            server.clock.advance(by: 1)
            #expect(try await server.answerQuestion("Argo").isLoggedIn)
        }
    }

    @Test("A correct answer clears the count of wrong ones, and of nothing else")
    func correctAnswerClearsOwnCount() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let settings = try await server.registeredOATH()
            for _ in 0..<3 {
                for _ in 0..<2 { #expect(try await server.answerQuestion("wrong").status == 200) }
                #expect(try await server.answerQuestion("Argo").isLoggedIn)
            }
            for _ in 0..<2 { _ = try await server.enterCode("wrong") }
            #expect(try await server.answerQuestion("Argo").isLoggedIn)
            _ = try await server.enterCode("wrong")
            #expect(try await server.enterCode(settings.code(at: server.clock.now).digits).isLockedOut)
            #expect(try await server.answerQuestion("Argo").isLoggedIn)
        }
    }

    @Test("After the total of wrong answers in a row the lockout has no end until the user is unlocked")
    func totalLocksUntilUnlock() async throws {
        try await TestServer.run(Self.configuration()) { server async throws in
            for count in [3, 3, 1] {
                for _ in 0..<count { #expect(try await server.answerQuestion("wrong").status == 200) }
                #expect(try await server.answerQuestion("Argo").isLockedOut)
                server.clock.advance(by: 100)
            }
            server.clock.advance(by: 10 * 365 * 86_400)
            #expect(try await server.answerQuestion("Argo").isLockedOut)
            #expect(try await server.devServer.setLocked(false, "mira"))
            #expect(try await server.answerQuestion("Argo").isLoggedIn)
        }
    }

    @Test("Wrong recovery codes lock recovery codes, but not one-time codes")
    func locksRecoveryCodes() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let settings = try await server.registeredOATH()
            let codes = RecoveryCodes.new(for: .oath, "OATH Device")
            try await server.devServer.context.store.write { tx in
                try tx.devices.keep(codes, for: .oath, of: UserKey(realm: .root, name: "mira"))
            }
            for _ in 0..<3 { #expect(try await server.enterRecoveryCode("wrong").message == "Login failure") }
            #expect(try await server.enterRecoveryCode(codes.codes[0]).isLockedOut)
            #expect(try await server.enterCode(settings.code(at: server.clock.now).digits).isLoggedIn)
            server.clock.advance(by: 100)
            #expect(try await server.enterRecoveryCode(codes.codes[0]).isLoggedIn)
        }
    }

    @Test("The administration API reports locked factors, and a new password set there unlocks them")
    func administratorUnlocks() async throws {
        try await TestServer.run(Self.configuration { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            for _ in 0..<3 { _ = try await server.answerQuestion("wrong") }
            let locked = try await server.admin(.get, "users/mira").json
            #expect(locked["lockedFactors"] == .array(["security-answer"]))
            #expect(locked["lockedOut"] == .bool(false))
            let changed = try await server.admin(.patch, "users/mira", #"{"password": "new horse"}"#).json
            #expect(changed["lockedFactors"] == .array([]))
            #expect(try await server.answerQuestion("Argo", password: "new horse").isLoggedIn)
        }
    }

    @Test("Wrong answers are counted across restarts", arguments: StateKind.persistent)
    func countSurvivesRestart(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let configure: (inout ServerConfiguration) -> Void = { $0 = Self.configuration() }
            for _ in 0..<3 {
                try await location.server(clock: clock, configure) { server async throws in
                    #expect(try await server.answerQuestion("wrong").status == 200)
                }
            }
            try await location.server(clock: clock, configure) { server async throws in
                #expect(try await server.answerQuestion("Argo").isLockedOut)
            }
        }
    }

    @Test(
        "Wrong answers are counted across the servers of one database",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func countIsShared() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let configure: (inout ServerConfiguration) -> Void = { $0 = Self.configuration() }
            try await location.server(configure) { (one: TestServer) async throws in
                try await location.server {
                    $0 = Self.configuration()
                } _: { (other: TestServer) async throws in
                    for _ in 0..<2 { #expect(try await one.answerQuestion("wrong").status == 200) }
                    #expect(try await other.answerQuestion("wrong").status == 200)
                    #expect(try await one.answerQuestion("Argo").isLockedOut)
                    #expect(try await other.answerQuestion("Argo").isLockedOut)
                }
            }
        }
    }

    @Test("The starter file accepts ten counters ahead; AM's default of a hundred stays that of the node")
    func starterNarrowsCounterWindow() throws {
        let trees = Journeys.starter.trees.byName
        for (tree, node) in [("Code", "code"), ("RecoveryLogin", "code")] {
            let verifier = try #require(trees[tree]?.nodes[node]?.node as? OATHTokenVerifierNode)
            #expect(verifier.counters == 10)
        }
        #expect(OATHTokenVerifierNode().counters == 100)
    }
}
