import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Clients and journeys that are changed while the server runs", .timeLimit(.minutes(5)))
struct AdminConfigurationTests {
    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }, body)
    }

    /// Sends a part of a configuration as YAML.
    private func put(_ path: String, _ yaml: String, at server: TestServer) async throws -> Reply {
        let headers = ["Authorization": "Bearer \(AdminTests.token)", "Content-Type": "application/yaml; charset=utf-8"]
        return try await server.send(.put, "/am/admin/\(path)", headers: headers, body: yaml)
    }

    @Test("A client is added, used, changed and removed, as JSON or YAML")
    func changesClients() async throws {
        try await run { server in
            let session = try await server.session()
            #expect(try await server.authorize(session, client: "fresh").status != 302)
            let body = #"{"redirectURIs": ["org.example.app:\/\/callback"], "scopes": ["openid"], "refreshTokens": "none"}"#
            let made = try await server.admin(.put, "clients/fresh", body)
            #expect(made.status == 201 && made.json["public"] == .bool(true) && made.json["realm"] == "/")
            let code = try await server.code(session, client: "fresh", ["scope": "openid"])
            let tokens = try Tokens(try await server.exchange(code, client: "fresh"))
            #expect(tokens.refresh == nil)
            let yaml = """
                # The same client with refresh tokens.
                redirectURIs: [org.example.app://callback]
                refreshTokens: rotate
                """
            #expect(try await put("clients/fresh", yaml, at: server).status == 200)
            let again = try await server.code(session, client: "fresh")
            #expect(try Tokens(try await server.exchange(again, client: "fresh")).refresh != nil)
            #expect(try await server.admin(.put, "clients/fresh?realm=/alpha", "{}").status == 201)
            let clients = try await server.admin(.get, "clients").json["clients"]?.array?.filter { $0["id"] == "fresh" }
            let realms = clients?.compactMap { $0["realm"] }
            #expect(realms == ["/", "/alpha"])
            #expect(try await server.admin(.delete, "clients/fresh").status == 200)
            #expect(try await server.admin(.delete, "clients/fresh").status == 404)
            #expect(try await server.authorize(session, client: "fresh").status != 302)
            #expect(try await server.admin(.get, "clients/fresh?realm=/alpha").status == 200)
        }
    }

    /// A journey that asks for a name and lets the user in.
    private static let nameOnly = """
        nodes:
          name: {type: UsernameCollectorNode, outcomes: {outcome: success}}
        """

    @Test("A journey is added, run, changed and removed")
    func changesJourneys() async throws {
        try await run { server in
            let made = try await put("journeys/NameOnly", Self.nameOnly, at: server)
            #expect(made.status == 201 && made.json["entry"] == "name", "\(made.text)")
            #expect(made.json["nodes"]?.array?.first?["outcomes"]?["outcome"] == "success")
            var step = try await server.start("NameOnly").step
            step.fill("NameCallback", "mira")
            #expect(try await server.next(step).isLoggedIn)
            // Another journey runs it, so it cannot be removed.
            let outer = """
                {"nodes": {"a": {"type": "InnerTreeEvaluatorNode", "tree": "NameOnly",
                "outcomes": {"true": "success", "false": "failure"}}}}
                """
            #expect(try await server.admin(.put, "journeys/Outer", outer).status == 201)
            let refused = try await server.admin(.delete, "journeys/NameOnly")
            #expect(refused.status == 409 && refused.message?.contains("Outer") == true)
            #expect(try await server.admin(.delete, "journeys/Outer").status == 200)
            #expect(try await server.admin(.delete, "journeys/NameOnly").status == 200)
            #expect(try await server.admin(.get, "journeys/NameOnly").status == 404)
            #expect(try await server.start("NameOnly").status == 400)
            #expect(try await server.admin(.delete, "journeys/Login").status == 409, "it is the default journey")
            let inner = #"{"innerTreeOnly": true, "nodes": {"end": {"type": "FailureNode"}}}"#
            #expect(try await server.admin(.put, "journeys/Login", inner).status == 409)
        }
    }

    @Test("A reset restores the clients and journeys of the configuration")
    func resetRestoresConfiguration() async throws {
        try await run { server in
            #expect(try await server.admin(.put, "clients/fresh", "{}").status == 201)
            #expect(try await put("journeys/NameOnly", Self.nameOnly, at: server).status == 201)
            #expect(try await server.admin(.delete, "clients/app").status == 200)
            #expect(try await server.admin(.post, "reset").status == 200)
            #expect(try await server.admin(.get, "clients/fresh").status == 404)
            #expect(try await server.admin(.get, "journeys/NameOnly").status == 404)
            let tokens = try await server.tokens()
            #expect(tokens.refresh != nil)
        }
    }

    /// A journey whose inner journey does not exist.
    private static let unknownInner = """
        nodes:
          a: {type: InnerTreeEvaluatorNode, tree: Logn, outcomes: {true: success, false: failure}}
        """

    /// A journey `Login` that runs a journey which runs `Login`.
    private static let recursive = """
        nodes:
          a: {type: InnerTreeEvaluatorNode, tree: Code, outcomes: {true: b, false: failure}}
          b: {type: InnerTreeEvaluatorNode, tree: QuestionLogin, outcomes: {true: success, false: failure}}
        """

    /// Parts with mistakes: the address, the body as YAML, the line of the problem and a part of the message.
    static let mistakes: [(String, String, Int?, String)] = [
        ("clients/fresh", "redirectURIs: []\nscops: [openid]\n", 2, "there is no setting `scops`: did you mean `scopes`?"),
        ("clients/fresh", "id: other\n", nil, "'id' is another one"),
        ("clients/fresh?realm=/alpha", "realm: /\n", nil, "'realm' is another one"),
        ("clients/fresh?realm=/none", "{}", nil, "realm"), ("clients/fresh", "- a\n", 1, "settings belong here"),
        ("clients/fresh", "", nil, "empty"), ("journeys/J", "nodes: {}\n", 1, "a journey needs `nodes`"),
        ("journeys/J", unknownInner, 2, "there is no journey `Logn`: did you mean `Login`?"),
        ("journeys/Login", recursive, 1, "recursive inner journey"),
        ("journeys/J", "nodes:\n  a: {type: UsernameCollectorNode}\n", 2, "outcome `outcome` has no target"),
    ]

    @Test("A mistake in a part is reported with its line, like in a file, and changes nothing", arguments: mistakes)
    func reportsMistakes(path: String, body: String, line: Int?, word: String) async throws {
        try await run { server in
            let clients = server.devServer.context.clients.all.count
            let trees = server.devServer.context.trees.count
            let reply = try await put(path, body, at: server)
            #expect((400...404).contains(reply.status) && reply.message?.contains(word) == true, "\(reply.text)")
            let problems = reply.json["detail"]?["problems"]?.array
            let expected = line.map { Int64($0) }
            #expect(problems?.first?["line"]?.lenientInteger == expected, "\(reply.text)")
            #expect(server.devServer.context.clients.all.count == clients && server.devServer.context.trees.count == trees)
        }
    }

    @Test("A part in another format than YAML and JSON is refused")
    func refusesOtherFormats() async throws {
        try await run { server in
            let headers = ["Authorization": "Bearer \(AdminTests.token)", "Content-Type": "text/plain"]
            let reply = try await server.send(.put, "/am/admin/clients/x", headers: headers, body: "{}")
            #expect(reply.status == 415)
            #expect(try await server.admin(.put, "clients/x", "[1]").status == 400)
        }
    }
}
