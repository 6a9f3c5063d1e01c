import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Page nodes that end with a node of several outcomes")
struct PageNodeTests {
    /// Makes a journey whose page asks for name, password and `last`; the page's outcome `in` leads to the password check.
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

    /// A last node, the targets of its outcomes, its callbacks, and the answers that lead to success and to failure.
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

    @Test("The last node's callbacks are at the end of the page, and its outcomes are those of the page", arguments: ends)
    func lastNodeSetsOutcome(node: String, outcomes: String, types: [String], right: JSONValue, wrong: JSONValue) async throws {
        try await TestServer.run(journeys: Self.page(node, outcomes)) { server in
            for (answer, password, succeeds) in [
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
                #expect(try await server.next(step).isLoggedIn == succeeds)
            }
        }
    }

    @Test("A browser shows all callbacks of a page node on one page")
    func browserShowsOnePage() async throws {
        try await TestServer.run(journeys: Self.page(Self.ends[0].node, Self.ends[0].outcomes)) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/?authIndexType=service&authIndexValue=J")
            #expect(page.heading == "Sign in your way")
            let fields = ["IDToken1": "mira", "IDToken2": TestServer.password]
            let next = try await browser.submit(page, fields.merging(["IDToken3": "0"]) { $1 })
            #expect(next.heading == "You are signed in")
        }
    }

    @Test("An invalid answer to the last node repeats the whole page")
    func invalidAnswerRepeatsPage() async throws {
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

    @Test("While another node of a page is incomplete, the last node keeps its question and ignores its answer")
    func lastNodeWaitsForOtherNodes() async throws {
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

    /// A page that asks for a user name, and then one of that user's security questions.
    private static let nameAndQuestion = """
        J:
          nodes:
            page:
              type: PageNode
              nodes: [{type: UsernameCollectorNode}, {type: KbaVerifyNode, minimumAnswersToVerify: 1}]
              outcomes: {true: success, false: failure}
        """

    @Test("A page asks for the user name before it asks that user's security question")
    func asksForNameBeforeQuestion() async throws {
        let configure: (inout ServerConfiguration) -> Void = { $0.users[0].securityAnswers = ["Pet?": Secret("Rex".utf8)] }
        try await TestServer.run(journeys: Self.nameAndQuestion, configure) { server in
            func named(_ name: String) async throws -> Reply {
                var step = try await server.start("J").step
                #expect(step.callbacks.map(\.type) == ["NameCallback"])
                step.fill("NameCallback", .string(name))
                return try await server.next(step)
            }
            #expect(try await named("noa").message == "Login failure", "the user has no security answers")
            var step = try await named("mira").step
            #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", "Rex")
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    @Test("A changed user name on a page changes the security question, and the earlier answer does not count")
    func changedNameChangesQuestion() async throws {
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

    @Test("Stored progress without a user can still be read, and its questions belong to no user")
    func readsQuestionsWithoutUser() throws {
        let memory = try JSON.decode(NodeProgress.self, from: #"{"questioned":{"_0":["Pet?"]}}"#.utf8)
        guard case .questioned(["Pet?"], of: nil) = memory else {
            Issue.record("decoded as \(memory)")
            return
        }
    }

    /// The last node, its callback, an answer, the value that the input then has, and the output that shows it with its value.
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
        "A repeated page keeps choices and visible text, but neither secrets nor pressed buttons",
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

    @Test("A browser shows the user's earlier choice when a page is repeated")
    func browserKeepsChoice() async throws {
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

    @Test("A page with only a one-time code shows the header of the page")
    func codePageShowsHeader() async throws {
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
