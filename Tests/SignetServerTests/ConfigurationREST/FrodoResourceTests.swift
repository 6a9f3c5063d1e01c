import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Scripts, clients, realms and users over AM's configuration REST", .timeLimit(.minutes(5)))
struct FrodoResourceTests {
    private static let scriptID = "5f1e9d40-1111-4222-8333-444455556666"

    private static func script(_ source: String) -> JSONValue {
        .object([
            "_id": .string(scriptID), "name": "Harbor Decision", "description": "", "language": "JAVASCRIPT",
            "context": "AUTHENTICATION_TREE_DECISION_NODE", "default": .bool(false), "createdBy": "null",
            "script": .string(Base64.encode(Array(source.utf8), as: .standard)),
        ])
    }

    /// A journey with a script: a name, and a decision by it.
    private static let scripted = ExportFixtures.journey(
        "Scripted",
        [
            "1a1f0c11-0000-4000-8000-000000000001": (
                "ScriptedDecisionNode", "Decide", ["script": .string(scriptID), "outcomes": .texts(["yes", "no"])],
                ["yes": "1a1f0c11-0000-4000-8000-000000000002", "no": ExportFixtures.failure]
            ),
            "1a1f0c11-0000-4000-8000-000000000002": (
                "UsernameCollectorNode", "Name", [:], ["outcome": ExportFixtures.success]
            ),
        ])["trees"]?["Scripted"]

    @Test("The tool frodo imports, lists, exports and deletes a script, and its journey follows each change")
    func managesScripts() async throws {
        let bundle = try #require(Self.scripted)
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "scripts/\(Self.scriptID)"
            let made = try await client.send(.put, path, Self.script("outcome = 'no';"), version: FrodoClient.global)
            #expect(made.status == 201, "\(made.text)")
            try await client.importJourney(bundle)
            #expect(try await server.start("Scripted").status == 401)
            let changed = try await client.send(.put, path, Self.script("outcome = 'yes';"), version: FrodoClient.global)
            #expect(changed.status == 200)
            #expect(try await server.start("Scripted").status == 200)
            for filter in ["true", "name+eq+%22Harbor+Decision%22"] {
                let list = try await client.send(.get, "scripts?_queryFilter=\(filter)", version: FrodoClient.global).json
                let ids = list["result"]?.array?.compactMap { $0["_id"]?.string }
                #expect(ids?.contains(Self.scriptID) == true)
            }
            let exported = try await client.send(.get, path, version: FrodoClient.global).json
            #expect(exported.unrevised == Self.script("outcome = 'yes';"))
            #expect(try await client.send(.delete, path, version: FrodoClient.global).status == 200)
            #expect(try await client.send(.get, path, version: FrodoClient.global).status == 404)
            #expect(try await server.start("Scripted").status == 501)
        }
    }

    @Test("A script without a name, or that is not base64, is refused", arguments: ["{}", #"{"name": "A", "script": "?"}"#])
    func refusesScript(body: String) async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let reply = try await client.send(.put, "scripts/\(Self.scriptID)", try JSON.value(of: body.utf8))
            #expect(reply.status == 400)
        }
    }

    /// A client as AM 7 writes it, with a setting that has no meaning here.
    private static func client(secret: String?) -> JSONValue {
        func value(_ value: JSONValue) -> JSONValue { .object(["inherited": .bool(false), "value": value]) }
        var core: [String: JSONValue] = [
            "clientType": value("Confidential"), "redirectionUris": value(.texts([TestServer.redirectURI])),
            "scopes": value(.texts(["openid", "profile|en|Your profile"])), "accessTokenLifetime": value(.integer(900)),
        ]
        core["userpassword"] = secret.map { .string($0) }
        return .object([
            "_id": "harbor", "coreOAuth2ClientConfig": .object(core),
            "advancedOAuth2ClientConfig": .object([
                "isConsentImplied": value(.bool(true)), "grantTypes": value(.texts(["authorization_code"])),
                "mixUpMitigation": value(.bool(false)),
            ]),
        ])
    }

    @Test("The tool frodo imports, lists, exports and deletes a client, and no answer has its secret")
    func managesClients() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.agents)/OAuth2Client/harbor"
            #expect(try await client.send(.get, path).status == 404)
            let made = try await client.send(.put, path, Self.client(secret: "anchor-chain-77"))
            #expect(made.status == 201 && !made.text.contains("anchor-chain-77"), "\(made.text)")
            let session = try await server.session()
            let code = try await server.code(session, client: "harbor", ["scope": "openid"])
            let tokens = try await server.exchange(code, client: "harbor", ["client_secret": "anchor-chain-77"])
            #expect(tokens.json["expires_in"] == .integer(900) && tokens.json["refresh_token"] == nil, "\(tokens.text)")
            let exported = try await client.send(.get, path).json
            #expect(exported["coreOAuth2ClientConfig"]?["userpassword"] == .null)
            #expect(exported["advancedOAuth2ClientConfig"]?["mixUpMitigation"]?["value"] == .bool(false))
            #expect(exported["coreOAuth2ClientConfig"]?["scopes"]?["value"] == .texts(["openid", "profile|en|Your profile"]))
            // An export has no secret: the client keeps its own.
            #expect(try await client.send(.put, path, exported.unrevised).status == 200)
            let again = try await server.code(session, client: "harbor", ["scope": "openid"])
            #expect(try await server.exchange(again, client: "harbor", ["client_secret": "anchor-chain-77"]).status == 200)
            let list = try await client.send(.get, "\(FrodoClient.agents)/OAuth2Client?_queryFilter=true").json["result"]
            let ids = list?.array?.compactMap { $0["_id"]?.string }
            #expect(ids?.contains("harbor") == true && ids?.contains("app") == true)
            #expect(try await client.send(.delete, path).json["success"] == .bool(true))
            #expect(try await server.authorize(session, client: "harbor").status != 302)
        }
    }

    @Test("A confidential client without a secret gets none that is known, and is not a public client")
    func inventsSecret() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.agents)/OAuth2Client/harbor"
            #expect(try await client.send(.put, path, Self.client(secret: nil)).status == 201)
            let made = server.devServer.context.clients[ClientKey(realm: .root, id: "harbor")]
            #expect(try #require(made).secret?.count == 32)
        }
    }

    @Test(
        "The client of the file is exported in AM's form, and an import of it changes nothing",
        arguments: [nil, "https://app.example.test/logo.png", "data:image/png;base64,iVBORw0KGgo="])
    func exportsClientOfFile(logo: String?) async throws {
        let configuration = ServerConfiguration.administered {
            for index in $0.clients.indices where $0.clients[index].id == "app" { $0.clients[index].logo = logo }
        }
        try await TestServer.run(configuration) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.agents)/OAuth2Client/app"
            let before = server.devServer.context.clients[ClientKey(realm: .root, id: "app")]
            let exported = try await client.send(.get, path).json
            #expect(exported["coreOAuth2ClientConfig"]?["clientType"]?["value"] == "Public")
            #expect(try await client.send(.put, path, exported.unrevised).status == 200)
            #expect(server.devServer.context.clients[ClientKey(realm: .root, id: "app")] == before)
        }
    }

    @Test("The tool frodo lists the realms, and finds no agents, services and providers")
    func listsRealms() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let realms = try await client.send(.get, "global-config/realms/?_queryFilter=true", version: FrodoClient.global)
            let names = realms.json["result"]?.array?.compactMap { $0["name"]?.string }
            #expect(names == ["/", "alpha"])
            let parents = realms.json["result"]?.array?.compactMap { $0["parentPath"] }
            #expect(parents == [.null, "/"] && realms.json["result"]?.array?.first?["_id"] == "Lw")
            for path in ["services", "services/SocialIdentityProviders"] {
                let reply = try await client.send(.post, "realm-config/\(path)?_action=nextdescendents", .object([:]))
                #expect(reply.status == 200 && reply.json["result"] == .array([]))
            }
            for type in ["2.2_Agent", "J2EEAgent", "WebAgent", "IdentityGatewayAgent"] {
                let reply = try await client.send(.get, "\(FrodoClient.agents)/\(type)?_queryFilter=true")
                #expect(reply.status == 200 && reply.json["result"] == .array([]))
            }
            let provider = try await client.send(.get, "realm-config/services/oauth-oidc")
            #expect(provider.json["_type"]?["_id"] == "oauth-oidc")
            #expect(try await client.send(.get, "realm-config/saml2?_queryFilter=true").status == 404)
            #expect(try await client.send(.delete, "global-config/realms/Lw").status == 501)
        }
    }

    @Test("Users are created, listed, changed, used and deleted")
    func managesUsersAsAM() async throws {
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let version = "protocol=2.1,resource=3.0"
            let body = JSONValue.object(["username": "zoe", "userpassword": "Passw0rd!", "mail": "zoe@example.test"])
            let made = try await client.send(.post, "users?_action=create", body, version: version)
            #expect(made.status == 201 && made.json["mail"] == .texts(["zoe@example.test"]) && !made.text.contains("Passw0rd"))
            #expect(try await client.send(.post, "users?_action=create", body, version: version).status == 409)
            #expect(try await server.logIn("Login", name: "zoe", password: "Passw0rd!").isLoggedIn)
            let found = try await client.send(
                .get, "users?_queryFilter=mail+co+%22zoe%22&_fields=username,mail", version: version)
            #expect(found.json["resultCount"] == .integer(1) && found.json["result"]?.array?.first?["realm"] == nil)
            let changed = try await client.send(
                .put, "users/zoe", .object(["givenName": .texts(["Zoe"]), "inetUserStatus": .texts(["Inactive"])]),
                version: version)
            #expect(
                changed.json["givenName"] == .texts(["Zoe"]) && changed.json["inetUserStatus"] == .texts(["Inactive"]),
                "\(changed.text)")
            #expect(try await server.logIn("Login", name: "zoe", password: "Passw0rd!").isLoggedIn == false)
            #expect(try await client.send(.delete, "users/zoe", version: version).status == 200)
            #expect(try await client.send(.get, "users/zoe", version: version).status == 404)
            #expect(try await client.send(.delete, "users/mira", version: version).status == 403)
            #expect(try await client.send(.get, "users/mira", version: version).json["username"] == "mira")
        }
    }

    @Test("Each type of nodes has a schema and a template")
    func describesTypes() async throws {
        for type in NodeDocument.types {
            let schema = try #require(NodeDocument.schema(type.name))
            #expect(schema["type"] == "object" && NodeDocument.template(type.name)?.object != nil)
        }
        try await TestServer.run(.administered()) { server in
            let client = try await FrodoClient(server)
            let path = "\(FrodoClient.nodes)/RetryLimitDecisionNode"
            let schema = try await client.send(.post, "\(path)?_action=schema", .object([:]))
            #expect(schema.json["properties"]?["retryLimit"]?["type"] == "integer", "\(schema.text)")
            let template = try await client.send(.post, "\(path)?_action=template", .object([:]))
            #expect(template.json["retryLimit"]?.lenientInteger != nil, "\(template.text)")
            #expect(try await client.send(.post, "\(FrodoClient.nodes)/NoNode?_action=schema", .object([:])).status == 404)
        }
    }
}
