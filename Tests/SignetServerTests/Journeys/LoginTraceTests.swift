import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Traces of logins")
struct LoginTraceTests {
    private static let journeys = """
        Retry:
          nodes:
            page:
              type: PageNode
              nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
              outcomes: {outcome: password}
            password: {type: DataStoreDecisionNode, outcomes: {true: success, false: attempts}}
            attempts: {type: RetryLimitDecisionNode, retryLimit: 1, outcomes: {Retry: page, Reject: failure}}
        Outer:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}
        """

    private func run(
        traces: Int = 500, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(
            journeys: Self.journeys,
            {
                $0.adminToken = Secret(AdminTests.token.utf8)
                $0.loginTraces = traces
            }, body)
    }

    private func visits(_ number: Int, _ server: TestServer) async throws -> [JSONValue] {
        try #require(try await server.admin(.get, "logins/\(number)").json["visits"]?.array)
    }

    @Test("A login shows each node with its outcome and what it added to the state, without the values")
    func showsNodes() async throws {
        try await run { server in
            #expect(try await server.logIn("Retry").isLoggedIn)
            let login = try #require(try await server.admin(.get, "logins").json["logins"]?.array?.first)
            #expect(login["journey"] == "Retry" && login["user"] == "mira" && login["state"] == "success")
            #expect(login["reason"] == nil && login["realm"] == "/")
            let visits = try await visits(1, server)
            let nodes = visits.map { "\($0["id"]?.string ?? "") \($0["outcome"]?.string ?? "-")" }
            #expect(nodes == ["page -", "page outcome", "password true"])
            #expect(visits[0]["asked"] == .array(["NameCallback", "PasswordCallback"]))
            #expect(visits[1]["kept"] == .array(["username", "password"]))
            #expect(visits[2]["type"] == "DataStoreDecisionNode")
            let text = try await server.admin(.get, "logins/1").text
            #expect(!text.contains(TestServer.password))
        }
    }

    @Test("A failed login shows why each attempt was wrong, and why the journey ended")
    func showsReasons() async throws {
        try await run { server in
            var step = try await server.logIn("Retry", password: "wrong").step
            step.fill("NameCallback", "nobody")
            step.fill("PasswordCallback", "wrong")
            #expect(try await server.next(step).status == 401)
            let login = try await server.admin(.get, "logins/1").json
            #expect(login["state"] == "failure" && login["reason"] == "Retry: RetryLimitDecisionNode: Reject")
            let reasons = try await visits(1, server).compactMap { $0["reason"]?.string }
            #expect(reasons == ["the password is wrong", "retry 1 of 1", "there is no such user", "all 1 retries are used"])
        }
    }

    @Test("An inner journey's result is shown as the outcome of the node that runs it")
    func showsInnerJourney() async throws {
        try await run { server in
            #expect(try await server.logIn("Outer").isLoggedIn)
            let visits = try await visits(1, server)
            let nodes = visits.map { "\($0["journey"]?.string ?? "")/\($0["id"]?.string ?? "") \($0["outcome"]?.string ?? "-")" }
            #expect(nodes == ["Outer/login -", "Login/page -", "Login/page outcome", "Login/password true", "Outer/login true"])
            #expect(visits[0]["reason"] == "runs the journey Login")
        }
    }

    @Test("A login that waits for the client is abandoned when its time is over, and a late answer ends it")
    func showsAbandonedLogin() async throws {
        try await run { server in
            let step = try await server.start("Retry").step
            #expect(try await server.admin(.get, "logins?state=waiting").json["count"]?.lenientInteger == 1)
            server.clock.advance(by: 301)
            #expect(try await server.admin(.get, "logins?state=waiting").json["count"]?.lenientInteger == 0)
            #expect(try await server.admin(.get, "logins/1").json["state"] == "expired")
            #expect(try await server.next(step).status == 401)
            #expect(try await server.admin(.get, "logins/1").json["state"] == "timeout")
        }
    }

    @Test("The polls of a client that waits are one visit with their number")
    func countsPolls() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let phone = try await server.registeredPhone()
            let (first, push) = try await server.waitingLogin(phone: phone)
            var step = first
            for _ in 0..<20 { step = try await server.poll(step).step }
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(step).isLoggedIn)
            let all = try #require(try await server.admin(.get, "logins").json["logins"]?.array)
            let number = Int(all.last?["number"]?.lenientInteger ?? 0)
            let visits = try await visits(number, server)
            #expect(visits.count < 15)
            let counts = visits.compactMap { $0["count"]?.lenientInteger }
            #expect((counts.max() ?? 0) >= 20)
            let approved = visits.contains { $0["reason"] == "the user has approved on the device" }
            #expect(approved)
        }
    }

    /// The query of a list, and the numbers of the logins that it selects.
    static let filterCases: [(query: String, numbers: [Int64])] = [
        ("journey=Outer", [2]), ("user=noa", [3]), ("state=failure", [3]), ("after=1&limit=1", [3]), ("realm=/alpha", []),
        ("", [1, 2, 3]),
    ]

    @Test("Filters select logins by journey, user, state and number", arguments: filterCases)
    func filters(query: String, numbers: [Int64]) async throws {
        try await run { server in
            _ = try await server.logIn("Login")
            _ = try await server.logIn("Outer")
            _ = try await server.logIn("Login", name: "noa", password: "wrong")
            let found = try await server.admin(.get, "logins" + (query.isEmpty ? "" : "?\(query)")).json
            let shown = found["logins"]?.array?.compactMap { $0["number"]?.lenientInteger }
            #expect(shown == numbers)
            #expect(found["last"]?.lenientInteger == 3)
        }
    }

    @Test("An unknown state, parameter or number is refused")
    func refusesUnknownFilters() async throws {
        try await run { server in
            for (target, status) in [
                ("?state=good", 400), ("?name=x", 400), ("/0", 404), ("/1", 404), ("/x", 404), ("/-1", 404),
            ] {
                let reply = try await server.admin(.get, "logins" + target)
                #expect(reply.status == status, "\(target)")
            }
        }
    }

    @Test("The oldest logins are displaced, cleared ones do not come back, and numbers are not reused")
    func displacesOldest() async throws {
        try await run(traces: 2) { server in
            for _ in 0..<3 { _ = try await server.logIn("Login") }
            let kept = server.devServer.context.logins.all.map(\.number)
            #expect(kept == [2, 3])
            #expect(try await server.admin(.get, "logins/1").status == 404)
            let waiting = try await server.start("Login").step
            #expect(try await server.admin(.delete, "logins").status == 200)
            #expect(server.devServer.context.logins.all.isEmpty)
            var step = waiting
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            #expect(try await server.next(step).isLoggedIn)
            #expect(server.devServer.context.logins.all.map(\.number) == [5])
        }
    }

    @Test("Without room for traces a login leaves none")
    func keepsNone() async throws {
        try await run(traces: 0) { server in
            let reply = try await server.logIn("Login")
            #expect(reply.isLoggedIn)
            let listed = try await server.admin(.get, "logins").json["count"]?.lenientInteger
            #expect(listed == 0)
        }
    }

    @Test("A trace keeps the first and the newest visits of a long login")
    func limitsVisits() {
        let now = Date(timeIntervalSince1970: 0)
        func progress(_ numbers: Range<Int>) -> LoginProgress {
            var progress = LoginProgress(id: "x", journey: "J", realm: .root, expiresAt: now)
            progress.visits = numbers.map { number in
                LoginTrace.Visit(path: NodePath(tree: "J", nodeID: "\(number)"), type: "T", at: now)
            }
            return progress
        }
        var trace = LoginTrace(number: 1, progress(0..<90), at: now)
        trace.add(progress(90..<300), at: now)
        #expect(trace.visits.count == LoginTrace.maxVisits && trace.omitted == 200)
        #expect(trace.visits.first?.path.nodeID == "0" && trace.visits.last?.path.nodeID == "299")
        #expect(trace.visits[49].path.nodeID == "49" && trace.visits[50].path.nodeID == "250")
    }
}
