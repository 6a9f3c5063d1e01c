import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Emails of journeys")
struct EmailTests {
    /// A registration that verifies the address before it creates the user, and a journey that sends an email to a named user.
    private static let journeys = """
        Verified:
          nodes:
            page:
              type: PageNode
              nodes:
                - {type: ValidatedUsernameNode}
                - {type: ValidatedPasswordNode}
                - {type: AttributeCollectorNode, attributesToCollect: [mail], required: true, validateInputs: true}
              outcomes: {outcome: email}
            email: {type: EmailSuspendNode, outcomes: {outcome: create}}
            create: {type: CreateObjectNode, outcomes: {CREATED: success, FAILURE: failure}}
        EmailLogin:
          nodes:
            name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
            email: {type: EmailSuspendNode, outcomes: {outcome: success}}
        """

    private func run(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let configuration = try ServerConfiguration.sample(journeys: Self.journeys) {
            $0.adminToken = Secret(AdminTests.token.utf8)
            configure(&$0)
        }
        try await TestServer.run(configuration, body)
    }

    /// Sends the page of a registration.
    private func register(_ server: TestServer, name: String = "kim", mail: String = "kim@example.test") async throws -> Reply {
        var step = try await server.start("Verified").step
        step.fill("NameCallback", .string(name))
        step.fill("PasswordCallback", "Passw0rd!")
        step.fill("StringAttributeInputCallback", .string(mail))
        return try await server.next(step)
    }

    private func emailLogin(_ server: TestServer, name: String) async throws {
        var step = try await server.start("EmailLogin").step
        step.fill("NameCallback", .string(name))
        _ = try await server.next(step)
    }

    private func emails(_ server: TestServer, _ query: String = "") async throws -> [JSONValue] {
        try #require(try await server.admin(.get, "emails\(query)").json["emails"]?.array)
    }

    @Test("A registration sends the email to the collected address, and its link creates the user")
    func verifiesAddressOfNewUser() async throws {
        try await run { server in
            let suspended = try await register(server).step
            #expect(suspended.callbacks.map(\.type) == ["SuspendedTextOutputCallback"])
            #expect(try await server.admin(.get, "users/kim").status == 404)
            let email = try #require(try await emails(server, "?to=KIM@example.test").first)
            #expect(email["user"] == "kim" && email["userExists"] == .bool(false) && email["to"] == "kim@example.test")
            #expect(email["delivery"] == nil && email["code"] == nil)
            let link = try #require(email["link"]?.string)
            #expect(email["text"]?.string?.contains(link) == true && email["subject"] == "Continue at Signet")
            #expect(email["html"]?.string?.contains("<a href=\"\(link.replacing("&", with: "&amp;"))\">") == true)
            let token = try #require(FormCoding.query(of: link)["suspendedId"])
            let reply = try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)", body: "{}")
            #expect(reply.isLoggedIn, "\(reply.text)")
            #expect(try await server.person("kim")?.claims["email"] == "kim@example.test")
            // The email stays for the test, and the link is used up.
            #expect(try await emails(server).count == 1)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)", body: "{}").status == 401)
        }
    }

    @Test("An existing user gets emails at the user's own address only, whatever address was typed")
    func existingUserKeepsAddress() async throws {
        try await run { server in
            _ = try await register(server, name: "noa", mail: "attacker@example.test")
            let all = try await emails(server)
            #expect(all.count == 1 && all[0]["to"] == "noa@example.test" && all[0]["userExists"] == .bool(true))
            #expect(try await emails(server, "?to=attacker@example.test").isEmpty)
            // A user without an address gets an email that only the tester sees.
            _ = try await register(server, name: "mira", mail: "attacker@example.test")
            let mira = try await emails(server, "?user=mira")
            #expect(mira.count == 1 && mira[0]["to"] == nil && mira[0]["link"] != nil)
            let own = try await server.devServer.emails(to: "noa@example.test")
            #expect(own.map(\.user) == ["noa"])
            #expect(try await server.devServer.emails().count == 2)
        }
    }

    @Test("Emails are listed oldest first, by user, address, realm and time, and deleted by the same conditions or by their ids")
    func filtersAndDeletesEmails() async throws {
        try await run { server in
            _ = try await register(server)
            server.clock.advance(by: 10)
            let middle = server.clock.now.ISO8601Format()
            try await emailLogin(server, name: "noa")
            server.clock.advance(by: 10)
            _ = try await register(server, name: "kim2", mail: "kim@example.test")
            let users = try await emails(server).map { $0["user"] }
            #expect(users == ["kim", "noa", "kim2"])
            let counts = try await [
                emails(server, "?since=\(middle)").count, emails(server, "?to=kim@example.test").count,
                emails(server, "?user=kim").count, emails(server, "?realm=/alpha").count,
                emails(server, "?to=kim@example.test&since=\(middle)").count,
            ]
            #expect(counts == [2, 2, 1, 0, 1])
            let id = try #require(try await emails(server, "?user=kim").first?["id"]?.string)
            #expect(try await server.admin(.get, "emails/\(id)").json["user"] == "kim")
            #expect(try await server.admin(.delete, "emails/\(id)").status == 200)
            for method in [HTTPRequest.Method.get, .delete] {
                #expect(try await server.admin(method, "emails/\(id)").status == 404)
            }
            let before = "?to=kim@example.test&since=\(middle)"
            #expect(try await server.admin(.delete, "emails\(before)").json["deleted"]?.lenientInteger == 1)
            let rest = try await emails(server).map { $0["user"] }
            #expect(rest == ["noa"])
            #expect(try await server.admin(.delete, "emails").json["deleted"]?.lenientInteger == 1)
            #expect(try await emails(server).isEmpty)
            #expect(try await server.devServer.emailLinks(to: "noa").isEmpty)
        }
    }

    @Test("A caller waits for an email, and gets an empty list when none comes in time")
    func waitsForEmail() async throws {
        try await run { server in
            #expect(try await emails(server, "?to=kim@example.test&wait=0.05").isEmpty)
            async let found = emails(server, "?to=kim@example.test&wait=30")
            // An email to another address does not end the wait.
            try await emailLogin(server, name: "noa")
            _ = try await register(server)
            #expect(try await found.count == 1)
            #expect(try await server.admin(.get, "emails?wait=61").status == 400)
        }
    }

    @Test("An address that did not register can be sent only a few emails, however many names are typed")
    func limitsEmailsToAddress() async throws {
        let limits: (inout ServerConfiguration) -> Void = {
            $0.limits.messages = MessageLimits(unanswered: 3, pause: 60, maxPause: 240)
        }
        try await run(limits) { server in
            for index in 0..<6 { #expect(try await register(server, name: "kim\(index)").status == 200) }
            #expect(try await emails(server).count == 3)
            // Other addresses are not concerned, and neither are the users with the typed names.
            _ = try await register(server, name: "kim0", mail: "other@example.test")
            #expect(try await emails(server).count == 4)
            server.clock.advance(by: 60)
            _ = try await register(server, name: "kim9")
            #expect(try await emails(server).count == 5)
        }
    }

    @Test("Sixteen emails of a recipient are kept, and the link of an older one goes with it")
    func keepsLinksOfKeptEmails() async throws {
        try await run { server in
            let noa = UserKey(realm: .root, name: "noa")
            let recipient = EmailRecipient(user: noa, exists: true, address: "noa@example.test")
            let entries = try await server.devServer.context.store.write { tx in
                for index in 0..<20 {
                    // Only the first emails have a link, as when codes are sent later.
                    let content = EmailContent(
                        subject: "S", text: "T", html: "H", link: index < 6 ? "https://new.example/\(index)" : nil,
                        code: index < 6 ? nil : "\(index)")
                    try tx.emails.keep(SentEmail(content, to: recipient, at: tx.now), for: recipient)
                }
                return try tx.emails.entries(of: EmailKey(noa))
            }
            #expect(entries.count == SentEmails.size && entries.compactMap(\.message).count == SentEmails.size)
            #expect(entries.compactMap(\.link) == ["https://new.example/4", "https://new.example/5"])
            #expect(try await server.devServer.emailLinks(to: "noa").count == 2)
        }
    }

    @Test("A full queue of emails drops the oldest one, and tells which", arguments: [false, true])
    func dropsOldestEmail(hasWorker: Bool) {
        let queue = EmailQueue()
        let emails = hasWorker ? queue.join() : nil
        let recipient = EmailRecipient(user: UserKey(realm: .root, name: "noa"), exists: true, address: "noa@example.test")
        let content = EmailContent(subject: "S", text: "T", html: "H", link: nil, code: "1")
        let messages = (0...EmailQueue.size).map { _ in
            EmailDelivery(SentEmail(content, to: recipient, at: .distantPast), to: recipient)
        }
        let dropped = messages.compactMap { queue.add($0) }
        #expect(dropped == [messages[0].id])
        #expect(queue.takeDropped() == [EmailQueue.Unsent(id: messages[0].id, key: messages[0].key)])
        #expect(queue.takeDropped().isEmpty)
        withExtendedLifetime(emails) {}
    }

    @Test("An email that an earlier version stored as a link is listed and deleted")
    func listsEmailOfEarlierVersion() async throws {
        try await run { server in
            let user = UserKey(realm: .root, name: "noa")
            try await server.devServer.context.store.queue.run { rows in
                let row = SentEmails.Emails(user: user, links: ["https://old.example/1"])
                rows.put(row, RowKey(.emails, user.rowName), until: Date.distantFuture.rowTime)
                return ((), [])
            }
            try await emailLogin(server, name: "noa")
            let all = try await emails(server)
            #expect(all.count == 2 && all[0]["link"] == "https://old.example/1" && all[0]["subject"] == nil)
            let id = try #require(all[0]["id"]?.string)
            #expect(try await server.admin(.delete, "emails/\(id)").status == 200)
            #expect(try await server.devServer.emailLinks(to: "noa").count == 1)
        }
    }
}
