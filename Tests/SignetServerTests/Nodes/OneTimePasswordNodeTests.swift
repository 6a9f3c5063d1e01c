import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("One-time passwords and emails of nodes", .timeLimit(.minutes(5)))
struct OneTimePasswordNodeTests {
    private static let journeys = """
        J:
          nodes:
            name: {type: UsernameCollectorNode, outcomes: {outcome: new}}
            new: {type: OneTimePasswordGeneratorNode, length: 6, outcomes: {outcome: send}}
            send:
              type: OneTimePasswordSmtpSenderNode
              emailSubject: {en: Your code}
              emailContent: {en: "<p>Here is {{OTP}}.</p>"}
              outcomes: {outcome: ask}
            ask: {type: OneTimePasswordCollectorDecisionNode, passwordExpiryTime: 1, outcomes: {true: success, false: again}}
            again: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: ask, Reject: failure}}
        """

    private func run(
        _ journeys: String = journeys, _ body: @Sendable (TestServer, Mutex<[Email]>) async throws -> Void
    ) async throws {
        let sent = Mutex<[Email]>([])
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.onEmail = { email in sent.withLock { $0.append(email) } }
        }
        try await TestServer.run(journeys: journeys, configure) { server in try await body(server, sent) }
    }

    private func ask(_ server: TestServer, _ name: String) async throws -> JourneyStep {
        var step = try await server.start("J").step
        step.fill("NameCallback", .string(name))
        return try await server.next(step).step
    }

    @Test(
        "A one-time password is sent by email, and logs in once and in time", arguments: [(0.0, true), (59, true), (61, false)])
    func sendsOneTimePassword(seconds: Double, succeeds: Bool) async throws {
        try await run { server, sent in
            var step = try await ask(server, "noa")
            #expect(step.callbacks.map(\.type) == ["PasswordCallback"])
            #expect(step.callbacks[0].output("prompt") == "One Time Password")
            let emails = sent.withLock { $0 }
            let email = try #require(emails.first)
            let code = try #require(email.code)
            let hasOnlyDigits = code.utf8.allSatisfy { (0x30...0x39).contains($0) }
            #expect(code.utf8.count == 6 && hasOnlyDigits)
            #expect(email.to == "noa@example.test" && email.subject == "Your code" && email.link == nil)
            #expect(email.html == "<p>Here is \(code).</p>" && email.text == "Here is \(code).")
            server.clock.advance(by: seconds)
            step.fill("PasswordCallback", .string(" \(code) "))
            #expect(try await server.next(step).isLoggedIn == succeeds)
        }
    }

    @Test("A wrong one-time password is refused, and a retry limit ends the login")
    func refusesWrongOneTimePassword() async throws {
        try await run { server, sent in
            var step = try await ask(server, "noa")
            for isLast in [false, false, true] {
                step.fill("PasswordCallback", "000000x")
                let reply = try await server.next(step)
                #expect((reply.status == 401) == isLast)
                if !isLast { step = try reply.step }
            }
            let emails = sent.withLock { $0 }
            #expect(emails.count == 1)
        }
    }

    @Test("The page is the same for a user who does not exist, and no email is sent")
    func asksUnknownUserToo() async throws {
        try await run { server, sent in
            var step = try await ask(server, "nobody")
            #expect(step.callbacks.map(\.type) == ["PasswordCallback"])
            step.fill("PasswordCallback", "123456")
            #expect(try await !server.next(step).isLoggedIn)
            let emails = sent.withLock { $0 }
            #expect(emails.isEmpty)
        }
    }

    @Test("A generated password has the configured number of digits, and differs each time")
    func generatesDigits() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let passwords = (0..<20).map { _ in OneTimePassword(length: 32, at: now).password.text }
        #expect(Set(passwords).count == 20)
        let haveDigits = passwords.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isNumber) }
        #expect(haveDigits)
    }

    @Test("A template email is sent to a user with an address only", arguments: [("noa", true), ("mira", false)])
    func sendsTemplate(name: String, isSent: Bool) async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: mail}}
                mail: {type: EmailTemplateNode, emailTemplateName: welcome, outcomes: {EMAIL_SENT: success, EMAIL_NOT_SENT: failure}}
            """
        try await run(journeys) { server, sent in
            var step = try await server.start("J").step
            step.fill("NameCallback", .string(name))
            #expect(try await server.next(step).isLoggedIn == isSent)
            let emails = sent.withLock { $0 }
            #expect(emails.map(\.user) == (isSent ? [name] : []))
            let nameTemplate = emails.allSatisfy { $0.text.contains("welcome") && $0.link == nil && $0.code == nil }
            #expect(nameTemplate)
        }
    }
}
