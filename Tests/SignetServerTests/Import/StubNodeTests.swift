import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Imported nodes that cannot run")
struct StubNodeTests {
    /// A login whose second node has a type of another vendor.
    private static let risky = ExportFixtures.journey(
        "Risky",
        [
            "1": ("UsernameCollectorNode", "Name", [:], ["outcome": "2"]),
            "2": (
                "product-RiskNode", "Risk Check", ["apiKey": "hidden"],
                ["low": ExportFixtures.success, "high": ExportFixtures.failure]
            ),
        ])

    @Test("A login that reaches the node ends with its name and type, and the server logs the reason")
    func namesNode() async throws {
        let log = RecordingLog()
        let imported = try ExportFixtures.imported(Self.risky)
        try await TestServer.run(try ServerConfiguration(importing: imported), logger: log.logger) { server in
            var step = try await server.start("Risky").step
            step.fill("NameCallback", "demo")
            let reply = try await server.next(step)
            #expect(
                reply.status == 501 && reply.message == "node 'riskCheck' of type product-RiskNode cannot run in signet serve")
        }
        #expect(log.lines.contains("warning login failed") && log.lines.contains("this server has no node of this type"))
    }

    @Test("The report names the file, the place, the journey and the node, and no setting of it")
    func reportsStub() throws {
        let stub = try ExportFixtures.imported(Self.risky).findings.first { $0.severity == .stub }
        let finding = try #require(stub)
        #expect(finding.file == "0.json" && finding.pointer == "/trees/Risky/nodes/2")
        #expect(finding.journey == "Risky" && finding.node == "riskCheck")
        #expect(!finding.description.contains("hidden"))
    }

    @Test("With the outcome of the client's choice, the journey continues there", arguments: [(0, 401), (1, 200)])
    func asksForOutcome(index: Int64, status: Int) async throws {
        let imported = try ExportFixtures.imported(Self.risky, stubs: .ask)
        try await TestServer.run(try ServerConfiguration(importing: imported)) { server in
            var step = try await server.start("Risky").step
            step.fill("NameCallback", "demo")
            var question = try await server.next(step).step
            #expect(question.callbacks[0].output("choices") == .array(["high", "low"]))
            question.fill("ChoiceCallback", .integer(index))
            #expect(try await server.next(question).status == status)
        }
    }

    @Test("With an outcome in the file, the journey continues there, and an unknown one is a mistake")
    func continuesWithOutcome() async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: stub}}
                stub: {type: StubNode, outcome: low, outcomes: {low: success, high: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.start("J").step
            step.fill("NameCallback", "mira")
            #expect(try await server.next(step).isLoggedIn)
        }
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration.sample(journeys: journeys.replacing("outcome: low", with: "outcome: medium"))
        }
    }

    /// Nodes that cannot run, each alone in a journey, and a part of the reason.
    static let unsupported: [(String, [String: JSONValue], [String: String], String)] = [
        ("designer-3f8a", [:], ["yes": ExportFixtures.success], "custom node"),
        ("InnerTreeEvaluatorNode", ["tree": "Gone"], ["true": ExportFixtures.success], "journey `Gone`"),
        ("InnerTreeEvaluatorNode", ["tree": "J"], ["true": ExportFixtures.success], "never end"),
        ("ScriptedDecisionNode", ["script": "gone", "outcomes": .array(["a"])], ["a": ExportFixtures.success], "script `gone`"),
        ("ScriptedDecisionNode", ["script": "http", "outcomes": .array(["a"])], ["a": ExportFixtures.success], "uses"),
        ("ChoiceCollectorNode", ["prompt": "Which?"], ["a": ExportFixtures.success], "`choices` is missing"),
        ("PageNode", ["nodes": .array([.object(["_id": "x", "nodeType": "FaceNode", "displayName": "Face"])])], [:], "`Face`"),
        ("MessageNode", ["message": "Hm"], ["true": "missing"], "does not have the node `missing`"),
        ("ZeroNode", [:], [:], "no node of this type"),
    ]

    @Test("Each node that cannot run is reported with the reason", arguments: unsupported)
    func reportsReason(type: String, settings: [String: JSONValue], targets: [String: String], reason: String) throws {
        let journey = ExportFixtures.journey(
            "J", ["1": (type, "It", settings, targets)], scripts: ["http": "httpClient.send({}); outcome = 'a';"])
        let imported = try ExportFixtures.imported(journey)
        let stubs = imported.findings.filter { $0.severity == .stub }
        #expect(stubs.count == 1 && stubs.first?.text.contains(reason) == true, "\(imported.findings)")
        #expect(imported.summaries.first?.stubs.count == 1)
        // The journey is still one that a server accepts.
        _ = try ServerConfiguration(yaml: imported.yaml)
    }
}
