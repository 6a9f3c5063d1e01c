import HTTPTypes
import SignetCore
import SignetTesting
import Synchronization
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// Starts the starter file's journey for a forgotten password, and returns the step after the link in the email.
    fileprivate func followResetLink(_ name: String = "mira") async throws -> Reply {
        var step = try await start("ForgottenPassword").step
        step.fill("NameCallback", .string(name))
        let suspended = try await next(step).step
        #expect(suspended.callbacks.map(\.type) == ["SuspendedTextOutputCallback"])
        let token = try #require(try await devServer.emailLinks(to: name).last?.split(separator: "suspendedId=").last)
        return try await send(.post, "\(Self.authenticate)?suspendedId=\(token)")
    }

    /// Runs the starter file's journey for a forgotten password.
    fileprivate func resetPassword(to password: String) async throws -> Reply {
        var step = try await followResetLink().step
        step.fill("PasswordCallback", "Argo")
        step = try await next(step).step
        try step.fill("ValidatedCreatePasswordCallback", "", .string(password))
        return try await next(step)
    }
}

extension ServerConfiguration {
    /// The sample configuration, in which mira has answered a security question.
    fileprivate static func withAnswer(_ configure: (inout Self) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.users[0].securityAnswers = ["Which ship?": Secret("Argo".utf8)]
            configure(&$0)
        }
    }
}

@Suite("Forgotten passwords")
struct ForgottenPasswordTests {
    @Test("A new password needs the link in an email and the answer to a question, in this order")
    func needsLinkAndAnswer() async throws {
        try await TestServer.run(.withAnswer()) { server async throws in
            #expect(try await server.resetPassword(to: "Another-1").isLoggedIn)
            #expect(try await server.logIn("Login", password: "Another-1").isLoggedIn)
            #expect(try await server.logIn("Login").isLoggedIn == false)
        }
    }

    @Test("An attacker who reads the emails of a user but does not know the answer gets no new password")
    func linkAloneIsNotEnough() async throws {
        try await TestServer.run(.withAnswer()) { server in
            var reply = try await server.followResetLink()
            for _ in 0..<3 {
                var step = try reply.step
                #expect(step.callbacks.map(\.type) == ["PasswordCallback"])
                #expect(step.callbacks[0].output("prompt") == "Which ship?")
                step.fill("PasswordCallback", "Beagle")
                reply = try await server.next(step)
            }
            #expect(reply.status == 401 && reply.message == "Login failure")
        }
    }

    @Test("A user without security questions gets no new password by email alone")
    func userWithoutQuestionsGetsNoPassword() async throws {
        try await TestServer.run(.withAnswer()) { server in
            let reply = try await server.followResetLink("noa")
            #expect(reply.status == 401 && reply.message == "Login failure")
        }
    }
}
