import HTTPTypes
import SignetCore
import SignetStorage
import TestSupport
import Testing

@testable import SignetServer

/// A node that decides by the user, and the outcome that it must have.
struct UserDecision: Sendable, CustomTestStringConvertible {
    let node: String
    let user: String
    let isTrue: Bool

    init(_ node: String, _ user: String, _ isTrue: Bool) { (self.node, self.user, self.isTrue) = (node, user, isTrue) }

    var testDescription: String { "\(node) for \(user)" }
}

@Suite("Nodes that decide by the user", .timeLimit(.minutes(5)))
struct UserNodeTests {
    /// The sample users have no attributes except those of noa: a given name, an email address and a department.
    static let decisions: [UserDecision] = [
        UserDecision("AttributePresentDecisionNode", "mira", true),
        UserDecision("AttributePresentDecisionNode, presentAttribute: mail", "noa", true),
        UserDecision("AttributePresentDecisionNode, presentAttribute: mail", "mira", false),
        UserDecision("AttributePresentDecisionNode, presentAttribute: department", "noa", true),
        UserDecision("AttributePresentDecisionNode, presentAttribute: preferences/marketing", "noa", false),
        UserDecision("AttributeValueDecisionNode, comparisonAttribute: givenName", "noa", true),
        UserDecision("AttributeValueDecisionNode, comparisonAttribute: givenName", "mira", false),
        UserDecision(
            "AttributeValueDecisionNode, comparisonOperation: EQUALS, comparisonAttribute: givenName, comparisonValue: Noa",
            "noa",
            true),
        UserDecision(
            "AttributeValueDecisionNode, comparisonOperation: EQUALS, comparisonAttribute: givenName, comparisonValue: Mira",
            "noa", false),
        UserDecision(
            "AttributeValueDecisionNode, comparisonOperation: EQUALS, comparisonAttribute: userName, comparisonValue: mira",
            "mira", true),
        UserDecision(#"QueryFilterDecisionNode, queryFilter: '/mail sw "NOA@" and !(/sn pr)'"#, "noa", true),
        UserDecision(#"QueryFilterDecisionNode, queryFilter: '/mail sw "NOA@"'"#, "mira", false),
        UserDecision(
            #"QueryFilterDecisionNode, queryFilter: '!(/preferences pr) or /preferences/marketing eq false'"#, "mira", true),
        UserDecision("AccountActiveDecisionNode", "mira", true), UserDecision("AuthLevelDecisionNode", "mira", true),
        UserDecision("AuthLevelDecisionNode, authLevelRequirement: 1", "mira", false),
        UserDecision("CookiePresenceDecisionNode, cookieName: seen", "mira", false),
        UserDecision("LoginCountDecisionNode, amount: 1", "mira", false),
        UserDecision("LoginCountDecisionNode, amount: 1, interval: EVERY", "mira", false),
    ]

    private static func lockSecondUser(_ configuration: inout ServerConfiguration) { configuration.users[1].isLocked = true }

    @Test("A decision by the user has the outcome that its attributes require", arguments: decisions)
    func decidesByUser(decision: UserDecision) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: look, false: failure}}
                look: {type: \(decision.node), outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let password = decision.user == "mira" ? TestServer.password : "staple"
            let reply = try await server.logIn("J", name: decision.user, password: password)
            #expect(reply.isLoggedIn == decision.isTrue)
        }
    }

    @Test(
        "The number of logins is counted, and compared once or at each multiple",
        arguments: [("AT", [false, true, false, false]), ("EVERY", [false, true, false, true])])
    func countsAndComparesLogins(interval: String, results: [Bool]) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: count, false: failure}}
                count: {type: IncrementLoginCountNode, outcomes: {outcome: look}}
                look: {type: LoginCountDecisionNode, interval: \(interval), amount: 2, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            for isTrue in results {
                let reply = try await server.logIn("J")
                #expect(reply.isLoggedIn == isTrue)
            }
            let count = try await server.person()?.loginCount
            #expect(count == results.count)
        }
    }

    @Test(
        "A user is identified by an attribute that exactly one user has, in any case",
        arguments: [
            ("noa@example.test", "noa"), (" NOA@Example.test ", "noa"), ("twice@example.test", nil), ("none@example.test", nil),
            ("", nil),
        ])
    func identifiesUserByAttribute(address: String, user: String?) async throws {
        let journeys = """
            J:
              nodes:
                page: {type: PageNode, nodes: [{type: AttributeCollectorNode, attributesToCollect: [mail]}], outcomes: {outcome: find}}
                find: {type: IdentifyExistingUserNode, identityAttribute: mail, outcomes: {true: success, false: failure}}
            """
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            let claims: [String: JSONValue] = ["email": "twice@example.test"]
            configuration.users += ["ida", "ivo"].map { User(name: $0, password: nil, claims: claims) }
        }
        try await TestServer.run(journeys: journeys, configure) { server in
            var step = try await server.start("J").step
            step.fill("StringAttributeInputCallback", .string(address))
            let reply = try await server.next(step)
            #expect(reply.isLoggedIn == (user != nil))
            guard user != nil else { return }
            let headers = [
                "iPlanetDirectoryPro": try #require(reply.json["tokenId"]?.string), "Content-Type": "application/json",
            ]
            let session = try await server.send(
                .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}")
            #expect(session.json["username"]?.string == user)
        }
    }

    @Test("Collected preferences are stored with the user and not disclosed, and a filter finds them")
    func progressiveProfile() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: look, false: failure}}
                look:
                  type: QueryFilterDecisionNode
                  queryFilter: "!(/preferences pr) or /preferences/marketing eq false or /preferences/updates eq false"
                  outcomes: {true: ask, false: success}
                ask:
                  type: PageNode
                  nodes: [{type: AttributeCollectorNode, attributesToCollect: [preferences/updates, preferences/marketing, givenName]}]
                  outcomes: {outcome: keep}
                keep: {type: PatchObjectNode, ignoredFields: [givenName], outcomes: {PATCHED: success, FAILURE: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            for answers in [[true, false], [true, true]] {
                var step = try await server.logIn("J").step
                #expect(step.callbacks[0].output("prompt") == "Send me news and updates")
                for (index, answer) in answers.enumerated() { step.callbacks[index].answer(.bool(answer)) }
                step.callbacks[2].answer("Mira")
                #expect(try await server.next(step).isLoggedIn)
            }
            #expect(try await server.logIn("J").isLoggedIn, "both are chosen, so nothing is asked")
            let person = try #require(try await server.person())
            #expect(person.attribute("preferences/marketing") == .bool(true))
            #expect(person.attribute("/preferences/updates") == .bool(true))
            #expect(person.attribute("givenName") == nil && person.claims.isEmpty)
        }
    }

    @Test("The anonymous user needs no answer, and must exist", arguments: [("anonymous", true), ("guest", false)])
    func continuesAsAnonymousUser(name: String, succeeds: Bool) async throws {
        let journeys = """
            J: {nodes: {any: {type: AnonymousUserNode, anonymousUserName: \(name), outcomes: {outcome: success}}}}
            """
        let configure: (inout ServerConfiguration) -> Void = { $0.users.append(User(name: "anonymous", password: nil)) }
        try await TestServer.run(journeys: journeys, configure) { server in
            let reply = try await server.start("J")
            #expect(reply.isLoggedIn == succeeds)
        }
    }

    static let logins: [(name: String, password: String, outcome: String)] = [
        ("mira", TestServer.password, "TRUE"), ("mira", "wrong", "FALSE"), ("noa", "staple", "LOCKED"), ("noa", "wrong", "FALSE"),
    ]

    @Test(
        "A decision by the password has an outcome for each result",
        arguments: ["IdentityStoreDecisionNode", "LdapDecisionNode"], logins)
    func decidesByPassword(node: String, login: (name: String, password: String, outcome: String)) async throws {
        let journeys = """
            J:
              nodes:
                page: {type: PageNode, nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}], outcomes: {outcome: look}}
                look: {type: \(node), outcomes: {TRUE: isTrue, FALSE: isFalse, LOCKED: isLocked, EXPIRED: failure, CANCELLED: failure}}
                isTrue: {type: MessageNode, message: "TRUE", outcomes: {default: success}}
                isFalse: {type: MessageNode, message: "FALSE", outcomes: {default: failure}}
                isLocked: {type: MessageNode, message: LOCKED, outcomes: {default: failure}}
            """
        try await TestServer.run(journeys: journeys, Self.lockSecondUser) { server in
            let step = try await server.logIn("J", name: login.name, password: login.password).step
            #expect(step.callbacks[0].output("message")?.string == login.outcome)
        }
    }

    @Test("Nodes of a journey change its level and its session properties, and show the name of the user")
    func changesLevelAndProperties() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: start, false: failure}}
                start: {type: TimerStartNode, outcomes: {outcome: set}}
                set: {type: SetSessionPropertiesNode, properties: {kept: "1", gone: "2"}, outcomes: {outcome: remove}}
                remove: {type: RemoveSessionPropertiesNode, propertyNames: [gone], outcomes: {outcome: raise}}
                raise: {type: ModifyAuthLevelNode, authLevelIncrement: 5, outcomes: {outcome: lower}}
                lower: {type: ModifyAuthLevelNode, authLevelIncrement: -2, outcomes: {outcome: enough}}
                enough: {type: AuthLevelDecisionNode, authLevelRequirement: 3, outcomes: {true: much, false: failure}}
                much: {type: AuthLevelDecisionNode, authLevelRequirement: 4, outcomes: {true: failure, false: show}}
                show: {type: PageNode, nodes: [{type: DisplayUserNameNode}], outcomes: {outcome: stop}}
                stop: {type: TimerStopNode, outcomes: {outcome: meter}}
                meter: {type: MeterNode, outcomes: {outcome: success}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let step = try await server.logIn("J").step
            #expect(step.callbacks.map(\.type) == ["TextOutputCallback"] && step.callbacks[0].output("message") == "mira")
            let reply = try await server.next(step)
            #expect(reply.isLoggedIn)
            let headers = [
                "iPlanetDirectoryPro": try #require(reply.json["tokenId"]?.string), "Content-Type": "application/json",
            ]
            let session = try await server.send(
                .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}")
            #expect(session.json["properties"]?["kept"] == "1")
            #expect(session.json["properties"]?["gone"] == nil)
        }
    }

    @Test("Display Username reports a row that cannot be read, and shows no empty name")
    func displayOfDamagedUserIsReported() async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: show}}
                show: {type: DisplayUserNameNode, outcomes: {outcome: success}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let key = RowKey(.changedUser, UserKey(realm: .root, name: "mira").rowName)
            try await server.devServer.context.store.queue.exclusively { (_, _) throws(StoreError) in
                var changes = RowChanges()
                changes.rows[key] = StoredRow(bytes: [200])
                return ((), changes)
            }
            var step = try await server.start("J").step
            step.fill("NameCallback", "mira")
            let reply = try await server.next(step)
            #expect(reply.status == 503 && reply.json["callbacks"] == nil)
            var other = try await server.start("J").step
            other.fill("NameCallback", "noa")
            #expect(try await server.next(other).step.callbacks.first?.output("message") == "noa")
        }
    }

    @Test("An account that is locked is not active, and a cookie of the request is found")
    func decidesByAccountAndCookie() async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: look}}
                look: {type: AccountActiveDecisionNode, outcomes: {true: success, false: failure}}
            K:
              nodes:
                seen: {type: CookiePresenceDecisionNode, cookieName: seen, outcomes: {true: any, false: failure}}
                any: {type: AnonymousUserNode, anonymousUserName: mira, outcomes: {outcome: success}}
            """
        try await TestServer.run(journeys: journeys, Self.lockSecondUser) { server in
            for (name, isActive) in [("mira", true), ("noa", false), ("nobody", false)] {
                var step = try await server.start("J").step
                step.fill("NameCallback", .string(name))
                #expect(try await server.next(step).isLoggedIn == isActive)
            }
            let uri = "\(TestServer.authenticate)?authIndexType=service&authIndexValue=K"
            for (cookie, isFound) in [("seen=1", true), ("other=1", false)] {
                let headers = ["Cookie": cookie, "Content-Type": "application/json"]
                #expect(try await server.send(.post, uri, headers: headers, body: "{}").isLoggedIn == isFound)
            }
        }
    }

    @Test("An agent is a user of this server", arguments: [(TestServer.password, true), ("wrong", false)])
    func agentIsUser(password: String, succeeds: Bool) async throws {
        let journeys = """
            J:
              nodes:
                page: {type: PageNode, nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}], outcomes: {outcome: look}}
                look: {type: AgentDataStoreDecisionNode, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let reply = try await server.logIn("J", password: password)
            #expect(reply.isLoggedIn == succeeds)
        }
    }

    @Test("A new password is asked for twice until both are the same and long enough, and Patch Object stores it")
    func createsPassword() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: new, false: failure}}
                new: {type: CreatePasswordNode, minPasswordLength: 6, outcomes: {outcome: keep}}
                keep: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("J").step
            let prompts = step.callbacks.map { $0.output("prompt")?.string }
            #expect(prompts == ["Password", "Confirm Password"])
            for (password, repetition) in [("secret one", "secret two"), ("short", "short"), ("", "")] {
                step.callbacks[0].answer(.string(password))
                step.callbacks[1].answer(.string(repetition))
                step = try await server.next(step).step
                #expect(step.callbacks.map(\.type) == ["PasswordCallback", "PasswordCallback", "TextOutputCallback"])
            }
            for index in 0...1 { step.callbacks[index].answer("secret one") }
            #expect(try await server.next(step).isLoggedIn)
            #expect(try await server.logIn("Login", password: "secret one").isLoggedIn)
        }
    }

    @Test(
        "The user chooses between this server and a provider, and a page without providers asks nothing",
        arguments: [("[google, azure]", "localAuthentication", true), ("[google, azure]", "google", false), ("[]", "", true)])
    func selectsProviderOrServer(providers: String, choice: String, isLocal: Bool) async throws {
        let social = providers == "[]" ? "" : ", socialAuthentication: failure"
        let journeys = """
            J:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}, {type: SelectIdPNode, filteredProviders: \(providers)}]
                  outcomes: {localAuthentication: look\(social)}
                look: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.start("J").step
            let types = step.callbacks.map(\.type)
            #expect(types.contains("SelectIdPCallback") == !choice.isEmpty)
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            step.fill("SelectIdPCallback", .string(choice))
            #expect(try await server.next(step).isLoggedIn == isLocal)
        }
    }
}
