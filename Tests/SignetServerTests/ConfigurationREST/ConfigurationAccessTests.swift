import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Access to AM's configuration REST", .timeLimit(.minutes(5)))
struct ConfigurationAccessTests {
    /// Addresses of the configuration in the top-level realm.
    static let paths = [
        "realms/root/\(FrodoClient.trees)?_queryFilter=true", "realms/root/\(FrodoClient.nodes)/PageNode?_queryFilter=true",
        "scripts?_queryFilter=true", "realms/root/realm-config/agents/OAuth2Client?_queryFilter=true",
        "global-config/realms?_queryFilter=true", "realms/root/users?_queryFilter=true", "realms/root/users/mira",
        "realms/root/realm-config/nothing",
    ]

    @Test("Without an administrator, and turned off, the addresses do not exist", arguments: paths, [false, true])
    func isOffByDefault(path: String, hasAdministrator: Bool) async throws {
        let configuration = hasAdministrator ? ServerConfiguration.administered { $0.configurationREST = .off } : .sample()
        try await TestServer.run(configuration) { server in
            let name = hasAdministrator ? FrodoClient.name : "mira"
            let password = hasAdministrator ? FrodoClient.password : TestServer.password
            let session = try await server.session(name: name, password: password)
            let reply = try await server.send(.get, "/am/json/\(path)", headers: ["iPlanetDirectoryPro": session])
            // The users have an action at their address.
            #expect(reply.status == (path.hasSuffix("users?_queryFilter=true") ? 405 : 404))
        }
    }

    @Test("A request without a session gets 401, and another user's 403", arguments: paths)
    func requiresAdministrator(path: String) async throws {
        try await TestServer.run(.administered()) { server in
            let none = try await server.send(.get, "/am/json/\(path)", headers: [:])
            #expect(none.status == 401 && none.message == "Access Denied")
            let session = try await server.session()
            let other = try await server.send(.get, "/am/json/\(path)", headers: ["iPlanetDirectoryPro": session])
            #expect(other.status == 403 && other.message == "The user has insufficient privileges")
        }
    }

    @Test("A page in a browser is refused, also with the cookie of an administrator")
    func refusesPages() async throws {
        try await TestServer.run(.administered { $0.configurationREST = .network }) { server in
            let client = try await FrodoClient(server)
            for (name, value) in [
                ("Origin", "http://127.0.0.1"), ("Origin", "null"), ("Sec-Fetch-Site", "same-origin"),
                ("Sec-Fetch-Site", "same-site"),
            ] {
                #expect(try await client.send(.get, "\(FrodoClient.trees)/Login", nil, [name: value]).status == 404)
            }
        }
    }

    @Test("Another machine is admitted only when the configuration says so", arguments: [false, true])
    func refusesOtherMachines(isOpen: Bool) async throws {
        try await TestServer.run(.administered { $0.configurationREST = isOpen ? .network : .loopback }) { server in
            let client = try await FrodoClient(server)
            let reply = try await client.send(.get, "\(FrodoClient.trees)/Login", nil, ["X-Forwarded-For": "192.0.2.7"])
            #expect(reply.status == (isOpen ? 200 : 404))
        }
    }

    @Test("An administrator of a realm configures that realm only")
    func limitsAdministratorOfRealm() async throws {
        let configuration = ServerConfiguration.sample {
            var administrator = User(name: "gatekeeper", password: Secret("alpha gate".utf8), realm: "/alpha")
            administrator.isAdministrator = true
            $0.users.append(administrator)
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session(
                name: "gatekeeper", password: "alpha gate", at: "/am/json/alpha/authenticate")
            let headers = ["iPlanetDirectoryPro": session]
            let own = try await server.send(.get, "/am/json/alpha/\(FrodoClient.trees)?_queryFilter=true", headers: headers)
            #expect(own.status == 200)
            for path in ["realms/root/\(FrodoClient.trees)?_queryFilter=true", "global-config/realms?_queryFilter=true"] {
                #expect(try await server.send(.get, "/am/json/\(path)", headers: headers).status == 401)
            }
        }
    }

    /// A journey that lets each user in without a password.
    private static let open = "Open:\n  nodes: {name: {type: UsernameCollectorNode, outcomes: {outcome: success}}}"

    @Test("Neither a journey without a password nor a page for tests logs an administrator in")
    func requiresPassword() async throws {
        let configuration = try ServerConfiguration.sample(journeys: Self.open) {
            var administrator = User(name: FrodoClient.name, password: Secret(FrodoClient.password.utf8))
            administrator.isAdministrator = true
            $0.users.append(administrator)
            $0.adminToken = Secret(AdminTests.token.utf8)
        }
        try await TestServer.run(configuration) { server in
            for (name, isAdmitted) in [("mira", true), (FrodoClient.name, false)] {
                var step = try await server.start("Open").step
                step.fill("NameCallback", .string(name))
                let reply = try await server.next(step)
                #expect(reply.isLoggedIn == isAdmitted, "\(reply.text)")
            }
            let body = #"{"user": "\#(FrodoClient.name)"}"#
            #expect(try await server.admin(.post, "sessions", body).status == 409)
        }
    }

    @Test("The conditions of a request are checked")
    func checksConditions() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.nodes)/UsernameCollectorNode/5a3f0c11-0000-4000-8000-000000000001"
            let node = JSONValue.object([:])
            #expect(try await client.send(.put, path, node, ["If-Match": "*"]).status == 404)
            let made = try await client.send(.put, path, node, ["If-None-Match": "*"])
            #expect(made.status == 201)
            let tag = try #require(made.header("ETag"))
            #expect(try await client.send(.put, path, node, ["If-None-Match": "*"]).status == 412)
            #expect(try await client.send(.delete, path, nil, ["If-Match": "\"0\""]).status == 412)
            #expect(try await client.send(.get, path, nil, ["If-None-Match": tag]).status == 304)
            #expect(try await client.send(.delete, path, nil, ["If-Match": tag]).status == 200)
            #expect(try await client.send(.get, path).json["message"] == "Not Found")
        }
    }

    /// Requests that are refused: the path, the body, and the status.
    static let refused: [(String, String, Int)] = [
        ("\(FrodoClient.trees)/A", "{}", 400), ("\(FrodoClient.trees)/A", #"{"nodes": {}, "entryNodeId": "x"}"#, 400),
        ("\(FrodoClient.trees)/A", #"{"nodes": {"x": "bad data"}, "entryNodeId": "x"}"#, 400),
        ("\(FrodoClient.trees)/A", "[1]", 400), ("\(FrodoClient.trees)/%0A", #"{"nodes": {}}"#, 400),
        ("\(FrodoClient.nodes)/PageNode/\(String(repeating: "a", count: 300))", "{}", 400),
        ("\(FrodoClient.agents)/WebAgent/a", "{}", 501),
        (
            "\(FrodoClient.agents)/OAuth2Client/a",
            #"{"coreOAuth2ClientConfig": {"clientType": "Public", "redirectionUris": ["not an address"]}}"#, 400
        ),
    ]

    @Test("A document that cannot be used is refused, and nothing is changed", arguments: refused)
    func refusesDocument(path: String, body: String, status: Int) async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let reply = try await client.send(.put, path, try JSON.value(of: body.utf8))
            #expect(reply.status == status, "\(reply.text)")
            let context = server.devServer.context
            #expect(context.trees["A"] == nil && context.clients[ClientKey(realm: .root, id: "a")] == nil)
        }
    }

    @Test("A document larger than 4 MiB is refused, and the sum of all documents has a limit")
    func limitsSize() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let text = JSONValue.string(String(repeating: "a", count: 4 << 20))
            let reply = try await client.send(.put, "\(FrodoClient.nodes)/PageNode/a", .object(["pageHeader": text]))
            #expect(reply.status == 413)
        }
        var documents = ConfigurationDocuments()
        let key = ConfigurationDocuments.Key(realm: .root, id: "a")
        documents.nodes[key] = .string(String(repeating: "a", count: ConfigurationDocuments.maxSize))
        var status: HTTPResponse.Status?
        do throws(APIError) { try documents.checkLimits() } catch { status = error.status }
        #expect(status == .contentTooLarge)
        documents.nodes[key] = nil
        #expect(documents.nodes.size == 0 && documents.nodes.count == 0)
    }

    @Test("No answer has the secret of a node, and a change is in the request log without it")
    func answersNoSecretOfNode() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.nodes)/OneTimePasswordSmtpSenderNode/5a3f0c11-0000-4000-8000-000000000002"
            let node = JSONValue.object([
                "hostName": "mail.example.test", "password": "keel-line-3", "passwordAttribute": "password",
            ])
            let made = try await client.send(.put, path, node)
            #expect(made.status == 201 && made.json["password"] == .null && made.json["passwordAttribute"] == "password")
            let read = try await client.send(.get, path)
            #expect(read.json["hostName"] == "mail.example.test" && !read.text.contains("keel-line-3"))
            let log = server.devServer.requestLog.entries
            let changed = log.compactMap { $0.request?["changed"] }
            #expect(changed == ["node of type OneTimePasswordSmtpSenderNode added"])
            #expect(!"\(log)".contains("keel-line-3") && !"\(log)".contains(FrodoClient.password))
        }
    }

    /// Addresses and their resources; nil for addresses that are not of the configuration.
    static let addresses: [(String, ConfigurationAddress.Resource?, String)] = [
        ("/json/realms/root/realm-config/authentication/authenticationtrees/trees", .trees, "/"),
        ("/json/realms/root/realms/alpha/\(FrodoClient.trees)/users", .tree("users"), "/alpha"),
        ("/json/alpha/\(FrodoClient.nodes)/PageNode/a%20b", .node(type: "PageNode", id: "a b"), "/alpha"),
        ("/json/realm-config/agents/OAuth2Client/app", .agent(type: "OAuth2Client", id: "app"), "/"),
        ("/json/realms/root/scripts/authenticate", .script("authenticate"), "/"), ("/json/scripts", .scripts, "/"),
        ("/json/global-config/realms/", .realms, "/"), ("/json/realms/root/users/mira", .user("mira"), "/"),
        ("/json/realms/root/realm-config/saml2", .unknown("saml2"), "/"),
        ("/json/realms/root/authenticate", nil, "/"), ("/json/realms/root/users/mira/devices/2fa/oath", nil, "/"),
        ("/json/scripts/authenticate", nil, "/"), ("/json//scripts", nil, "/"), ("/oauth2/scripts", nil, "/"),
    ]

    @Test("An address has its resource and its realm", arguments: addresses)
    func readsAddress(path: String, resource: ConfigurationAddress.Resource?, realm: String) {
        let address = ConfigurationAddress(path: path, .get) { _ in nil }
        #expect(address?.resource == resource)
        if let address { #expect(address.realm.description == realm) }
    }

    @Test("The setting is read from the file", arguments: ConfigurationRESTAccess.allCases)
    func readsSetting(access: ConfigurationRESTAccess) throws {
        let file = try ServerConfiguration(yaml: "server: {configurationREST: \(access.rawValue)}")
        #expect(file.configurationREST == access)
        #expect(ServerConfiguration().configurationREST == .loopback)
    }
}
