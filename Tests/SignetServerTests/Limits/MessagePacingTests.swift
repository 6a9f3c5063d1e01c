import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Limits on messages to one user", .timeLimit(.minutes(5)))
struct MessagePacingTests {
    private static let limits = MessageLimits(maxWaiting: 3, unanswered: 3, pause: 60, maxPause: 240)

    private static func configuration(_ limits: MessageLimits = limits) -> ServerConfiguration {
        .sample { $0.limits.messages = limits }
    }

    /// Starts a journey that sends an email to a user.
    private func email(
        _ server: TestServer, to name: String = "mira", at path: String = TestServer.authenticate
    ) async throws -> Reply {
        var step = try await server.start("EmailLogin", at: path).step
        step.fill("NameCallback", .string(name))
        return try await server.next(step, at: path)
    }

    private func count(_ server: TestServer) async throws -> Int { try await server.devServer.emailLinks(to: "mira").count }

    @Test("An attacker who knows the password cannot send one push message after another: eight an hour at most")
    func slowsPushBombing() async throws {
        try await TestServer.run(Self.configuration(.default)) { server in
            _ = try await server.registeredPhone()
            var sent = 0
            for _ in 0..<120 {
                if try await server.logIn("PushLogin").status == 200 { sent += 1 }
                server.clock.advance(by: 30)
            }
            #expect(sent <= 8)
        }
    }

    @Test("At most three push messages wait for a user, and one more is a login failure")
    func limitsWaitingMessages() async throws {
        let limits = MessageLimits(maxWaiting: 3, unanswered: 1000)
        try await TestServer.run(Self.configuration(limits)) { server in
            let phone = try await server.registeredPhone()
            for _ in 0..<3 { #expect(try await server.logIn("PushLogin").status == 200) }
            #expect(try await server.logIn("PushLogin").message == "Login failure")
            #expect(try await server.inbox(phone.uid).count == 3)
            let first = try #require(try await server.inbox(phone.uid).first)
            #expect(try await phone.answer(first, ["deny": .bool(true)], at: server).status == 200)
            #expect(try await server.logIn("PushLogin").status == 200)
        }
    }

    @Test("Denied push messages lead to pauses that double, until the user approves one")
    func deniedMessagesLeadToPauses() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let phone = try await server.registeredPhone()
            func answer(_ claims: [String: JSONValue]) async throws {
                let push = try #require(try await server.inbox(phone.uid).last)
                #expect(try await phone.answer(push, claims, at: server).status == 200)
            }
            for _ in 0..<3 {
                #expect(try await server.logIn("PushLogin").status == 200)
                try await answer(["deny": .bool(true)])
            }
            for pause in [60.0, 120, 240, 240] {
                server.clock.advance(by: pause - 1)
                #expect(try await server.logIn("PushLogin").message == "Login failure")
                #expect(try await server.logIn("Login").isLoggedIn, "only messages are limited")
                server.clock.advance(by: 1)
                #expect(try await server.logIn("PushLogin").status == 200)
                if pause < 240 { try await answer(["deny": .bool(true)]) }
            }
            try await answer([:])
            for _ in 0..<2 { #expect(try await server.logIn("PushLogin").status == 200) }
        }
    }

    @Test("Push messages that expire without a response count like denied ones")
    func ignoredMessagesLeadToPauses() async throws {
        try await TestServer.run(Self.configuration(MessageLimits(unanswered: 3, pause: 600))) { server in
            _ = try await server.registeredPhone()
            for _ in 0..<3 {
                #expect(try await server.logIn("PushLogin").status == 200)
                server.clock.advance(by: 121)
            }
            #expect(try await server.logIn("PushLogin").message == "Login failure")
        }
    }

    @Test("An attacker who knows a name cannot send one email after another, and is not told")
    func slowsEmailBombing() async throws {
        let log = RecordingLog()
        try await TestServer.run(Self.configuration(), logger: log.logger) { server in
            var steps: [String] = []
            for _ in 0..<8 {
                let step = try await email(server).step
                steps.append(JSON.text(of: .array(step.callbacks.map { .string($0.type) })))
            }
            #expect(Set(steps).count == 1)
            #expect(try await email(server, to: "nobody").step.callbacks.map(\.type) == email(server).step.callbacks.map(\.type))
            #expect(try await count(server) == 3)
            let isLogged = log.lines.contains("a message was not sent")
            #expect(isLogged)
            for link in try await server.devServer.emailLinks(to: "mira") {
                let isSecret = !log.lines.contains(link)
                #expect(isSecret)
            }
            server.clock.advance(by: 60)
            _ = try await email(server)
            #expect(try await count(server) == 4)
            _ = try await email(server)
            #expect(try await count(server) == 4)
            // Another user gets emails.
            _ = try await email(server, to: "noa")
            #expect(try await server.devServer.emailLinks(to: "noa").count == 1)
        }
    }

    @Test("Emails to one address are counted together for all accounts that have it, whatever its case and their realm")
    func countsEmailsByAddress() async throws {
        var configuration = Self.configuration()
        configuration.users += [
            ("kim", "/", "Kim@Example.test"), ("kim2", "/", "kim@example.test"), ("kim3", "/alpha", "KIM@example.test"),
        ]
        .map { User(name: $0.0, realm: $0.1, claims: ["email": .string($0.2)]) }
        try await TestServer.run(configuration) { server in
            func total() async throws -> Int {
                var count = 0
                for (name, realm) in [("kim", "/"), ("kim2", "/"), ("kim3", "/alpha")] {
                    count += try await server.devServer.emailLinks(to: name, realm: realm).count
                }
                return count
            }
            for _ in 0..<3 {
                _ = try await email(server, to: "kim")
                _ = try await email(server, to: "kim2")
                _ = try await email(server, to: "kim3", at: "/am/json/realms/root/realms/alpha/authenticate")
            }
            #expect(try await total() == 3)
            _ = try await email(server, to: "noa")
            #expect(try await server.devServer.emailLinks(to: "noa").count == 1)
            // The mailbox's owner follows the link of one account, and gets further emails of another one.
            let link = try #require(try await server.devServer.emailLinks(to: "kim").last)
            let token = try #require(link.split(separator: "suspendedId=").last)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)").isLoggedIn)
            _ = try await email(server, to: "kim2")
            #expect(try await total() == 4)
        }
    }

    @Test("A link that was sent to an earlier address of the account does not bring the new address further emails")
    func oldLinkLeavesCountOfNewAddress() async throws {
        let journeys = """
            EmailLogin:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
                email: {type: EmailSuspendNode, outcomes: {outcome: success}}
            Change:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: UsernameCollectorNode}, {type: AttributeCollectorNode, attributesToCollect: [mail]}]
                  outcomes: {outcome: save}
                save: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}
            """
        let configuration = try ServerConfiguration.sample(journeys: journeys) {
            $0.limits.messages = Self.limits
            $0.users.append(User(name: "kim", claims: ["email": "kim@attacker.test"]))
        }
        try await TestServer.run(configuration) { server in
            // The attacker collects links at an own mailbox, and then gives the account the address of noa.
            for _ in 0..<3 { _ = try await email(server, to: "kim") }
            let links = try await server.devServer.emailLinks(to: "kim")
            #expect(links.count == 3)
            var step = try await server.start("Change").step
            step.fill("NameCallback", "kim")
            step.fill("StringAttributeInputCallback", "Noa@example.test")
            #expect(try await server.next(step).isLoggedIn)
            for link in links {
                let token = try #require(link.split(separator: "suspendedId=").last)
                #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)").isLoggedIn)
                for _ in 0..<4 { _ = try await email(server, to: "kim") }
            }
            #expect(try await server.devServer.emailLinks(to: "kim").count == 6, "three of them to noa's address")
            _ = try await email(server, to: "noa")
            #expect(try await server.devServer.emailLinks(to: "noa").isEmpty)
        }
    }

    @Test("A user who follows the link of an email gets further emails at once")
    func followedLinkEndsPause() async throws {
        try await TestServer.run(Self.configuration()) { server in
            for _ in 0..<4 { _ = try await email(server) }
            let link = try #require(try await server.devServer.emailLinks(to: "mira").last)
            let token = try #require(link.split(separator: "suspendedId=").last)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)").isLoggedIn)
            _ = try await email(server)
            #expect(try await count(server) == 4)
        }
    }
}
