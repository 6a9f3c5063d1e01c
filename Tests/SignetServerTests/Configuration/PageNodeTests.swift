import SignetCore
import Testing

@testable import SignetServer

@Suite("A page that ends with a node of several outcomes")
struct PageNodeTests {
    /// Name, password and one node more; the page's outcome `in` leads on to the password's check.
    private static func page(_ last: String, _ outcomes: String) -> String {
        """
        J:
          nodes:
            page:
              type: PageNode
              stage: Both
              pageHeader: Sign in your way
              nodes:
                - {type: UsernameCollectorNode}
                - {type: PasswordCollectorNode}
                - \(last)
              outcomes: {\(outcomes)}
            password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
        """
    }

    /// A last node, where its outcomes lead, its callbacks, and what answers that lead to success, and to failure.
    static let ends: [(node: String, outcomes: String, types: [String], right: JSONValue, wrong: JSONValue)] = [
        (
            "{type: ChoiceCollectorNode, choices: [in, out], defaultChoice: out}", "in: password, out: failure",
            ["ChoiceCallback"], .integer(0), .integer(1)
        ),
        (
            "{type: MessageNode, message: Sure?}", "true: password, false: failure",
            ["TextOutputCallback", "ConfirmationCallback"], .integer(0), .integer(1)
        ),
        (
            #"{type: ScriptedDecisionNode, callbacks: [{type: NovelCallback, output: {prompt: x}, input: {"": ""}}], table: [{when: {answer: right}, outcome: in}], default: out}"#,
            "in: password, out: failure", ["NovelCallback"], "right", "wrong"
        ),
    ]

    @Test("Its callbacks come after the others', it gets its part of the answers, and the page has its outcomes", arguments: ends)
    func last(node: String, outcomes: String, types: [String], right: JSONValue, wrong: JSONValue) async throws {
        try await TestServer.run(journeys: Self.page(node, outcomes)) { server in
            for (answer, password, isIn) in [
                (right, TestServer.password, true), (wrong, TestServer.password, false), (right, "x", false),
            ] {
                var step = try await server.start("J").step
                #expect(step.stage == "Both" && step.header == "Sign in your way" && step.description == nil)
                #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"] + types)
                let names = step.callbacks.flatMap { $0.input ?? [] }.map(\.name)
                #expect(names == ["IDToken1", "IDToken2", "IDToken\(step.callbacks.count)"])
                step.fill("NameCallback", "mira")
                step.fill("PasswordCallback", .string(password))
                step.fill(try #require(types.last), answer)
                #expect(try await server.next(step).isLoggedIn == isIn)
            }
        }
    }

    @Test("A browser walks it, on one page")
    func browser() async throws {
        try await TestServer.run(journeys: Self.page(Self.ends[0].node, Self.ends[0].outcomes)) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/?authIndexType=service&authIndexValue=J")
            #expect(page.heading == "Sign in your way")
            let fields = ["IDToken1": "mira", "IDToken2": TestServer.password]
            let isIn = try await browser.submit(page, fields.merging(["IDToken3": "0"]) { $1 })
            #expect(isIn.heading == "You are signed in")
        }
    }

    @Test("An answer that will not do is asked for again, with the whole page")
    func again() async throws {
        let (node, outcomes, types, right, _) = Self.ends[0]
        try await TestServer.run(journeys: Self.page(node, outcomes)) { server in
            var step = try await server.start("J").step
            step.fill("NameCallback", "mira")
            step.fill(types[0], .integer(7))
            step = try await server.next(step).step
            let inputNames = step.callbacks.compactMap(\.input?.first?.name)
            #expect(step.stage == "Both" && inputNames == ["IDToken1", "IDToken2", "IDToken3"])
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            step.fill(types[0], right)
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    @Test("As long as something else on the page is open the last node's answers are not looked at, and its questions stay")
    func open() async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: page}}
                page:
                  type: PageNode
                  nodes: [{type: AcceptTermsAndConditionsNode}, {type: KbaVerifyNode, minimumAnswersToVerify: 1}]
                  outcomes: {true: success, false: failure}
            """
        let configure: (inout ServerConfiguration) -> Void = {
            $0.users[0].securityAnswers = ["Pet?": Secret("x".utf8), "Town?": Secret("x".utf8), "Road?": Secret("x".utf8)]
        }
        try await TestServer.run(journeys: journeys, configure) { server in
            var step = try await server.start("J").step
            step.fill("NameCallback", "mira")
            step = try await server.next(step).step
            let question = try #require(step.callbacks[1].output("prompt"))
            for _ in 0..<8 {
                step.fill("PasswordCallback", "wrong")
                step = try await server.next(step).step
                #expect(step.callbacks[1].output("prompt") == question)
            }
            step.fill("TermsAndConditionsCallback", .bool(true))
            step.fill("PasswordCallback", "x")
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    /// A page that asks who somebody is, and then one of their own questions.
    private static let nameAndQuestion = """
        J:
          nodes:
            page:
              type: PageNode
              nodes: [{type: UsernameCollectorNode}, {type: KbaVerifyNode, minimumAnswersToVerify: 1}]
              outcomes: {true: success, false: failure}
        """

    @Test("Who has to be known before anything can be asked of them is asked who they are first")
    func unknownPerson() async throws {
        let configure: (inout ServerConfiguration) -> Void = { $0.users[0].securityAnswers = ["Pet?": Secret("Rex".utf8)] }
        try await TestServer.run(journeys: Self.nameAndQuestion, configure) { server in
            func named(_ name: String) async throws -> Reply {
                var step = try await server.start("J").step
                #expect(step.callbacks.map(\.type) == ["NameCallback"])
                step.fill("NameCallback", .string(name))
                return try await server.next(step)
            }
            #expect(try await named("noa").message == "Login failure", "who has no answers cannot give one")
            var step = try await named("mira").step
            #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", "Rex")
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    @Test("Who corrects the name is asked their own questions, and nothing is guessed by that")
    func correctedPerson() async throws {
        let configure: (inout ServerConfiguration) -> Void = {
            $0.users[0].securityAnswers = ["Pet?": Secret("Rex".utf8)]
            $0.users[1].securityAnswers = ["Town?": Secret("Ulm".utf8)]
        }
        try await TestServer.run(journeys: Self.nameAndQuestion, configure) { server in
            var step = try await server.start("J").step
            step.fill("NameCallback", "noa")
            step = try await server.next(step).step
            #expect(step.callbacks[1].output("prompt") == "Town?")
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", "Ulm")
            step = try await server.next(step).step
            #expect(step.callbacks.count == 2 && step.callbacks[1].output("prompt") == "Pet?")
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", "Rex")
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    @Test("Questions that were kept without their owner can still be read, and are nobody's")
    func ownerless() throws {
        let memory = try JSON.decode(NodeProgress.self, from: #"{"questioned":{"_0":["Pet?"]}}"#.utf8)
        guard case .questioned(["Pet?"], of: nil) = memory else {
            Issue.record("read as \(memory)")
            return
        }
    }

    /// What ends the page, a node that comes before, and how an answer to the end comes back: its input, and the output that shows it.
    static let kept: [(last: String, type: String, answer: JSONValue, input: JSONValue, shown: String, output: JSONValue)] = [
        (
            "{type: ChoiceCollectorNode, choices: [in, out]}", "ChoiceCallback", .integer(1), .integer(1), "defaultChoice",
            .integer(1)
        ),
        ("{type: ChoiceCollectorNode, choices: [in, out]}", "ChoiceCallback", "1", .integer(1), "defaultChoice", .integer(1)),
        (
            "{type: ChoiceCollectorNode, choices: [in, out]}", "ChoiceCallback", .integer(7), .integer(0), "defaultChoice",
            .integer(0)
        ),
        (scripted("TextInputCallback", "defaultText: x"), "TextInputCallback", "y", "y", "defaultText", "y"),
        (scripted("TextInputCallback", "defaultText: x, echoOn: false"), "TextInputCallback", "y", "", "defaultText", "x"),
        (scripted("PasswordCallback", "prompt: x"), "PasswordCallback", "y", "", "prompt", "x"),
        (scripted("ConfirmationCallback", "defaultOption: 0"), "ConfirmationCallback", "y", "", "defaultOption", .integer(0)),
    ]

    private static func scripted(_ type: String, _ output: String) -> String {
        #"{type: ScriptedDecisionNode, callbacks: [{type: \#(type), output: {\#(output)}, input: {"": ""}}], table: [{when: {answer: right}, outcome: in}], default: out}"#
    }

    @Test(
        "What was chosen or written in the open stays while something else is asked again; secrets and buttons do not",
        arguments: kept, [JSONValue.bool(false), .bool(true)])
    func keepsAnswers(
        _ row: (last: String, type: String, answer: JSONValue, input: JSONValue, shown: String, output: JSONValue),
        onlyChecked: JSONValue
    ) async throws {
        let journeys = """
            J:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: ValidatedUsernameNode, validateInput: true}, \(row.last)]
                  outcomes: {in: failure, out: success}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.start("J").step
            let isChecked = onlyChecked == .bool(true)
            step.fill("ValidatedCreateUsernameCallback", isChecked ? "newcomer" : "n")
            step.callbacks[0].input?[1].value = onlyChecked
            step.fill(row.type, row.answer)
            step = try await server.next(step).step
            #expect(step.callbacks[0].output("failedPolicies")?.array?.isEmpty == isChecked)
            #expect(step.callbacks[1].input?.first?.value == row.input && step.callbacks[1].output(row.shown) == row.output)
        }
    }

    @Test("A browser shows the choice that was made")
    func keepsChoiceInBrowser() async throws {
        let journeys = """
            J:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: ValidatedUsernameNode, validateInput: true}, {type: ChoiceCollectorNode, choices: [in, out]}]
                  outcomes: {in: failure, out: success}
            """
        try await TestServer.run(journeys: journeys) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/?authIndexType=service&authIndexValue=J")
            let again = try await browser.submit(page, ["IDToken1": "n", "IDToken2": "1"])
            #expect(again.text.captures("<input type=\"radio\" name=\"IDToken2\" value=\"([01])\" checked") == [["1"]])
        }
    }

    @Test("A code that is asked for on a page of its own has the page's words")
    func heading() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: page, false: failure}}
                page:
                  type: PageNode
                  pageHeader: Enter the code
                  nodes: [{type: OathTokenVerifierNode}]
                  outcomes: {successOutcome: success, failureOutcome: failure, notRegisteredOutcome: register}
                register: {type: OathRegistrationNode, generateRecoveryCodes: false, outcomes: {successOutcome: page, failureOutcome: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let registration = try await server.logIn("J").step
            let settings = try #require(EnrollmentURI.parse(try registration.registrationURI).oath)
            var step = try await server.next(registration).step
            #expect(step.header == "Enter the code" && step.callbacks.map(\.type) == ["NameCallback"])
            step.fill("NameCallback", .string(settings.code(at: server.clock.now).digits))
            #expect(try await server.next(step).isLoggedIn)
        }
    }
}
