import Foundation
import HTTPTypes
import SignetCore
import SignetPushGateway
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Request log", .timeLimit(.minutes(5)))
struct RequestLogTests {
    private static let push = RequestLogEntry.Push(.made, "m", device: nil)

    @Test("The request log keeps the newest entries in order and counts all", arguments: [1, 1999, 2000, 2001, 3999, 4001])
    func keepsNewestEntries(count: Int) {
        let requestLog = RequestLog()
        for number in 1...count { requestLog.add(.push(Self.push), at: Date(timeIntervalSince1970: Double(number))) }
        #expect(requestLog.last == count)
        #expect(requestLog.entries.map(\.number) == Array(max(1, count - RequestLog.size + 1)...count))
        requestLog.clear()
        #expect(requestLog.entries.isEmpty && requestLog.last == count)
        requestLog.add(.push(Self.push), at: Date(timeIntervalSince1970: 0))
        #expect(requestLog.entries.map(\.number) == [count + 1])
    }

    @Test("The request log shows a login, its code and its tokens without any secret")
    func loggedLoginOmitsSecrets() async throws {
        try await TestServer.run { server in
            _ = try await server.logIn("Login", password: "a wrong password")
            let session = try await server.session()
            let code = try await server.code(session, ["nonce": "n-0S6_WzA2Mj", "login_hint": "mira@example.test"])
            let tokens = try Tokens(try await server.exchange(code))
            _ = try await server.exchange("hunter2hunter2")
            _ = try await server.postForm(
                "token/revoke", ["token": tokens.access, "client_id": "web", "client_secret": "s3cret: +%"])
            // A secret in place of a name, and a body that is only a secret.
            _ = try await server.send(
                .post, "\(TestServer.oauth)/access_token?hunter2", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "correct-horse")
            _ = try await server.send(.post, "/am/json/sessions/\(session)?_action=validate")
            _ = try await server.send(
                .get, "\(TestServer.oauth)/connect/endSession?id_token_hint=\(tokens.id ?? "")", headers: [:])

            let text =
                JSON.text(of: .array(server.devServer.requestLog.entries.map { AdminJSON.entry($0) }))
                + "\(server.devServer.requestLog.entries)"
            let secrets = [
                TestServer.password, "a wrong password", session, code, tokens.access, tokens.refresh, tokens.id, "hunter2",
                "s3cret",
                "correct-horse", "n-0S6_WzA2Mj", "mira@example.test", TestServer.verifier,
                ProofKey.challenge(for: TestServer.verifier),
                "st/&te",
            ]
            for secret in secrets { #expect(!text.contains(try #require(secret)), "\(secret ?? "")") }

            let exchanges = server.devServer.requestLog(
                matching: RequestLogFilter {
                    $0.resource = "accessToken"
                    $0.status = 200
                })
            let exchange = try #require(exchanges.first?.request)
            #expect(exchange["grant_type"] == "authorization_code" && exchange["client_id"] == "app")
            #expect(exchange.has("code_verifier") && exchange["code_verifier"] == nil)
            #expect(exchange.client.oauth == "app" && exchange.method == "POST")
            let logins = server.devServer.requestLog(matching: RequestLogFilter { $0.parameter = "callbacks" })
            let login = try #require(logins.first?.request)
            #expect(login["callbacks"] == "NameCallback,PasswordCallback")
            #expect(login.problem == "Login failure" && login.status == 401)
            let authorizations = server.devServer.requestLog(matching: RequestLogFilter { $0.resource = "authorize" })
            let authorize = try #require(authorizations.first?.request)
            #expect(authorize["scope"] == "openid profile" && authorize.has("nonce") && authorize["nonce"] == nil)
            let first = try #require(server.devServer.requestLog.entries.first?.request)
            #expect(first["authIndexValue"] == "Login")
        }
    }

    /// Filters and the number of the entries below that each matches.
    private static let wanted: [(RequestLogFilter, Int)] = [
        (RequestLogFilter(), 4), (RequestLogFilter { $0.method = "get" }, 2), (RequestLogFilter { $0.status = 404 }, 1),
        (RequestLogFilter { $0.path = "/health" }, 1), (RequestLogFilter { $0.path = "/am/health" }, 1),
        (RequestLogFilter { $0.path = "/json/**" }, 2), (RequestLogFilter { $0.path = "/json/*/authenticate" }, 1),
        (RequestLogFilter { $0.resource = "authenticate" }, 2), (RequestLogFilter { $0.client = .userAgent("two") }, 1),
        (RequestLogFilter { $0.client = .address("127.0.0.1") }, 0), (RequestLogFilter { $0.after = 3 }, 1),
        (RequestLogFilter { $0.since = ManualClock().now.addingTimeInterval(1) }, 1), (RequestLogFilter { $0.kind = .push }, 0),
        (RequestLogFilter { $0.kind = .email }, 0), (RequestLogFilter { $0.user = "mira" }, 0),
        (RequestLogFilter { $0.fault = "x" }, 0), (RequestLogFilter { $0.parameter = "authIndexValue" }, 1),
    ]

    @Test("A filter matches the entries that have all of its values", arguments: wanted)
    func matchesAllFilterValues(filter: RequestLogFilter, count: Int) async throws {
        try await TestServer.run { server in
            _ = try await server.send(.get, "/am/health", headers: ["User-Agent": "One/1"])
            _ = try await server.start("Login")
            _ = try await server.send(.get, "/am/nothing", headers: ["User-Agent": "Two/2"])
            server.clock.advance(by: 1)
            _ = try await server.send(.post, "/am/json/alpha/authenticate", body: "{}")
            #expect(server.devServer.requestLog(matching: filter).count == count, "\(filter)")
        }
    }

    /// Requests and the operation names that the request log and faults use for them.
    private static let addresses: [(HTTPRequest.Method, String, String?)] = [
        (.get, "/am/health", "health"), (.get, "/am/health/ready", "health"), (.get, "/am/XUI/", "pages"),
        (.get, "/am/XUI/nothing", "pages"), (.post, "/sns", "gateway"), (.get, "/sns/", "gateway"),
        (.post, "/am/json/authenticate", "authenticate"), (.put, "/am/json/authenticate", "authenticate"),
        (.get, "/am/oauth2/realms/root/realms/none/userinfo", "userInfo"), (.get, "/am/nothing", nil), (.get, "/health", nil),
    ]

    @Test("A logged request has the name of its operation whatever its result", arguments: addresses)
    func namesOperations(method: HTTPRequest.Method, path: String, name: String?) async throws {
        try await TestServer.run(.sample { $0.pushGateway = PushGatewayConfiguration(keys: [Sender.key]) }) { server in
            _ = try await server.send(method, path)
            let resources = server.devServer.requestLog.entries.map(\.request?.resource)
            #expect(resources == [name])
            for wanted in FaultRoute.names {
                let found = server.devServer.requestLog(matching: RequestLogFilter { $0.resource = wanted })
                #expect(found.count == (wanted == name ? 1 : 0))
            }
        }
    }

    @Test("A request that the push gateway refuses is logged with the reason")
    func logsGatewayRefusal() async throws {
        try await Sender.run { server in
            _ = try await server.send(.post, "/sns", body: "")
            let problems = server.devServer.requestLog.entries.map(\.request?.problem)
            #expect(problems == ["MissingAuthenticationToken"])
        }
    }

    @Test("A push message is logged when it is created, delivered, answered wrongly and approved")
    func logsPushMessageStates() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
                let stream = try await phone.listen(at: server, port: port)
                _ = try await stream.events(1)
                stream.vanish()
                let delivered = try await server.devServer.waitForEntry(matching: RequestLogFilter { $0.step = .delivered })
                #expect(delivered.push?.stream == 1 && delivered.push?.device == "phone-1")
                #expect(delivered.push?.messageID == push.messageID)
                #expect(try await phone.answer(push, ["challengeResponse": "1"], at: server).status == 400)
                let number = JSONValue.string(String(try #require(push.number)))
                #expect(try await phone.answer(push, ["challengeResponse": number], at: server).status == 200)
            }
            let steps = server.devServer.requestLog(matching: RequestLogFilter { $0.client = .device("phone-1") }).compactMap(
                \.push)
            #expect(steps.map(\.step) == [.made, .delivered, .refused, .approved])
            #expect(Set(steps.map(\.messageID)).count == 1 && steps[2].reason == "numberWrong")
        }
    }

    @Test("A caller that waits for an entry gets an existing or a later one")
    func waitsForEntry() async throws {
        try await TestServer.run { server in
            _ = try await server.send(.get, "/am/health", headers: [:])
            let entry = try await server.devServer.waitForEntry(matching: RequestLogFilter { $0.path = "/health" })
            #expect(entry.number == 1)
            async let next = server.devServer.waitForEntry(
                matching: RequestLogFilter {
                    $0.path = "/health"
                    $0.after = 1
                })
            _ = try await server.start("Login")
            _ = try await server.send(.get, "/am/health", headers: [:])
            #expect(try await next.number == 3)
        }
    }

    @Test("A wait that times out reports the other entries, and a canceled wait ends")
    func reportsEntriesAfterTimeout() async throws {
        try await TestServer.run { server in
            _ = try await server.send(.get, "/am/health", headers: [:])
            let timeout = await #expect(throws: RequestLogTimeout.self) {
                _ = try await server.devServer.waitForEntry(
                    matching: RequestLogFilter { $0.status = 500 }, within: .milliseconds(20))
            }
            #expect(
                timeout?.description.contains("status 500") == true && timeout?.description.contains("GET /am/health 200") == true
            )
            let task = Task {
                try await server.devServer.waitForEntry(matching: RequestLogFilter { $0.status = 500 }, within: .seconds(600))
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
