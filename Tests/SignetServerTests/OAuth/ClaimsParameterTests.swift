import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// OpenID Connect Core section 5.5.
@Suite("The claims parameter of an authorization request")
struct ClaimsParameterTests {
    /// Logs in the user noa, which has attributes in the configuration.
    private func session(_ server: TestServer) async throws -> String {
        try await server.session(name: "noa", password: "staple")
    }

    private func tokens(_ server: TestServer, _ claims: String, scope: String = "openid") async throws -> Tokens {
        let code = try await server.code(try await session(server), ["scope": scope, "claims": claims])
        return try Tokens(try await server.exchange(code))
    }

    @Test(
        "The userinfo endpoint returns the requested claims, which the scopes do not cover",
        arguments: [
            (#"{"userinfo":{"email":null}}"#, ["email"]),
            (#"{"userinfo":{"email":{"essential":true},"given_name":null,"phone_number":null}}"#, ["email", "given_name"]),
            (#"{"userinfo":{"email":{"value":"noa@example.test"}}}"#, ["email"]),
            (#"{"userinfo":{"email":{"values":["a@example.test","noa@example.test"]}}}"#, ["email"]),
            (#"{"userinfo":{"email":{"essential":true,"value":"a@example.test"}}}"#, []),
            (#"{"userinfo":{"name":{"other":1}}}"#, ["name"]), (#"{"id_token":{"email":null}}"#, []),
            (#"{"userinfo":null,"other":7}"#, []), ("{}", []),
        ] as [(String, Set<String>)])
    func returnsRequestedClaims(claims: String, names: Set<String>) async throws {
        try await TestServer.run { server in
            let tokens = try await tokens(server, claims)
            let always: Set = ["sub", "department"]
            let members = try #require(try await server.userInfo(tokens.access).json.object)
            #expect(Set(members.keys) == always.union(names))
            // A refresh keeps the request.
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh)))
            #expect(try await server.userInfo(renewed.access).json.object == members)
        }
    }

    @Test("A client that may not request the scope of a standard claim does not get the claim by its name")
    func withholdsClaimsOfOtherScopes() async throws {
        let configuration = ServerConfiguration.sample { configuration in
            for index in configuration.clients.indices { configuration.clients[index].scopes = ["openid", "profile"] }
        }
        try await TestServer.run(configuration) { server in
            let claims =
                #"{"userinfo":{"email":null,"given_name":null},"id_token":{"email":{"essential":true},"given_name":null}}"#
            let tokens = try await tokens(server, claims)
            let members = try #require(try await server.userInfo(tokens.access).json.object)
            #expect(Set(members.keys) == ["sub", "department", "given_name"])
            let token = try await server.claims(try #require(tokens.id))
            #expect(token["given_name"] == "Noa" && token["email"] == nil)
        }
    }

    @Test("The id_token has the requested claims, and none of them replaces one that the server sets")
    func addsRequestedClaimsToIDToken() async throws {
        let claims = """
            {"id_token": {"email": {"essential": true}, "department": null, "auth_time": {"essential": true}, "nonce": null,
             "iss": {"value": "https://evil.example.test"}, "sid": null, "aud": null, "phone_number": null},
             "userinfo": {"given_name": null}}
            """
        let configuration = ServerConfiguration.sample {
            $0.users[1].claims.merge(["sid": "x", "aud": "x", "nonce": "x", "iss": "https://evil.example.test"]) { $1 }
        }
        try await TestServer.run(configuration) { server in
            let plain = try await server.claims(try #require(try await tokens(server, "{}").id))
            let tokens = try await tokens(server, claims)
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh)))
            for token in [tokens.id, renewed.id] {
                let members = try await server.claims(try #require(token))
                #expect(Set(members.keys) == Set(plain.keys).union(["email", "department"]))
                #expect(members["email"] == "noa@example.test" && members["department"] == "Lab")
                #expect(members["iss"] == plain["iss"] && members["aud"] == "app" && members["sid"] != "x")
                #expect(members["auth_time"]?.lenientInteger != nil && members["nonce"] == nil)
            }
        }
    }

    @Test("A request with response_type=id_token gets the requested claims too")
    func addsRequestedClaimsToSilentIDToken() async throws {
        try await TestServer.run { server in
            let request: [String: String?] = [
                "response_type": "id_token", "prompt": "none", "nonce": "n", "response_mode": "form_post",
                "redirect_uri": "http://127.0.0.1/callback", "claims": #"{"id_token":{"email":null}}"#,
            ]
            let reply = try await server.authorize(try await session(server), request)
            let token = try #require(reply.hiddenFields["id_token"] ?? nil)
            #expect(try await server.claims(token)["email"] == "noa@example.test")
        }
    }

    @Test(
        "A parameter that is not a request for claims is an invalid request",
        arguments: [
            "x", "[]", "null", #"{"userinfo":[]}"#, #"{"userinfo":{"email":true}}"#, #"{"id_token":"email"}"#,
            #"{"userinfo":{"email":{"essential":"yes"}}}"#, #"{"id_token":{"acr":{"values":"Login"}}}"#,
            #"{"id_token":{"acr":{"values":[]}}}"#, #"{"userinfo":{"email":null,"email":null}}"#,
            #"{"userinfo":{},"userinfo":{}}"#, #"{"userinfo":{"email":{"essential":true,"essential":false}}}"#,
            #"{"other":""# + String(repeating: "x", count: ClaimsRequest.maxLength) + #""}"#,
        ])
    func refusesInvalidClaims(claims: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.authorize(try await session(server), ["claims": claims]).location
            #expect(answer["error"] == "invalid_request" && answer["code"] == nil && answer["state"] == "st/&te")
        }
    }

    @Test(
        "A login of another user than the one of the claim sub is refused as with id_token_hint",
        arguments: [
            #"{"id_token":{"sub":{"value":"noa"}}}"#, #"{"userinfo":{"sub":{"value":"noa"}}}"#,
            #"{"id_token":{"sub":{"essential":true,"values":["kim","noa"]}}}"#,
        ])
    func comparesSubject(claims: String) async throws {
        try await TestServer.run { server in
            let (mira, noa) = (try await server.session(), try await session(server))
            let request: [String: String?] = ["claims": claims]
            let silent = request.merging(["prompt": "none"]) { $1 }
            let sessions: [String?] = [mira, nil]
            for session in sessions {
                let answer = try await server.authorize(session, silent).location
                #expect(answer["error"] == "login_required" && answer["code"] == nil)
            }
            #expect(try await server.authorize(noa, silent).location["code"] != nil)
            // After the login page, the user of the claim gets the code, and another one does not.
            let goto = try #require(try await server.authorize(mira, request).location["goto"])
            #expect(try await server.comeBack(to: goto, mira)["goto"] != nil)
            let other = try await server.session()
            #expect(try await server.comeBack(to: goto, other)["error"] == "login_required")
            let again = try await session(server)
            #expect(try await server.comeBack(to: goto, again)["code"] != nil)
        }
    }

    @Test("A request that names different users is invalid")
    func refusesDifferentSubjects() async throws {
        try await TestServer.run { server in
            let session = try await session(server)
            let hint = try #require(try await tokens(server, "{}").id)
            let both = #"{"id_token":{"sub":{"value":"noa"}},"userinfo":{"sub":{"value":"mira"}}}"#
            let other = #"{"id_token":{"sub":{"value":"mira"}}}"#
            let requests: [[String: String?]] = [["claims": both], ["claims": other, "id_token_hint": hint]]
            for changes in requests {
                let answer = try await server.authorize(session, changes).location
                #expect(answer["error"] == "invalid_request" && answer["code"] == nil)
            }
        }
    }

    @Test(
        "An essential acr selects a journey or fails, and a voluntary one that nothing meets is ignored",
        arguments: [
            (#"{"essential":true,"values":["nothing","Login"]}"#, nil, nil, "Login"),
            (#"{"essential":true,"value":"Login"}"#, nil, nil, "Login"),
            (#"{"essential":true,"values":["nothing","PushAnswer"]}"#, "unmet_authentication_requirements", nil, nil),
            (#"{"essential":true,"values":[7]}"#, "unmet_authentication_requirements", nil, nil),
            (#"{"essential":true,"values":["nothing","ChoiceCallback"]}"#, nil, "ChoiceCallback", nil),
            (#"{"values":["ChoiceCallback"]}"#, nil, "ChoiceCallback", nil),
            (#"{"values":["nothing"]}"#, nil, nil, "Login"), (#"{"essential":true}"#, nil, nil, "Login"),
            ("null", nil, nil, "Login"),
        ] as [(String, String?, String?, String?)])
    func honorsContextClass(claim: String, error: String?, journey: String?, acr: String?) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let request: [String: String?] = ["claims": #"{"id_token":{"acr":\#(claim)}}"#]
            let answer = try await server.authorize(session, request).location
            #expect(answer["error"] == error && answer["authIndexValue"] == journey)
            let silent = try await server.authorize(session, request.merging(["prompt": "none"]) { $1 }).location
            #expect(silent["error"] == (journey == nil ? error : "login_required"))
            #expect((answer["code"] != nil) == (acr != nil))
            guard let code = answer["code"] else { return }
            let token = try #require(try Tokens(try await server.exchange(code)).id)
            #expect(try await server.claims(token)["acr"]?.string == acr)
        }
    }

    @Test("An essential acr decides alone, and a voluntary one adds to acr_values")
    func combinesContextClasses() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let essential = #"{"id_token":{"acr":{"essential":true,"values":["nothing"]}}}"#
            let failed = try await server.authorize(session, ["claims": essential, "acr_values": "Login"]).location
            #expect(failed["error"] == "unmet_authentication_requirements")
            let voluntary = #"{"id_token":{"acr":{"values":["ChoiceCallback"]}}}"#
            let answer = try await server.authorize(session, ["claims": voluntary, "acr_values": "Login"]).location
            #expect(answer["code"] != nil)
        }
    }

    @Test("A client that requires consent asks for claims too, and a saved consent covers those that it was for")
    func asksForConsentToClaims() async throws {
        try await TestServer.run { server in
            let session = try await session(server)
            let (email, name) = (#"{"userinfo":{"email":null,"sub":null}}"#, #"{"userinfo":{"given_name":null}}"#)
            func silent(_ claims: String?) async throws -> [String: String] {
                try await server.authorize(session, client: "asking", ["prompt": "none", "claims": claims]).location
            }
            func allow(_ claims: String?) async throws {
                let page = try await server.authorize(session, client: "asking", ["claims": claims])
                #expect(page.text.contains("<li>to read the attribute email</li>") == (claims == email))
                #expect(page.text.ranges(of: "to read the attribute").count == (claims == nil ? 0 : 1))
                let answer = page.hiddenFields.merging(["decision": "allow", "save_consent": "on"]) { $1 }
                let reply = try await server.postForm("authorize", answer, headers: ["iPlanetDirectoryPro": session])
                #expect(try reply.location["code"] != nil)
            }
            try await allow(nil)
            #expect(try await silent(nil)["code"] != nil)
            #expect(try await silent(email)["error"] == "consent_required")
            try await allow(email)
            #expect(try await silent(email)["code"] != nil)
            #expect(try await silent(name)["error"] == "consent_required")
        }
    }
}
