import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The conformance profile, and signed userinfo")
struct ConformanceProfileTests {
    private static let openid = ServerConfiguration.sample { $0.profile = .openid }

    @Test(
        "With the profile openid, responses of the authorization endpoint have no client_id",
        arguments: ["query", "form_post"])
    func omitsClientID(mode: String) async throws {
        try await TestServer.run(Self.openid) { server in
            let session = try await server.session()
            func answer(_ changes: [String: String?]) async throws -> Set<String> {
                let request: [String: String?] = ["response_mode": mode, "redirect_uri": "http://127.0.0.1/callback"]
                let reply = try await server.authorize(session, changes.merging(request) { $1 })
                guard mode == "query" else { return Set(reply.hiddenFields.keys) }
                return Set(try reply.location.keys)
            }
            #expect(try await answer([:]) == ["code", "iss", "state"])
            #expect(try await answer(["response_type": nil]) == ["error", "error_description", "iss", "state"])
        }
    }

    @Test(
        "The claims realm and tokenName, and the version in the metadata, are additions of AM",
        arguments: [(ConformanceProfile.am, true), (.openid, false)])
    func addsMembersOfAM(profile: ConformanceProfile, isAdded: Bool) async throws {
        try await TestServer.run(.sample { $0.profile = profile }) { server in
            let claims = try await server.claims(try #require(try await server.tokens().id))
            #expect((claims["realm"] == "/") == isAdded && (claims["tokenName"] == "id_token") == isAdded)
            #expect((claims["realm"] != nil) == isAdded && (claims["tokenName"] != nil) == isAdded)
            let document = try await server.send(.get, "/am/oauth2/.well-known/openid-configuration", headers: [:]).json
            #expect((document["version"] != nil) == isAdded)
        }
    }

    @Test("Unknown scopes are refused as at AM, and ignored with the profile openid unless all are unknown")
    func treatsUnknownScopes() async throws {
        try await TestServer.run { server in
            let answer = try await server.authorize(try await server.session(), ["scope": "openid admin"]).location
            #expect(answer["error"] == "invalid_scope")
        }
        try await TestServer.run(Self.openid) { server in
            let session = try await server.session()
            let code = try await server.code(session, ["scope": "openid admin email"])
            #expect(try Tokens(try await server.exchange(code)).json["scope"] == "openid email")
            let answer = try await server.authorize(session, ["scope": "admin root"]).location
            #expect(answer["error"] == "invalid_scope" && answer["code"] == nil)
        }
    }

    @Test("Tokens of a client without a back-channel logout URI outlive the session", arguments: ConformanceProfile.allCases)
    func tokensOutliveSession(profile: ConformanceProfile) async throws {
        try await TestServer.run(.sample { $0.profile = profile }) { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            let code = try await server.code(session)
            let ended = try await server.sessionAction("logout", ["iPlanetDirectoryPro": session])
            #expect(ended.status == 200)
            #expect(try await !server.isValid(session))
            #expect(try await server.userInfo(tokens.access).status == 200)
            #expect(try await server.refresh(try #require(tokens.refresh)).status == 200)
            #expect(try await server.exchange(code).status == 200)
        }
    }

    @Test("The refusal of a request without PKCE names the setting that permits it", arguments: ConformanceProfile.allCases)
    func namesSettingForPKCE(profile: ConformanceProfile) async throws {
        try await TestServer.run(.sample { $0.profile = profile }) { server in
            let changes: [String: String?] = ["code_challenge": nil, "code_challenge_method": nil]
            let answer = try await server.authorize(try await server.session(), changes).location
            #expect(answer["error"] == "invalid_request")
            #expect(answer["error_description"]?.contains("requirePKCE: false") == true)
        }
    }

    @Test("The metadata names the modes, the claims parameter, signed userinfo and the back-channel logout")
    func publishesFeaturesOfOpenID() async throws {
        try await TestServer.run { server in
            let document = try await server.send(.get, "/am/oauth2/.well-known/openid-configuration", headers: [:]).json
            #expect(document["response_modes_supported"] == .array(["query", "fragment", "form_post"]))
            #expect(document["userinfo_signing_alg_values_supported"] == .array(["ES256", "EdDSA", "PS256", "RS256"]))
            for name in [
                "claims_parameter_supported", "backchannel_logout_supported", "backchannel_logout_session_supported",
            ] { #expect(document[name] == .bool(true), "\(name)") }
        }
    }

    @Test("The configuration file sets the profile and the signature of userinfo, and refuses other words")
    func readsProfile() throws {
        #expect(try ServerConfiguration(yaml: "realms: [/]").profile == .am)
        #expect(try ServerConfiguration(yaml: "profile: am").profile == .am)
        #expect(try ServerConfiguration(yaml: "{profile: openid, server: {issuer: Harbor}}").profile == .openid)
        let file = try ServerConfiguration(yaml: "clients: [{id: a, userinfoSignedResponseAlg: RS256}, {id: b}]")
        #expect(file.clients.map(\.userInfoSigningAlgorithm) == [.rs256, nil])
        for text in ["profile: fapi", "profile: [am]", "server: {profile: openid}"] {
            #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: text) }
        }
        for algorithm in ["HS256", "none", "rs256", "true"] {
            let text = "clients: [{id: a, userinfoSignedResponseAlg: \(algorithm)}]"
            #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: text) }
        }
    }

    @Test("A client can get its userinfo signed, with the issuer and the client", arguments: ConformanceProfile.allCases)
    func signsUserInfo(profile: ConformanceProfile) async throws {
        let configuration = ServerConfiguration.sample {
            $0.profile = profile
            $0.clients.append(
                RegisteredClient(id: "signed", redirectURIs: [TestServer.redirectURI]) { $0.userInfoSigningAlgorithm = .rs256 })
            // The attributes imitate the claims of an id_token.
            $0.users[0].claims = [
                "email": "mira@example.test", "department": "Lab", "tokenName": "id_token", "realm": "/", "sid": "x",
                "azp": "signed", "iss": "x", "aud": "x", "exp": .integer(4_102_444_800), "iat": .integer(1),
                "auth_time": .integer(1),
            ]
        }
        try await TestServer.run(configuration) { server in
            let request: [String: String?] = ["scope": "openid email"]
            let tokens = try await server.tokens(client: "signed", request)
            let reply = try await server.userInfo(tokens.access)
            #expect(reply.status == 200 && reply.header("Content-Type") == "application/jwt")
            #expect(reply.header("Cache-Control") == "no-store")
            let claims = try await server.claims(reply.text)
            #expect(
                claims == [
                    "iss": "http://127.0.0.1:8080/am/oauth2", "aud": "signed", "sub": "mira", "email": "mira@example.test",
                    "department": "Lab",
                ])
            // It is not an id_token.
            let hint: [String: String?] = ["id_token_hint": reply.text]
            let answer = try await server.authorize(try await server.session(), client: "signed", hint).location
            #expect(answer["error"] == "invalid_request")
            // An error has JSON, and other clients get JSON.
            let refused = try await server.userInfo("x")
            #expect(refused.status == 401 && refused.error == "invalid_token")
            let other = try await server.userInfo(try await server.tokens(request).access)
            #expect(other.json["email"] == "mira@example.test")
        }
    }
}
