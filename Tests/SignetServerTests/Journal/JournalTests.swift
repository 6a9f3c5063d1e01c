import Foundation
import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("The journal", .timeLimit(.minutes(5)))
struct JournalTests {
    private static let push = JournalEntry.Push(.made, "m", device: nil)

    @Test("It keeps the newest entries in their order, and counts all", arguments: [1, 1999, 2000, 2001, 3999, 4001])
    func bounded(count: Int) {
        let journal = Journal()
        for number in 1...count { journal.add(.push(Self.push), at: Date(timeIntervalSince1970: Double(number))) }
        #expect(journal.last == count)
        #expect(journal.entries.map(\.number) == Array(max(1, count - Journal.size + 1)...count))
        journal.clear()
        #expect(journal.entries.isEmpty && journal.last == count)
        journal.add(.push(Self.push), at: Date(timeIntervalSince1970: 0))
        #expect(journal.entries.map(\.number) == [count + 1])
    }

    @Test("A login, its code and its tokens can be told from it, and no secret")
    func secrets() async throws {
        try await TestDesk.run { desk in
            _ = try await desk.logIn("Login", password: "a wrong password")
            let session = try await desk.session()
            let code = try await desk.code(session, ["nonce": "n-0S6_WzA2Mj", "login_hint": "mira@example.test"])
            let tokens = try Tokens(try await desk.exchange(code))
            _ = try await desk.exchange("hunter2hunter2")
            _ = try await desk.postForm(
                "token/revoke", ["token": tokens.access, "client_id": "web", "client_secret": "s3cret: +%"])
            // A secret where a name should be, and a body that is nothing but one.
            _ = try await desk.send(
                .post, "\(TestDesk.oauth)/access_token?hunter2", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "correct-horse")
            _ = try await desk.send(.post, "/am/json/sessions/\(session)?_action=validate")
            _ = try await desk.send(.get, "\(TestDesk.oauth)/connect/endSession?id_token_hint=\(tokens.id ?? "")", headers: [:])

            let text =
                JSON.text(of: .array(desk.server.journal.entries.map { AdminJSON.entry($0) })) + "\(desk.server.journal.entries)"
            let secrets = [
                TestDesk.password, "a wrong password", session, code, tokens.access, tokens.refresh, tokens.id, "hunter2",
                "s3cret",
                "correct-horse", "n-0S6_WzA2Mj", "mira@example.test", TestDesk.verifier,
                ProofKey.challenge(for: TestDesk.verifier),
                "st/&te",
            ]
            for secret in secrets { #expect(!text.contains(try #require(secret)), "\(secret ?? "")") }

            let exchanges = desk.server.journal(
                matching: JournalFilter {
                    $0.resource = "accessToken"
                    $0.status = 200
                })
            let exchange = try #require(exchanges.first?.request)
            #expect(exchange["grant_type"] == "authorization_code" && exchange["client_id"] == "app")
            #expect(exchange.has("code_verifier") && exchange["code_verifier"] == nil)
            #expect(exchange.client.oauth == "app" && exchange.method == "POST")
            let logins = desk.server.journal(matching: JournalFilter { $0.parameter = "callbacks" })
            let login = try #require(logins.first?.request)
            #expect(login["callbacks"] == "NameCallback,PasswordCallback")
            #expect(login.problem == "Login failure" && login.status == 401)
            let authorizations = desk.server.journal(matching: JournalFilter { $0.resource = "authorize" })
            let authorize = try #require(authorizations.first?.request)
            #expect(authorize["scope"] == "openid profile" && authorize.has("nonce") && authorize["nonce"] == nil)
            let first = try #require(desk.server.journal.entries.first?.request)
            #expect(first["authIndexValue"] == "Login")
        }
    }

    /// Filters, and how many of the entries below each finds.
    private static let wanted: [(JournalFilter, Int)] = [
        (JournalFilter(), 4), (JournalFilter { $0.method = "get" }, 2), (JournalFilter { $0.status = 404 }, 1),
        (JournalFilter { $0.path = "/health" }, 1), (JournalFilter { $0.path = "/am/health" }, 1),
        (JournalFilter { $0.path = "/json/**" }, 2), (JournalFilter { $0.path = "/json/*/authenticate" }, 1),
        (JournalFilter { $0.resource = "authenticate" }, 2), (JournalFilter { $0.client = .userAgent("two") }, 1),
        (JournalFilter { $0.client = .address("127.0.0.1") }, 0), (JournalFilter { $0.after = 3 }, 1),
        (JournalFilter { $0.since = StillClock().now.addingTimeInterval(1) }, 1), (JournalFilter { $0.kind = .push }, 0),
        (JournalFilter { $0.kind = .letter }, 0), (JournalFilter { $0.user = "mira" }, 0),
        (JournalFilter { $0.fault = "x" }, 0), (JournalFilter { $0.parameter = "authIndexValue" }, 1),
    ]

    @Test("A filter finds what has everything that it says", arguments: wanted)
    func filters(filter: JournalFilter, count: Int) async throws {
        try await TestDesk.run { desk in
            _ = try await desk.send(.get, "/am/health", headers: ["User-Agent": "One/1"])
            _ = try await desk.start("Login")
            _ = try await desk.send(.get, "/am/nothing", headers: ["User-Agent": "Two/2"])
            desk.clock.advance(by: 1)
            _ = try await desk.send(.post, "/am/json/alpha/authenticate", body: "{}")
            #expect(desk.server.journal(matching: filter).count == count, "\(filter)")
        }
    }

    /// What is asked, and what the journal and faults call it.
    private static let addresses: [(HTTPRequest.Method, String, String?)] = [
        (.get, "/am/health", "health"), (.get, "/am/health/ready", "health"), (.get, "/am/XUI/", "pages"),
        (.get, "/am/XUI/nothing", "pages"), (.post, "/sns", "front"), (.get, "/sns/", "front"),
        (.post, "/am/json/authenticate", "authenticate"), (.put, "/am/json/authenticate", "authenticate"),
        (.get, "/am/oauth2/realms/root/realms/none/userinfo", "userInfo"), (.get, "/am/nothing", nil), (.get, "/health", nil),
    ]

    @Test("A request has the name of what it was for, whatever became of it", arguments: addresses)
    func names(method: HTTPRequest.Method, path: String, name: String?) async throws {
        try await TestDesk.run(.sample { $0.pushFront = PushFrontConfiguration(keys: [Sender.key]) }) { desk in
            _ = try await desk.send(method, path)
            let resources = desk.server.journal.entries.map(\.request?.resource)
            #expect(resources == [name])
            for wanted in FaultRoute.names {
                let found = desk.server.journal(matching: JournalFilter { $0.resource = wanted })
                #expect(found.count == (wanted == name ? 1 : 0))
            }
        }
    }

    @Test("Why a front refuses stands there as it does for all others")
    func refusedByFront() async throws {
        try await Sender.run { desk in
            _ = try await desk.send(.post, "/sns", body: "")
            let problems = desk.server.journal.entries.map(\.request?.problem)
            #expect(problems == ["MissingAuthenticationToken"])
        }
    }

    @Test("The life of a message: made, delivered, a wrong number, approved")
    func messages() async throws {
        try await TestDesk.run(.sample { $0.port = 0 }) { desk in
            try await desk.serve { port in
                let phone = try await desk.registeredPhone()
                let (_, push) = try await desk.waitingLogin("PushNumberLogin", phone: phone)
                let stream = try await phone.listen(at: desk, port: port)
                _ = try await stream.events(1)
                stream.vanish()
                let delivered = try await desk.server.waitForEntry(matching: JournalFilter { $0.step = .delivered })
                #expect(delivered.push?.stream == 1 && delivered.push?.device == "phone-1")
                #expect(delivered.push?.messageID == push.messageID)
                #expect(try await phone.answer(push, ["challengeResponse": "1"], at: desk).status == 400)
                let number = JSONValue.string(String(try #require(push.number)))
                #expect(try await phone.answer(push, ["challengeResponse": number], at: desk).status == 200)
            }
            let steps = desk.server.journal(matching: JournalFilter { $0.client = .device("phone-1") }).compactMap(\.push)
            #expect(steps.map(\.step) == [.made, .delivered, .refused, .approved])
            #expect(Set(steps.map(\.messageID)).count == 1 && steps[2].reason == "numberWrong")
        }
    }

    @Test("Who waits for an entry gets the one that is there, or the one that comes")
    func waiting() async throws {
        try await TestDesk.run { desk in
            _ = try await desk.send(.get, "/am/health", headers: [:])
            let entry = try await desk.server.waitForEntry(matching: JournalFilter { $0.path = "/health" })
            #expect(entry.number == 1)
            async let next = desk.server.waitForEntry(
                matching: JournalFilter {
                    $0.path = "/health"
                    $0.after = 1
                })
            _ = try await desk.start("Login")
            _ = try await desk.send(.get, "/am/health", headers: [:])
            #expect(try await next.number == 3)
        }
    }

    @Test("Who waits in vain is told what there was instead; who is cancelled does not wait")
    func waitingInVain() async throws {
        try await TestDesk.run { desk in
            _ = try await desk.send(.get, "/am/health", headers: [:])
            let timeout = await #expect(throws: JournalTimeout.self) {
                _ = try await desk.server.waitForEntry(matching: JournalFilter { $0.status = 500 }, within: .milliseconds(20))
            }
            #expect(
                timeout?.description.contains("status 500") == true && timeout?.description.contains("GET /am/health 200") == true
            )
            let task = Task {
                try await desk.server.waitForEntry(matching: JournalFilter { $0.status = 500 }, within: .seconds(600))
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
