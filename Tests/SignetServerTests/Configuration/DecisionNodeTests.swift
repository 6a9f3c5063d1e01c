import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Configured decision nodes")
struct DecisionNodeTests {
    @Test("A choice continues at the node of its outcome, and the default choice is shown", arguments: [(0, true), (1, false)])
    func choiceSelectsOutcome(index: Int64, succeeds: Bool) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: choice, false: failure}}
                choice:
                  type: ChoiceCollectorNode
                  prompt: {de: Wie, en: How}
                  choices: [in, out]
                  defaultChoice: out
                  outcomes: {in: success, out: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("J").step
            #expect(step.callbacks[0].output("prompt") == "How" && step.callbacks[0].output("defaultChoice") == .integer(1))
            step.fill("ChoiceCallback", .integer(index))
            #expect(try await server.next(step).isLoggedIn == succeeds)
        }
    }

    @Test(
        "The answer to a message node is stored under its name, and a decision table can read it",
        arguments: [(0, true), (1, false)])
    func decisionTableReadsMessageAnswer(pressed: Int64, succeeds: Bool) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: ask, false: failure}}
                ask:
                  {type: MessageNode, message: Sure?, messageType: ERROR, messageYes: Yep, messageNo: Nope, stateField: sure, outcomes: {default: look}}
                look:
                  type: ScriptedDecisionNode
                  table: [{when: {collected.sure: "0"}, outcome: sure}]
                  default: unsure
                  outcomes: {sure: success, unsure: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("J").step
            #expect(step.callbacks[0].output("messageType") == "2")
            #expect(step.callbacks[1].output("options") == .array(["Yep", "Nope"]))
            step.fill("ConfirmationCallback", .integer(pressed))
            #expect(try await server.next(step).isLoggedIn == succeeds)
        }
    }

    @Test(
        "A client that polls early gets the outcome SPAM with spam detection, and another wait without it",
        arguments: [true, false])
    func detectsPollingSpam(isDetected: Bool) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: wait, false: failure}}
                wait:
                  type: PollingWaitNode
                  secondsToWait: 60
                  waitingMessage: Waiting
                  spamDetectionEnabled: \(isDetected)
                  spamDetectionTolerance: 1
                  outcomes: {DONE: success, \(isDetected ? "SPAM: failure" : "")}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("J").step
            #expect(step.callbacks.map(\.type) == ["PollingWaitCallback"] && step.callbacks[0].output("message") == "Waiting")
            step = try await server.next(step).step
            let reply = try await server.next(step)
            guard !isDetected else {
                #expect(reply.message == "Login failure")
                return
            }
            #expect(try await server.poll(try reply.step).isLoggedIn)
        }
    }

    @Test("A retry loop ends at its limit, in inner journeys too, and each node counts its own retries")
    func limitsRetries() async throws {
        let journeys = """
            Twice:
              innerTreeOnly: true
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: again}}
                again: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: login, Reject: failure}}
            J:
              entry: first
              nodes:
                second: {type: InnerTreeEvaluatorNode, tree: Twice, outcomes: {true: success, false: end}}
                first: {type: InnerTreeEvaluatorNode, tree: Twice, outcomes: {true: second, false: end}}
                end: {type: FailureNode}
            """
        try await TestServer.run(journeys: journeys) { server in
            var reply = try await server.start("J")
            let right = TestServer.password
            for (password, isOver) in [("wrong", false), ("wrong", false), (right, false), ("wrong", true)] {
                var step = try reply.step
                step.fill("NameCallback", "mira")
                step.fill("PasswordCallback", .string(password))
                reply = try await server.next(step)
                #expect((reply.status == 401) == isOver)
            }
        }
    }

    @Test("An email suspend node sends one email with a link that continues the journey, and none to unknown users")
    func sendsEmailToKnownUsersOnly() async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
                email: {type: EmailSuspendNode, emailSuspendMessage: Look into your mail, outcomes: {outcome: success}}
            """
        let sent = Mutex<[Email]>([])
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.onEmail = { email in sent.withLock { $0.append(email) } }
        }
        try await TestServer.run(journeys: journeys, configure) { server in
            for name in ["nobody", "mira"] {
                var step = try await server.start("J").step
                step.fill("NameCallback", .string(name))
                let suspended = try await server.next(step).step
                #expect(suspended.callbacks[0].output("message") == "Look into your mail")
            }
            let emails = sent.withLock { $0 }
            #expect(emails.map(\.user) == ["mira"] && emails.map(\.realm) == ["/"])
            let link = try #require(emails.first?.link)
            #expect(try await server.devServer.emailLinks(to: "mira") == [link])
            let id = try #require(link.split(separator: "suspendedId=").last)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(id)").isLoggedIn)
        }
    }

    @Test(
        "F8: The link in an email leads to the configured page or app, which resumes the journey with it",
        arguments: [
            ("https://app.example.test/login", "https://app.example.test/login?realm=%2F&suspendedId="),
            ("https://app.example.test/?from=mail", "https://app.example.test/?from=mail&realm=%2F&suspendedId="),
            ("org.example.app://resume", "org.example.app://resume?realm=%2F&suspendedId="),
        ])
    func emailLinkLeadsToApp(page: String, start: String) async throws {
        let yaml = "server: {externalLoginPageURL: \"\(page)\"}\n"
        let configured = try ServerConfiguration(yaml: yaml).externalLoginPageURL
        try await TestServer.run(.sample { $0.externalLoginPageURL = configured }) { server in
            var step = try await server.start("EmailLogin").step
            step.fill("NameCallback", "mira")
            _ = try await server.next(step)
            let link = try #require(try await server.devServer.emailLinks(to: "mira").last)
            #expect(link.hasPrefix(start))
            // The page or app sends the token alone.
            let id = link.dropFirst(start.count)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(id)").isLoggedIn)
        }
    }

    @Test(
        "A KBA node asks as many of the user's questions as configured, and a wrong answer fails",
        arguments: [("Rex", true), ("Max", false)])
    func asksConfiguredNumberOfQuestions(answer: String, succeeds: Bool) async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: enough}}
                enough: {type: KbaDecisionNode, minimumAnswersToDefine: 2, outcomes: {true: ask, false: failure}}
                ask: {type: KbaVerifyNode, minimumAnswersToVerify: 2, outcomes: {true: success, false: failure}}
            """
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.users[0].securityAnswers = ["Pet?": Secret("Rex".utf8), "Town?": Secret("Ulm".utf8)]
            configuration.users[1].securityAnswers = ["Pet?": Secret("Rex".utf8)]
        }
        try await TestServer.run(journeys: journeys, configure) { server in
            func name(_ name: String) async throws -> Reply {
                var step = try await server.start("J").step
                step.fill("NameCallback", .string(name))
                return try await server.next(step)
            }
            #expect(try await name("noa").message == "Login failure")
            var step = try await name("mira").step
            let prompts = step.callbacks.map { $0.output("prompt")?.string }
            #expect(Set(prompts) == ["Pet?", "Town?"])
            for index in step.callbacks.indices {
                let isPet = step.callbacks[index].output("prompt") == "Pet?"
                step.callbacks[index].answer(.string(isPet ? " \(answer.uppercased())" : "ulm "))
            }
            #expect(try await server.next(step).isLoggedIn == succeeds)
        }
    }

    @Test("A blank security answer is wrong, even when the stored answer is blank", arguments: ["", " ", "\u{A0}"])
    func refusesBlankAnswers(blank: String) async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: ask}}
                ask: {type: KbaVerifyNode, outcomes: {true: success, false: failure}}
            """
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.users[0].securityAnswers = ["Pet?": Secret("Rex".utf8)]
            configuration.users[1].securityAnswers = ["Pet?": Secret(blank.utf8)]
        }
        try await TestServer.run(journeys: journeys, configure) { server in
            for name in ["mira", "noa"] {
                var step = try await server.start("J").step
                step.fill("NameCallback", .string(name))
                let reply = try await server.next(step)
                guard reply.json["authId"] != nil else { continue }
                step = try reply.step
                step.fill("PasswordCallback", .string(blank))
                #expect(try await server.next(step).json["tokenId"] == nil, "\(name)")
            }
        }
    }

    @Test("The user accepts each version of the terms and conditions once")
    func asksForTermsOncePerVersion() async throws {
        func journey(_ name: String, _ version: String) -> String {
            """
            \(name):
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: look, false: failure}}
                look: {type: TermsAndConditionsDecisionNode, version: "\(version)", outcomes: {true: success, false: ask}}
                ask:
                  type: AcceptTermsAndConditionsNode
                  version: "\(version)"
                  terms: {en: Be kind}
                  createDate: 2025-01-01T00:00:00.000Z
                  outcomes: {outcome: keep}
                keep: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}

            """
        }
        try await TestServer.run(journeys: journey("Old", "1.0") + journey("New", "2.0")) { (server: TestServer) async throws in
            for (name, isAsked) in [("Old", true), ("Old", false), ("New", true), ("New", false)] {
                let reply = try await server.logIn(name)
                #expect(reply.isLoggedIn == !isAsked)
                guard isAsked else { continue }
                var step = try reply.step
                #expect(step.callbacks[0].output("terms") == "Be kind")
                #expect(step.callbacks[0].output("createDate") == "2025-01-01T00:00:00.000Z")
                step.fill("TermsAndConditionsCallback", .bool(true))
                #expect(try await server.next(step).isLoggedIn)
            }
        }
    }

    /// A row's conditions, the user, the answer to the callback, and whether the row matches.
    static let rows: [(String, String, String, Bool)] = [
        ("{username: mira}", "mira", "", true), ("{username: mir}", "mira", "", false), ("{username: m*a}", "mira", "", true),
        ("{username: [noa, mira]}", "mira", "", true), ("{username: '*'}", "mira", "", true),
        ("{username: ~}", "mira", "", false),
        ("{realm: /, journey: J}", "mira", "", true), ("{realm: /, journey: K}", "mira", "", false),
        ("{user.email: '*@example.test'}", "noa", "", true), ("{user.email: '*@example.test'}", "mira", "", false),
        ("{user.email: ~}", "mira", "", true), ("{user.email: [~, x]}", "noa", "", false),
        ("{answer: '42'}", "mira", "42", true), ("{answer: 4*2}", "mira", "4.0.2", true), ("{answer: 4*2}", "mira", "4", false),
        ("{answer.extra: deep}", "mira", "", true), ("{answer.other: '*'}", "mira", "", false),
        ("{collected.kept: '[\"42\"]'}", "mira", "42", true), ("{devices.push: '0', devices.oath: 0}", "mira", "", true),
        ("{devices.webauthn: 1}", "mira", "", false), ("{}", "mira", "", true), ("{userAgent: ~}", "mira", "", true),
    ]

    @Test("A row of a decision table matches when all of its conditions do", arguments: rows)
    func matchesRowOfDecisionTable(when: String, user: String, answer: String, holds: Bool) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: look, false: failure}}
                look:
                  type: ScriptedDecisionNode
                  callbacks:
                    - {type: TextOutputCallback, output: {message: Hello, messageType: "0"}}
                    - {type: NovelCallback, output: {deep: {list: [1, 2.5, ~]}}, input: {"": "", extra: deep}}
                  attribute: kept
                  table:
                    - {when: {username: nobody}, outcome: no}
                    - {when: \(when), outcome: yes}
                  default: no
                  outcomes: {yes: success, no: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("J", name: user, password: user == "mira" ? TestServer.password : "staple").step
            #expect(step.callbacks[1].output("deep") == .object(["list": .array([.integer(1), .number(2.5), .null])]))
            #expect(step.callbacks[1].input?.map(\.name) == ["IDToken2", "IDToken2extra"])
            step.callbacks[1].answer(.string(answer))
            #expect(try await server.next(step).isLoggedIn == holds)
        }
    }

    @Test(
        "A star in a pattern matches any text, and other characters match themselves",
        arguments: [
            ("", "", true), ("", "*", true), ("a", "", false), ("abc", "a*c", true), ("ac", "a*c", true), ("a", "a*a", false),
            ("abcabc", "*bc*a*c", true), ("abc", "**", true), ("abc", "*b", false), ("a*c", "a*c", true),
            ("aXbXc", "a*b*c*", true),
        ])
    func matchesPatternWithStars(text: String, pattern: String, matches: Bool) {
        #expect(text.matches(pattern[...]) == matches)
    }
}

@Suite("Configured nodes for user accounts")
struct PersonNodeTests {
    @Test("A user who is locked by a journey stays locked until a journey unlocks the account")
    func journeyLocksAndUnlocksUser() async throws {
        func journey(_ name: String, _ action: String) -> String {
            """
            \(name):
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: lock}}
                lock: {type: AccountLockoutNode, lockAction: \(action), outcomes: {outcome: failure}}

            """
        }
        try await TestServer.run(journeys: journey("Lock", "LOCK") + journey("Unlock", "UNLOCK")) {
            (server: TestServer) async throws in
            for (name, isLocked) in [("Lock", true), ("Unlock", false)] {
                var step = try await server.start(name).step
                step.fill("NameCallback", "mira")
                #expect(try await server.next(step).message == "Login failure")
                #expect(try await server.logIn("Login").message == (isLocked ? "User Locked Out." : nil))
            }
        }
    }

    @Test("A session has the properties and the lifetimes that its journey sets")
    func journeySetsSessionProperties() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: note, false: failure}}
                note:
                  type: SetSessionPropertiesNode
                  properties: {level: gold, Service: mine}
                  maxIdleTime: 2
                  maxSessionTime: 3
                  outcomes: {outcome: end}
                end: {type: SuccessNode}
            """
        try await TestServer.run(journeys: journeys) { server in
            let token = try #require(try await server.logIn("J").json["tokenId"]?.string)
            func properties() async throws -> JSONValue? {
                let headers = ["iPlanetDirectoryPro": token, "Content-Type": "application/json"]
                return try await server.send(
                    .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}"
                ).json["properties"]
            }
            #expect(try await properties()?["level"] == "gold")
            #expect(try await properties()?["Service"] == "J", "a journey cannot replace the server's own properties")
            server.clock.advance(by: 119)
            #expect(try await properties() != nil)
            server.clock.advance(by: 2)
            #expect(try await properties() == nil)
        }
    }

    @Test("A journey creates a user from the collected input, shows the file's texts, and logs the user in")
    func journeyCreatesUser() async throws {
        let file = try ServerConfiguration(
            yaml: """
                attributes:
                  userName: {title: Nick, policies: [not-empty]}
                  mail: {title: {en: Mail}, policies: [valid-email-address-format]}
                  sn: {title: Name}
                journeys:
                  Join:
                    nodes:
                      page:
                        type: PageNode
                        stage: Join
                        pageHeader: {en-GB: Welcome}
                        nodes:
                          - {type: ValidatedUsernameNode, validateInput: true}
                          - {type: ValidatedPasswordNode}
                          - {type: AttributeCollectorNode, attributesToCollect: [mail, sn]}
                          - {type: InputCollectorNode, attribute: town, prompt: Town, defaultText: Ulm}
                          - {type: ConsentNode, mapping: crm, displayName: CRM, message: Share, fields: [mail]}
                          - type: KbaCreateNode
                            message: Ask me
                            questions: ["Pet?"]
                            allowUserDefinedQuestions: false
                            minimumAnswersToDefine: 1
                        outcomes: {outcome: make}
                      make: {type: CreateObjectNode, outcomes: {CREATED: success, FAILURE: failure}}
                """)
        try await TestServer.run(file) { server in
            var step = try await server.start("Join").step
            #expect(step.stage == "Join" && step.header == "Welcome" && step.description == nil)
            #expect(
                step.callbacks.map(\.type) == [
                    "ValidatedCreateUsernameCallback", "PasswordCallback", "StringAttributeInputCallback",
                    "StringAttributeInputCallback",
                    "TextInputCallback", "ConsentMappingCallback", "KbaCreateCallback",
                ])
            #expect(step.callbacks[0].output("prompt") == "Nick" && step.callbacks[2].output("prompt") == "Mail")
            // Nothing is validated unless the node says so.
            let values: [JSONValue] = ["x", "secret", "no address", "Doe", "Ulm", .bool(true)]
            for (index, value) in values.enumerated() { step.callbacks[index].answer(value) }
            try step.fill("KbaCreateCallback", "question", "Pet?")
            try step.fill("KbaCreateCallback", "answer", "Rex")
            #expect(try await server.next(step).isLoggedIn)
            let person = try #require(try await server.person("x"))
            #expect(person.claims == ["email": "no address", "family_name": "Doe"])
            let questions = try await server.devServer.context.store.read { tx in
                try tx.directory.questions(of: UserKey(realm: .root, name: "x"))
            }
            #expect(questions == ["Pet?"])
        }
    }

    @Test(
        "A failure node with a reason ends the whole login, even in an inner journey; without a reason it is an outcome",
        arguments: [
            ("loginFailure", 401, "Login failure"), ("lockedOut", 401, "User Locked Out."),
            ("policyFailure, attribute: mail, policies: [not-empty, minimum-length: 3]", 403, "Policy validation failed"),
        ])
    func failureReasonEndsLogin(reason: String, status: Int, message: String) async throws {
        let journeys = """
            Strict: {innerTreeOnly: true, nodes: {end: {type: FailureNode, reason: \(reason)}}}
            Lenient: {innerTreeOnly: true, nodes: {end: {type: FailureNode}}}
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: lenient}}
                lenient: {type: InnerTreeEvaluatorNode, tree: Lenient, outcomes: {true: failure, false: other}}
                other: {type: UsernameCollectorNode, outcomes: {outcome: strict}}
                strict: {type: InnerTreeEvaluatorNode, tree: Strict, outcomes: {default: name}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let second = try await server.next(try await server.start("J").step).step
            let reply = try await server.next(second)
            #expect(reply.status == status && reply.message == message)
            let requirements = reply.json["detail"]?["failedPolicyRequirements"]?.array?.first
            #expect((requirements?["property"] == "mail") == (status == 403))
            #expect(requirements?["policyRequirements"]?.array?.count ?? 2 == 2)
        }
    }
}
