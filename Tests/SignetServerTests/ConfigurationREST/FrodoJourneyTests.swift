import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Journeys over AM's configuration REST", .timeLimit(.minutes(5)))
struct FrodoJourneyTests {
    @Test("The tool frodo connects, also with name and password in headers, and to a realm below", arguments: [false, true])
    func connects(usesHeaders: Bool) async throws {
        try await TestServer.run(.administered()) { server in
            _ = try await FrodoClient(server, usesHeaders: usesHeaders)
            let alpha = try await FrodoClient(server, realm: "/realms/root/realms/alpha", usesHeaders: usesHeaders)
            let names = try await alpha.journeys()
            #expect(names.contains("Login") && names == names.sorted())
        }
    }

    /// Imports the six default journeys of PingOne AIC, and returns the client.
    private static func importDefaults(at server: TestServer) async throws -> FrodoClient {
        let client = try await FrodoClient(server)
        for (_, bundle) in try ExportFixtures.bundles("aic").sorted(by: { $0.key < $1.key }) {
            try await client.importJourney(bundle)
        }
        return client
    }

    @Test("The tool frodo exports what it has imported, unchanged")
    func exportsWhatWasImported() async throws {
        let bundles = try ExportFixtures.bundles("aic")
        #expect(bundles.count == 6)
        try await TestServer.run(.administered()) { server in
            let client = try await Self.importDefaults(at: server)
            for (name, bundle) in bundles {
                let exported = try await client.export(name)
                #expect(exported["tree"] == bundle["tree"]?.unrevised)
                for part in ["nodes", "innerNodes"] {
                    let expected = (bundle[part]?.object ?? [:]).mapValues(\.unrevised)
                    #expect(exported[part]?.object == expected, "\(name)")
                }
            }
        }
    }

    @Test("What frodo exports is converted into a configuration file")
    func convertsExport() async throws {
        let exports = Mutex<[String: JSONValue]>([:])
        try await TestServer.run(.administered()) { server in
            let client = try await Self.importDefaults(at: server)
            for name in ["Login", "ProgressiveProfile", "QuestionLogin"] {
                let export = try await client.export(name)
                exports.withLock { $0[name] = export }
            }
        }
        let document = JSONValue.object(["trees": .object(exports.withLock { $0 })])
        let imported = try ExportFixtures.imported(document)
        let stubs = imported.summaries.flatMap(\.stubs)
        #expect(stubs == [], "\(imported.findings)")
        let file = try ServerConfiguration(yaml: imported.yaml)
        #expect(file.journeys.names.sorted() == ["Login", "ProgressiveProfile", "QuestionLogin"])
    }

    @Test(
        "The default journeys of PingOne AIC run as soon as frodo has imported them",
        arguments: ["Login", "Registration", "ResetPassword", "ForgottenUsername"])
    func runsImportedJourneys(name: String) async throws {
        let run = JourneyRun()
        try await run.withServer(.administered()) { server in
            _ = try await Self.importDefaults(at: server)
            let end = try await run.end(of: name, at: server)
            #expect(end.token != nil, "\(end)")
        }
    }

    @Test("The imported UpdatePassword and ProgressiveProfile run")
    func runsFurtherJourneys() async throws {
        let run = JourneyRun()
        try await run.withServer(.administered()) { server in
            _ = try await Self.importDefaults(at: server)
            let login = try await run.end(of: "Login", at: server)
            let token = try #require(login.token)
            let end = try await run.end(of: "UpdatePassword", at: server, token: token)
            #expect(end.token != nil, "\(end)")
            let stubs = server.devServer.context.trees.values.flatMap { tree in tree.nodes.values.filter { $0.node is StubNode } }
            #expect(stubs.isEmpty)
            // ProgressiveProfile was imported after the journey that runs it.
            #expect(server.devServer.context.trees["Login"]?.innerTrees == ["ProgressiveProfile"])
        }
    }

    /// A journey with a node that cannot run.
    private static let risky = ExportFixtures.journey(
        "Risky",
        [
            "9d1f0c11-0000-4000-8000-000000000001": (
                "UsernameCollectorNode", "Name", [:], ["outcome": "9d1f0c11-0000-4000-8000-000000000002"]
            ),
            "9d1f0c11-0000-4000-8000-000000000002": (
                "product-RiskNode", "Risk Check", ["threshold": .integer(3)],
                ["low": ExportFixtures.success, "high": ExportFixtures.failure]
            ),
        ])["trees"]?["Risky"]

    @Test("A node that cannot run becomes a stub that says so, and the log names it")
    func importsStub() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            try await client.importJourney(try #require(Self.risky))
            let entry = server.devServer.requestLog.entries.last { $0.request?.path.hasSuffix("/trees/Risky") == true }
            #expect(entry?.request?["changed"] == "journey Risky added; in Risky cannot run: riskCheck")
            var step = try await server.start("Risky").step
            step.fill("NameCallback", "mira")
            let reply = try await server.next(step)
            #expect(reply.status == 501 && reply.message?.contains("product-RiskNode") == true)
            // Its settings come back, although they have no meaning here.
            let exported = try await client.export("Risky")
            #expect(exported["nodes"]?["9d1f0c11-0000-4000-8000-000000000002"]?["threshold"] == .integer(3))
            let types = try await client.send(.post, "\(FrodoClient.nodes)?_action=getAllTypes", .object([:])).json["result"]
            let names = types?.array?.compactMap { $0["_id"]?.string } ?? []
            #expect(names.contains("product-RiskNode") && names.contains("PageNode") && !names.contains("StubNode"))
        }
    }

    @Test("The tool frodo disables, enables and deletes an imported journey, and one of the configuration file")
    func disablesAndDeletes() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            try await client.importJourney(try #require(Self.risky))
            for name in ["Risky", "QuestionLogin", "EmailLogin"] {
                #expect(try await server.start(name).status == 200)
                #expect(try await client.setEnabled(false, name).json["enabled"] == .bool(false))
                #expect(try await server.start(name).status == 400)
                let tree = try await client.send(.get, "\(FrodoClient.trees)/\(name)").json
                #expect(tree["enabled"] == .bool(false))
                #expect(try await client.setEnabled(true, name).status == 200)
                #expect(try await server.start(name).status == 200)
                try await client.delete(name)
                #expect(try await server.start(name).status == 400)
            }
            #expect(try await client.prune() == 0)
        }
    }

    @Test("The default journey, and one that a journey of the file runs, are neither deleted nor disabled")
    func keepsNeededJourneys() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            #expect(try await client.send(.delete, "\(FrodoClient.trees)/Login").status == 409)
            #expect(try await client.setEnabled(false, "Login").status == 409)
            let reply = try await client.send(.delete, "\(FrodoClient.trees)/Code")
            #expect(reply.status == 409 && reply.message?.contains("OATHLogin") == true)
            #expect(try await server.logIn("Login").isLoggedIn)
        }
    }

    @Test("The tool frodo prunes the nodes that an import left behind")
    func prunesNodes() async throws {
        let bundle = try #require(Self.risky)
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            try await client.importJourney(bundle)
            // frodo gives new ids to the nodes of each import.
            let text = JSON.text(of: bundle).replacing("9d1f0c11", with: "7b20d1aa")
            try await client.importJourney(try JSON.value(of: text.utf8))
            #expect(try await client.prune() == 2)
            #expect(try await client.prune() == 0)
            #expect(try await server.start("Risky").status == 200)
        }
    }

    @Test("A journey of the configuration file becomes documents when one of its nodes is changed")
    func changesNodeOfFile() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let exported = try await client.export("QuestionLogin")
            let found = exported["nodes"]?.object?.first { $0.value["_type"]?["_id"] == "RetryLimitDecisionNode" }
            let (id, node) = try #require(found)
            #expect(node["retryLimit"] == .integer(2))
            let changed = node.setting(.integer(7), at: ["retryLimit"])
            #expect(try await client.send(.put, "\(FrodoClient.nodes)/RetryLimitDecisionNode/\(id)", changed).status == 200)
            let again = try await client.export("QuestionLogin")
            #expect(again["nodes"]?[id]?["retryLimit"] == .integer(7))
            #expect(try await server.start("QuestionLogin").status == 200)
        }
    }

    @Test("A journey of another realm is refused, and one of all realms is changed for all")
    func refusesJourneyOfOtherRealm() async throws {
        let bundle = try #require(Self.risky)
        try await TestServer.run(.administered()) { server in
            let root = try await FrodoClient(server)
            let alpha = try await FrodoClient(server, realm: "/realms/root/realms/alpha")
            try await alpha.importJourney(bundle)
            #expect(try await root.journeys().contains("Risky") == false)
            #expect(try await server.start("Risky").status == 400)
            #expect(try await server.start("Risky", at: "/am/json/alpha/authenticate").status == 200)
            let tree = try #require(bundle["tree"])
            let refused = try await root.send(.put, "\(FrodoClient.trees)/Risky", tree)
            #expect(refused.status == 409)
            #expect(try await alpha.setEnabled(false, "QuestionLogin").status == 200)
            #expect(try await server.start("QuestionLogin").status == 400)
        }
    }

    @Test("A reset restores the journeys and clients of the configuration file")
    func resetRestoresImportedOver() async throws {
        let configuration = ServerConfiguration.administered { $0.adminToken = Secret(AdminTests.token.utf8) }
        try await TestServer.run(configuration) { server in
            let client = try await FrodoClient(server)
            try await client.importJourney(try #require(Self.risky))
            #expect(try await client.setEnabled(false, "EmailLogin").status == 200)
            // A change over `/admin` replaces the document.
            let end = #"{"nodes": {"end": {"type": "FailureNode"}}}"#
            #expect(try await server.admin(.put, "journeys/Risky", end).status == 200)
            let tree = try await client.send(.get, "\(FrodoClient.trees)/Risky").json
            #expect(tree["nodes"]?.object?.isEmpty == true && tree["entryNodeId"]?.string == ExportFixtures.failure)
            #expect(try await server.admin(.post, "reset").status == 200)
            let again = try await FrodoClient(server)
            #expect(try await again.journeys().contains("Risky") == false)
            #expect(try await again.send(.get, "\(FrodoClient.trees)/EmailLogin").json["enabled"] == .bool(true))
        }
    }

    @Test("The journeys of the starter file have the same nodes after an export and an import")
    func exportsStarter() throws {
        var read = ExportDocuments()
        for tree in Journeys.starter.trees {
            let export = TreeExport(tree)
            let bundle: [String: JSONValue] = [
                "tree": export.tree, "nodes": .object(export.nodes), "scripts": .object(export.scripts),
            ]
            read.read(.object(bundle), at: ExportPlace(file: tree.name))
        }
        let imported = JourneyImport(try JourneyExport(read))
        for tree in Journeys.starter.trees {
            let found = imported.journeys.first { $0.name == tree.name }
            let journey = try #require(found)
            let types = journey.nodes.map(\.type).filter { $0 != FailureNode.type.name }.sorted()
            let nodes = tree.nodes.values.map(\.node).filter { !($0 is SuccessNode || $0 is FailureNode) }
            let expected = nodes.map(\.type.name).sorted()
            let findings = imported.findings.filter { $0.journey == tree.name }
            #expect(types == expected, "\(tree.name): \(findings)")
        }
    }
}
