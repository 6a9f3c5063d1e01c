import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Names, sessions and lockouts at the authenticate resource", .timeLimit(.minutes(5)))
struct SessionUpgradeTests {
    private static let journeys = """
        Other:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}
        """
    private static let other = "authIndexType=service&authIndexValue=Other"

    @Test("S17: The parameter sessionUpgradeSSOTokenId upgrades the session, and only for its user")
    func upgradesSessionOnlyForItsUser() async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let first = "authIndexType=service&authIndexValue=Login"
            let token = try #require(try await server.logIn(first).token)
            let upgrade = "sessionUpgradeSSOTokenId=\(token.percentEncoded())"
            // The user has completed the journey: the session is returned at once.
            #expect(try await server.authenticate("\(first)&\(upgrade)").token == token)
            for next in [upgrade, ""] {
                let reply = try await server.logIn("\(Self.other)&\(upgrade)&ForceAuth=true", next: next)
                #expect(reply.token == token, "\(reply.json)")
            }
            let foreign = try await server.logIn(
                "\(Self.other)&\(upgrade)&ForceAuth=true", next: upgrade, name: "noa", password: "staple")
            #expect(foreign.status == 400)
            #expect(foreign.message == "Session Upgrade fails since user is different than original authenticated user")
            #expect(foreign.failureURL == "")
            let unknown = try await server.authenticate("\(first)&sessionUpgradeSSOTokenId=rubbish")
            #expect(unknown.status == 400)
            #expect(unknown.message?.contains("rubbish") == false)
        }
    }

    @Test("D6: A journey takes the user's name from the session, and asks for the password alone")
    func takesNameFromSession() async throws {
        let journeys = """
            Again:
              nodes:
                session: {type: SessionDataNode, outcomes: {outcome: page}}
                page: {type: PageNode, nodes: [{type: PasswordCollectorNode}], outcomes: {outcome: password}}
                password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
            """
        try await TestServer.live(try .sample(journeys: journeys)) { server in
            let query = "authIndexType=service&authIndexValue=Again"
            let token = try #require(try await server.logIn().token)
            for (password, status) in [("wrong", 401), (TestServer.password, 200)] {
                let step = try await server.authenticate(query, headers: ["iPlanetDirectoryPro": token])
                #expect(step.types == ["PasswordCallback"])
                let reply = try await server.authenticate(body: try TestServer.Live.answer(to: step, password: password))
                #expect(reply.status == status)
                #expect(reply.token == (status == 200 ? token : nil))
            }
            #expect(try await server.authenticate(query).status == 401, "there is no session")
        }
    }

    @Test("A session property becomes a value of the journey's state, and a missing one fails the login")
    func takesPropertyFromSession() throws {
        var server = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        let user = UserKey(realm: .root, name: "mira")
        let options = SessionOptions(properties: ["level": "gold"])
        let token = try server.sessions.open(user, tree: "Login", options)
        var journey = JourneyState.sample()
        journey.presentedToken = Secret(token.utf8)
        let taken = try SessionDataNode(key: "level", state: "mail").process(nil, &journey, &server)
        #expect(taken.outcome == .outcome)
        #expect(journey.attributes["mail"] == "gold" && journey.username == nil)
        let missing = try SessionDataNode(key: "other").process(nil, &journey, &server)
        #expect(missing.outcome == nil)
    }

    @Test("A step with an unknown session to upgrade is 400 and keeps the authId")
    func keepsStepWithoutSession() async throws {
        try await TestServer.live(.sample()) { server in
            let body = try TestServer.Live.answer(to: try await server.authenticate())
            #expect(try await server.authenticate("sessionUpgradeSSOTokenId=rubbish", body: body).status == 400)
            #expect(try await server.authenticate(body: body).token != nil)
        }
    }

    @Test(
        "S17: The name at a login is taken without regard to case and to spaces around it", arguments: ["MIRA", " mira ", "Mira"])
    func ignoresCaseOfName(name: String) async throws {
        try await TestServer.live(.sample()) { server in
            let reply = try await server.logIn(name: name)
            #expect(reply.status == 200, "\(reply.json)")
            let users = try await server.devServer.context.store.read { tx in
                try tx.sessions.newest(10).map { $0.session.user.name }
            }
            #expect(users == ["mira"])
        }
    }

    @Test("The case of a name also does not matter for users that a journey has created, and a taken name is not unique")
    func ignoresCaseOfCreatedUser() async throws {
        try await TestServer.live(.sample()) { server in
            let names = try await server.devServer.context.store.write { tx in
                let kim = UserKey(realm: .root, name: "Kim")
                _ = try tx.addUser(kim, password: Secret("changeit".utf8), claims: [:])
                return try ["KIM", "kim", "lee"].map { try tx.directory.user(named: $0, in: .root)?.name }
            }
            #expect(names == ["Kim", "Kim", nil])
            for name in ["Kim", "kIM", "kim "] {
                #expect(try await server.logIn(name: name, password: "changeit").token != nil)
            }
        }
    }

    @Test("A name that two users have in different cases is only that of the user with exactly this name")
    func distinguishesUsersByCase() async throws {
        let users = [User(name: "Ann", password: Secret("first".utf8)), User(name: "ann", password: Secret("second".utf8))]
        try await TestServer.live(.sample { $0.users += users }) { server in
            var statuses: [Int] = []
            for (name, password) in [("Ann", "first"), ("ann", "second"), ("ANN", "first"), ("ANN", "second")] {
                statuses.append(try await server.logIn(name: name, password: password).status)
            }
            #expect(statuses == [200, 200, 401, 401])
        }
    }

    @Test(
        "S17: The parameter noSession is read in any letter case",
        arguments: [("TRUE", false), ("True", false), ("true", false), ("", true), ("1", true)])
    func readsNoSession(value: String, hasToken: Bool) async throws {
        try await TestServer.live(.sample()) { server in
            let query = "noSession=\(value)"
            let reply = try await server.logIn(query, next: query)
            #expect((reply.token != nil) == hasToken)
            #expect((reply.json["message"] == "Authentication Successful") == !hasToken)
        }
    }

    @Test("S17: Wrong passwords warn of the lockout in AM's words, for unknown names too", arguments: ["mira", "nobody"])
    func warnsOfLockout(name: String) async throws {
        let rule = Lockout(failures: 4, warnAfter: 2)
        try await TestServer.live(.sample { $0.limits.lockout = rule }) { server in
            var messages: [String?] = []
            for attempt in 0..<5 {
                let typed = attempt.isMultiple(of: 2) ? name : name.uppercased()
                messages.append(try await server.logIn(name: typed, password: "wrong").message)
            }
            let expected = [
                "Login failure", "Authentication Failed Warning: You will be locked out after 2 more failure(s).",
                "Authentication Failed Warning: You will be locked out after 1 more failure(s).", "Login failure",
                "User Locked Out.",
            ]
            #expect(messages == expected)
        }
    }
}
