import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Responses of the authorization endpoint in a form (response_mode=form_post)")
struct FormPostTests {
    private static let address = "http://127.0.0.1/callback"
    private static let formPost: [String: String?] = ["response_mode": "form_post", "redirect_uri": address]

    /// Checks the page, and returns the fields that its form posts to the client's address.
    private func posted(_ reply: Reply) throws -> [String: String] {
        #expect(reply.status == 200 && reply.header("Location") == nil)
        #expect(reply.header("Content-Type") == "text/html; charset=UTF-8" && reply.header("Cache-Control") == "no-store")
        let policy = try #require(reply.header("Content-Security-Policy"))
        #expect(policy.contains("script-src 'self';") && policy.contains("form-action 'self' http://127.0.0.1;"))
        // A client may verify the origin of the form, which `same-origin` would hide.
        #expect(reply.header("Referrer-Policy") == "strict-origin")
        #expect(reply.formAction == Self.address)
        #expect(reply.text.contains(" data-submit>") && reply.text.contains("<button type=\"submit\">Continue</button>"))
        return reply.hiddenFields.compactMapValues { $0 }
    }

    @Test("A page posts the code with the same parameters that a redirect has")
    func postsCode() async throws {
        try await TestServer.run { server in
            let fields = try posted(try await server.authorize(try await server.session(), Self.formPost))
            #expect(Set(fields.keys) == ["code", "iss", "state", "client_id"])
            #expect(fields["state"] == "st/&te" && fields["client_id"] == "app")
            #expect(fields["iss"] == "http://127.0.0.1:8080/am/oauth2")
            let code = try #require(fields["code"])
            #expect(try await server.exchange(code, ["redirect_uri": Self.address]).status == 200)
        }
    }

    @Test(
        "A page posts every error, whichever parameter it is in",
        arguments: [
            (["response_type": nil], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["scope": "openid admin"], "invalid_scope"), (["request": "eyJ"], "request_not_supported"),
            (["request_uri": "urn:x"], "request_uri_not_supported"), (["code_challenge": nil], "invalid_request"),
            (["prompt": "dance"], "invalid_request"), (["claims": "{"], "invalid_request"),
            (["id_token_hint": "x"], "invalid_request"), (["prompt": "none", "max_age": "1"], "login_required"),
        ] as [([String: String?], String)])
    func postsErrors(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            server.clock.advance(by: 10)
            let fields = try posted(try await server.authorize(session, Self.formPost.merging(changes) { $1 }))
            #expect(Set(fields.keys) == ["error", "error_description", "iss", "state", "client_id"])
            #expect(fields["error"] == error && fields["error_description"]?.isEmpty == false && fields["state"] == "st/&te")
        }
    }

    @Test("A page posts an id_token, and the error of a request for one")
    func postsIDToken() async throws {
        try await TestServer.run { server in
            let request = Self.formPost.merging(["response_type": "id_token", "prompt": "none", "nonce": "n-1"]) { $1 }
            let fields = try posted(try await server.authorize(try await server.session(), request))
            #expect(try await server.claims(try #require(fields["id_token"]))["nonce"] == "n-1")
            let refused = try posted(try await server.authorize(nil, request))
            #expect(refused["error"] == "interaction_required" && refused["state"] == "st/&te")
        }
    }

    @Test("A request with the response type none cannot have its response posted")
    func refusesToPostNothing() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let request = Self.formPost.merging(["response_type": "none", "prompt": "none"]) { $1 }
            let reply = try await server.authorize(session, request)
            #expect(reply.status == 302)
            #expect(try reply.location["error"] == "invalid_request")
            let direct = try await server.authorize(session, request.merging(["redirect_uri": nil]) { $1 })
            #expect(direct.status == 400 && direct.json["error"] == "invalid_request")
        }
    }

    @Test("An error that cannot be sent to a client is a page without a form, also with this response mode")
    func postsNothingToUnregisteredAddress() async throws {
        try await TestServer.run { server in
            let request = Self.formPost.merging(["redirect_uri": "https://evil.example.test/"]) { $1 }
            let reply = try await server.authorize(try await server.session(), request)
            #expect(reply.status == 400 && reply.error == "redirect_uri_mismatch")
            #expect(reply.formAction == nil && !reply.text.contains("evil.example.test"))
        }
    }

    @Test("The page for the decision on consent leads to the form")
    func postsAfterConsent() async throws {
        let configuration = ServerConfiguration.sample {
            $0.clients = [RegisteredClient(id: "asking", redirectURIs: [Self.address]) { $0.requiresConsent = true }]
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session()
            let page = try await server.authorize(session, client: "asking", Self.formPost)
            #expect(page.text.contains("name=\"response_mode\" value=\"form_post\""))
            #expect(page.header("Referrer-Policy") == "same-origin")
            var answer = page.hiddenFields
            answer["decision"] = "allow"
            let headers = ["iPlanetDirectoryPro": session]
            let reply = try await server.postForm("authorize", answer, headers: headers)
            let code = try #require(try posted(reply)["code"])
            #expect(try await server.exchange(code, client: "asking", ["redirect_uri": Self.address]).status == 200)
        }
    }

    @Test(
        "The policy of the page permits the form to hosts that a policy cannot express",
        arguments: [
            ("https://web_app.example.test/cb", "https:"), ("http://[::1]/cb", "http:"),
            ("HTTPS://Web.example.test:8443/cb?a=b", "https://Web.example.test:8443"),
        ])
    func permitsFormToUnusualHosts(address: String, source: String) async throws {
        let configuration = ServerConfiguration.sample { $0.clients = [RegisteredClient(id: "app", redirectURIs: [address])] }
        try await TestServer.run(configuration) { server in
            let request = Self.formPost.merging(["redirect_uri": address]) { $1 }
            let reply = try await server.authorize(try await server.session(), request)
            #expect(reply.status == 200 && reply.formAction == address && reply.hiddenFields["code"] != nil)
            #expect(reply.header("Content-Security-Policy")?.contains("form-action 'self' \(source);") == true)
        }
    }

    @Test("A response to an app's own scheme, to which browsers post no form, cannot be posted", arguments: ["code", "id_token"])
    func refusesToPostToAppScheme(type: String) async throws {
        try await TestServer.run { server in
            let request: [String: String?] = [
                "response_mode": "form_post", "response_type": type, "prompt": "none", "nonce": "n-1",
            ]
            let reply = try await server.authorize(try await server.session(), request)
            let answer = try reply.location
            #expect(reply.status == 302 && answer["error"] == "invalid_request" && answer["state"] == "st/&te")
            #expect(answer["code"] == nil && answer["id_token"] == nil)
        }
    }

    @Test("No text of the request can leave its field of the form")
    func escapesState() async throws {
        try await TestServer.run { server in
            let state = "\"><script>alert('1')</script><input name='code'>"
            let reply = try await server.authorize(try await server.session(), Self.formPost.merging(["state": state]) { $1 })
            let fields = try posted(reply)
            #expect(fields["state"] == state)
            #expect(reply.text.ranges(of: "<script").count == 1 && reply.text.ranges(of: "<input ").count == 4)
        }
    }
}
