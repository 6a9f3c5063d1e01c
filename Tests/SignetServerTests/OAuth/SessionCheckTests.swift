import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Session checks at the authorization endpoint")
struct SessionCheckTests {
    /// Changes that turn the request of ``TestServer/authorize(_:client:_:at:headers:)`` into the one of `user.session()` of Ping's
    /// JavaScript SDK with the response type `none`.
    private static let none: [String: String?] = [
        "prompt": "none", "response_type": "none", "scope": "openid", "state": nil, "code_challenge": nil,
        "code_challenge_method": nil,
    ]

    /// Changes for the response type `id_token`.
    private static let idToken = none.merging(["response_type": "id_token", "state": "st/&te", "nonce": "n-1"]) { $1 }

    @Test("F4: A request with response_type=none redirects without a code, and gets 204 without a redirect_uri")
    func confirmsSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let hint = try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
            let request = Self.none.merging(["id_token_hint": hint]) { $1 }
            let reply = try await server.authorize(session, request)
            #expect(reply.status == 302)
            #expect(try #require(reply.header("Location")).hasPrefix("\(TestServer.redirectURI)?iss="))
            #expect(Set(try reply.location.keys) == ["iss", "client_id"])
            #expect(try await server.authorize(nil, request).location["error"] == "login_required")

            let direct = request.merging(["redirect_uri": nil]) { $1 }
            // Both clients: with several redirect URIs, and with one that the request could mean.
            for client in ["app", "other"] {
                let confirmed = try await server.authorize(session, client: client, direct)
                #expect(confirmed.status == 204 && confirmed.header("Location") == nil && confirmed.text.isEmpty)
                let ended = try await server.authorize(nil, client: client, direct)
                #expect(ended.status == 400 && ended.json["error"] == "login_required" && ended.header("Location") == nil)
            }
        }
    }

    @Test(
        "F4: A request with response_type=none and without a redirect_uri never leads to a page",
        arguments: [
            ([:], "interaction_required"), (["prompt": nil], "invalid_request"), (["prompt": "login"], "invalid_request"),
            (["scope": "openid admin"], "invalid_scope"), (["id_token_hint": "x"], "invalid_request"),
        ] as [([String: String?], String)])
    func refusesWithoutPage(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let direct = Self.none.merging(["redirect_uri": nil]) { $1 }
            let reply = try await server.authorize(nil, direct.merging(changes) { $1 })
            #expect(reply.status == 400 && reply.json["error"]?.string == error && reply.header("Location") == nil)
        }
    }

    @Test("F4: A request with response_type=id_token and prompt=none returns an id_token with the nonce in the fragment")
    func identifiesUser() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let reply = try await server.authorize(session, Self.idToken)
            #expect(reply.status == 302)
            #expect(try #require(reply.header("Location")).hasPrefix("\(TestServer.redirectURI)#id_token="))
            let answer = try reply.fragment
            #expect(Set(answer.keys) == ["id_token", "state", "iss", "client_id"] && answer["state"] == "st/&te")
            let claims = try await server.claims(try #require(answer["id_token"]))
            #expect(claims["nonce"] == "n-1" && claims["sub"] == "mira" && claims["aud"] == "app")
            #expect(claims["at_hash"] == nil && claims["email"] == nil)
            // It names the session for later checks and for the log-out.
            let again = try await server.authorize(session, Self.idToken.merging(["id_token_hint": answer["id_token"]]) { $1 })
            #expect(try again.fragment["id_token"] != nil)
        }
    }

    @Test(
        "F4: A request for an id_token that is refused gets the error in the fragment",
        arguments: [
            ([:], "interaction_required"), (["nonce": nil], "invalid_request"), (["prompt": nil], "invalid_request"),
            (["prompt": "login"], "invalid_request"), (["scope": "profile"], "invalid_request"),
        ] as [([String: String?], String)])
    func refusesInFragment(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.authorize(nil, Self.idToken.merging(changes) { $1 })
            #expect(reply.status == 302)
            #expect(try #require(reply.header("Location")).hasPrefix("\(TestServer.redirectURI)#error="))
            let answer = try reply.fragment
            #expect(answer["error"] == error && answer["state"] == "st/&te" && answer["id_token"] == nil)
        }
    }

    @Test("F4: An id_token goes to the registered port of a loopback address only")
    func sendsIDTokenToRegisteredPort() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            for (address, status) in [("http://127.0.0.1/callback", 302), ("http://127.0.0.1:4711/callback", 400)] {
                let reply = try await server.authorize(session, Self.idToken.merging(["redirect_uri": address]) { $1 })
                #expect(reply.status == status, "\(address)")
            }
        }
    }

    @Test("F4: A client gets only the response types that it is registered for", arguments: ["id_token", "none"])
    func honorsResponseTypes(type: String) async throws {
        let client = RegisteredClient(id: "strict", redirectURIs: [TestServer.redirectURI]) { $0.responseTypes = [.code] }
        try await TestServer.run(.sample { $0.clients = [client] }) { server in
            let session = try await server.session()
            let request = Self.idToken.merging(["response_type": type]) { $1 }
            let reply = try await server.authorize(session, client: "strict", request)
            let answer = type == "none" ? try reply.location : try reply.fragment
            #expect(answer["error"] == "unsupported_response_type" && answer["id_token"] == nil)
            #expect(answer["error_description"] == "Client does not support this response type.")
        }
    }

    @Test(
        "The response mode decides between query and fragment, and an id_token is never in a query",
        arguments: [("code", "fragment", true), ("none", "fragment", true), ("id_token", "query", false)])
    func honorsResponseMode(type: String, mode: String, isGranted: Bool) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let challenge = ["code_challenge": ProofKey.challenge(for: TestServer.verifier), "code_challenge_method": "S256"]
            let request = Self.idToken.merging(["response_type": type, "response_mode": mode]) { $1 }
            let reply = try await server.authorize(session, request.merging(challenge) { $1 })
            let answer = mode == "fragment" ? try reply.fragment : try reply.location
            #expect(answer["error"] == (isGranted ? nil : "invalid_request") && answer["id_token"] == nil)
            #expect((answer["code"] != nil) == (type == "code"))
        }
    }

    @Test("F4: The metadata has the response types and modes")
    func publishesResponseTypes() async throws {
        try await TestServer.run { server in
            let document = try await server.send(.get, "/am/oauth2/.well-known/openid-configuration", headers: [:]).json
            #expect(document["response_types_supported"] == .array(["code", "id_token", "none"]))
            #expect(document["response_modes_supported"] == .array(["query", "fragment", "form_post"]))
        }
    }

    @Test("The configuration file lists the response types of a client")
    func readsResponseTypes() throws {
        let file = try ServerConfiguration(yaml: "clients: [{id: a, responseTypes: [code, id_token]}, {id: b}]")
        #expect(file.clients.map(\.responseTypes) == [[.code, .idToken], [.code, .idToken, .none]])
        for text in ["[code, token]", "code"] {
            #expect(throws: ConfigurationError.self) {
                try ServerConfiguration(yaml: "clients: [{id: a, responseTypes: \(text)}]")
            }
        }
    }
}

extension Reply {
    /// The parameters in the fragment of `Location`.
    fileprivate var fragment: [String: String] {
        get throws {
            let location = try #require(header("Location"))
            return FormCoding.decode(location.drop { $0 != "#" }.dropFirst())
        }
    }
}
