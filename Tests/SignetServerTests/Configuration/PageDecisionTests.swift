import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Page nodes with nodes of one outcome before the last one")
struct PageDecisionTests {
    private static let first = """
        if (callbacks.isEmpty()) {
            nodeState.putShared('mark', 'kept');
            callbacksBuilder.textOutputCallback(0, 'Look');
            callbacksBuilder.textInputCallback('Color?');
        } else {
            nodeState.putShared('color', callbacks.get(1).getText());
            outcome = 'true';
        }
        """
    private static let last = """
        if (callbacks.isEmpty()) {
            callbacksBuilder.textInputCallback('Town?');
        } else {
            var all = [nodeState.get('mark'), nodeState.get('color'), callbacks.getTextInputCallbacks().get(0)].join(' ');
            outcome = all == 'kept red Ulm' ? 'in' : 'out';
        }
        """

    /// Makes a node of a page that runs a script.
    private static func node(_ script: String, _ outcomes: String) -> String {
        "{type: ScriptedDecisionNode, script: \(JSON.text(of: .string(script))), outcomes: [\(outcomes)]}"
    }

    private static let password = "password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}"
    private static let message = "message: {type: MessageNode, outcomes: {true: success, false: failure}}"

    /// Makes a journey with a page and the node after it.
    private static func page(_ nodes: String..., outcomes: String, then next: String) -> String {
        """
        J:
          nodes:
            page:
              type: PageNode
              stage: Scripts
              nodes: [\(nodes.joined(separator: ", "))]
              outcomes: {\(outcomes)}
            \(next)
        """
    }

    private static let both = page(
        node(first, "\"true\""), "{type: UsernameCollectorNode}", "{type: PasswordCollectorNode}", node(last, "in, out"),
        outcomes: "in: password, out: failure", then: password)

    @Test("Two scripts and the collectors of a page show their callbacks in order, and each script gets its own answers")
    func runsTwoScripts() async throws {
        try await TestServer.run(journeys: Self.both) { server in
            for (color, isLoggedIn) in [("red", true), ("blue", false)] {
                var step = try await server.start("J").step
                let types = ["TextOutputCallback", "TextInputCallback", "NameCallback", "PasswordCallback", "TextInputCallback"]
                #expect(step.stage == "Scripts" && step.callbacks.map(\.type) == types)
                let names = step.callbacks.flatMap { $0.input ?? [] }.map(\.name)
                #expect(names == ["IDToken2", "IDToken3", "IDToken4", "IDToken5"])
                step.fill("NameCallback", "mira")
                step.fill("PasswordCallback", .string(TestServer.password))
                step.callbacks[1].answer(.string(color))
                step.callbacks[4].answer("Ulm")
                let reply = try await server.next(step)
                #expect(reply.isLoggedIn == isLoggedIn, "\(reply.text)")
            }
        }
    }

    @Test("A browser shows both scripts and the collectors on one page")
    func browserShowsTwoScripts() async throws {
        try await TestServer.run(journeys: Self.both) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/?authIndexType=service&authIndexValue=J")
            let fields = ["IDToken2": "red", "IDToken3": "mira", "IDToken4": TestServer.password, "IDToken5": "Ulm"]
            let next = try await browser.submit(page, fields)
            #expect(next.heading == "You are signed in")
        }
    }

    @Test("A page that is shown again has the callbacks of its scripts with the answers, and the scripts run when it is complete")
    func repeatsScripts() async throws {
        let journeys = Self.page(
            Self.node(Self.first, "\"true\""), "{type: ValidatedUsernameNode, validateInput: true}",
            Self.node(Self.last, "in, out"),
            outcomes: "in: message, out: failure", then: Self.message)
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.start("J").step
            step.callbacks[1].answer("red")
            step.fill("ValidatedCreateUsernameCallback", "n")
            step.callbacks[3].answer("Ulm")
            step = try await server.next(step).step
            let types = [
                "TextOutputCallback", "TextInputCallback", "ValidatedCreateUsernameCallback", "TextInputCallback",
            ]
            #expect(step.callbacks.map(\.type) == types)
            #expect(step.callbacks[1].output("defaultText") == "red" && step.callbacks[1].input?.first?.name == "IDToken2")
            #expect(step.callbacks[3].output("defaultText") == "Ulm")
            step.fill("ValidatedCreateUsernameCallback", "newcomer")
            // Both scripts get the answers that the page has kept.
            let next = try await server.next(step).step
            #expect(next.callbacks.map(\.type) == ["TextOutputCallback", "ConfirmationCallback"])
        }
    }

    @Test("A script that asks again repeats the page, and the nodes after it keep their answers")
    func scriptAsksAgain() async throws {
        let picky = """
            if (callbacks.isEmpty() || callbacks.get(0).getText() != 'red') {
                callbacksBuilder.textInputCallback('Color?');
            } else {
                outcome = 'true';
            }
            """
        let journeys = Self.page(
            Self.node(picky, "\"true\""), "{type: ChoiceCollectorNode, choices: [in, out], defaultChoice: out}",
            outcomes: "in: message, out: failure", then: Self.message)
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.start("J").step
            step.callbacks[0].answer("blue")
            step.callbacks[1].answer(.integer(0))
            step = try await server.next(step).step
            #expect(step.callbacks.map(\.type) == ["TextInputCallback", "ChoiceCallback"])
            #expect(step.callbacks[1].output("defaultChoice") == .integer(0))
            step.callbacks[0].answer("red")
            let next = try await server.next(step).step
            #expect(next.callbacks.map(\.type) == ["TextOutputCallback", "ConfirmationCallback"])
        }
    }

    /// A node with one outcome that asks nothing.
    static let silent = [
        "{type: TimerStartNode}", "{type: ModifyAuthLevelNode, authLevelIncrement: 2}",
        node("nodeState.putShared('level', 1); outcome = 'true';", "\"true\""),
    ]

    @Test("A node with one outcome that asks nothing adds nothing to the page", arguments: silent)
    func silentNodeAddsNothing(node: String) async throws {
        let journeys = Self.page(
            node, "{type: UsernameCollectorNode}", "{type: PasswordCollectorNode}", outcomes: "outcome: password",
            then: Self.password)
        try await TestServer.run(journeys: journeys) { server in
            let step = try await server.start("J").step
            #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            let reply = try await server.logIn("J")
            #expect(reply.isLoggedIn)
        }
    }

    @Test("A page of which no node asks is passed")
    func passesSilentPage() async throws {
        let asking = """
            if (nodeState.get('level').asInteger() == 1) { outcome = 'in'; } else { callbacksBuilder.textOutputCallback(0, 'x'); }
            """
        let journeys = Self.page(
            Self.node("nodeState.putShared('level', 1); outcome = 'true';", "\"true\""), Self.node(asking, "in, out"),
            outcomes: "in: message, out: failure", then: Self.message)
        try await TestServer.run(journeys: journeys) { server in
            let step = try await server.start("J").step
            #expect(step.stage == nil && step.callbacks.map(\.type) == ["TextOutputCallback", "ConfirmationCallback"])
        }
    }

    @Test("A script that fails before the last node of a page ends the login")
    func failingScriptEndsLogin() async throws {
        let journeys = Self.page(
            Self.node("callbacksBuilder.textOutputCallback(0, 'x'); outcome = nodeState.get('none').asString();", "\"true\""),
            "{type: UsernameCollectorNode}", outcomes: "outcome: message", then: Self.message)
        try await TestServer.run(journeys: journeys) { server in
            let reply = try await server.start("J")
            #expect(reply.status == 501, "\(reply.text)")
        }
    }

    @Test("Of two nodes with several outcomes, the first one is refused")
    func refusesSeveralOutcomes() throws {
        let journeys = Self.page(
            Self.node(Self.first, "yes, no"), Self.node(Self.last, "in, out"), outcomes: "in: password, out: failure",
            then: Self.password)
        let error = #expect(throws: ConfigurationError.self) { try ServerConfiguration.sample(journeys: journeys) }
        let codes = error?.problems.map(\.code)
        #expect(codes == [.notEmbeddable])
    }

    @Test("An imported page with two scripts of one outcome runs")
    func runsImportedPage() async throws {
        let children: [JSONValue] = ["a", "b"].map { id in
            .object(["_id": .string(id), "nodeType": "ScriptedDecisionNode", "displayName": .string("Script \(id)")])
        }
        let script = """
            (function () {
                var fr = JavaImporter(
                    org.forgerock.openam.auth.node.api.Action, javax.security.auth.callback.TextOutputCallback)
                if (callbacks.isEmpty()) {
                    action = fr.Action.send(new fr.TextOutputCallback(fr.TextOutputCallback.INFORMATION, "NAME")).build()
                } else {
                    action = fr.Action.goTo("true").build();
                }
            }());
            """
        func settings(_ id: String) -> [String: JSONValue] { ["script": .string(id), "outcomes": .array(["true"])] }
        let journey = ExportFixtures.journey(
            "Results",
            [
                "1": ("PageNode", "Result Dialog", ["nodes": .array(children)], ["true": ExportFixtures.failure]),
                "a": ("ScriptedDecisionNode", "Results", settings("a"), [:]),
                "b": ("ScriptedDecisionNode", "Button", settings("b"), [:]),
            ], scripts: ["a": script.replacing("NAME", with: "one"), "b": script.replacing("NAME", with: "two")])
        let imported = try ExportFixtures.imported(journey)
        #expect(imported.summaries.map(\.stubs) == [[]], "\(imported.findings)")
        try await TestServer.run(try ServerConfiguration(importing: imported)) { server in
            let step = try await server.start("Results").step
            let messages = step.callbacks.map { $0.output("message") }
            #expect(messages == ["one", "two"])
            let reply = try await server.next(step)
            #expect(reply.status == 401 && reply.message == "Login failure", "\(reply.text)")
        }
    }
}
