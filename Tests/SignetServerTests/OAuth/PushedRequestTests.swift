import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// Pushes an authorization request, with `changes` to its parameters; a nil removes a parameter.
    func push(
        client: String = "app", _ changes: [String: String?] = [:], headers: [String: String] = [:], at base: String = oauth
    ) async throws -> Reply {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": client, "scope": "openid profile", "redirect_uri": Self.redirectURI,
            "state": "pushed", "code_challenge": ProofKey.challenge(for: Self.verifier), "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { $1 }
        return try await postForm("par", parameters, headers: headers, at: base)
    }

    /// Pushes a request and returns its `request_uri`.
    func pushed(client: String = "app", _ changes: [String: String?] = [:]) async throws -> String {
        let reply = try await push(client: client, changes)
        return try #require(reply.json["request_uri"]?.string, "\(reply.text)")
    }

    /// Brings a pushed request as a browser does.
    func authorize(
        pushed uri: String, _ session: String?, client: String = "app", _ others: [String: String] = [:], at base: String = oauth
    ) async throws -> Reply {
        let parameters = others.merging(["client_id": client, "request_uri": uri]) { own, _ in own }
        return try await send(
            .get, "\(base)/authorize?\(Self.form(parameters))", headers: session.map { ["iPlanetDirectoryPro": $0] } ?? [:])
    }
}

@Suite("Pushed authorization requests")
struct PushedRequestTests {
    private static let used = "invalid_request_uri"

    @Test("A client pushes a request and gets a code for its request_uri once")
    func pushedRequestGivesOneCode() async throws {
        try await TestServer.run { server async throws in
            let reply = try await server.push()
            let uri = try #require(reply.json["request_uri"]?.string)
            #expect(reply.status == 201 && reply.json["expires_in"] == .integer(60))
            #expect(uri.hasPrefix("urn:ietf:params:oauth:request_uri:") && uri.utf8.count == 34 + 43)
            #expect(reply.header("Cache-Control") == "no-store")
            let session = try await server.session()
            let location = try await server.authorize(pushed: uri, session).location
            let code = try #require(location["code"])
            #expect(location["state"] == "pushed" && location["iss"] != nil)
            #expect(try await server.exchange(code).status == 200)
            #expect(try await server.authorize(pushed: uri, session).error == Self.used)
        }
    }

    @Test("A request_uri that the browser doesn't bring within its lifetime is invalid", arguments: [(59.0, true), (60, false)])
    func requestURIExpires(seconds: Double, isValid: Bool) async throws {
        try await TestServer.run { server async throws in
            let session = try await server.session()
            let uri = try await server.pushed()
            server.clock.advance(by: seconds)
            let reply = try await server.authorize(pushed: uri, session)
            #expect(reply.status == (isValid ? 302 : 400) && reply.error == (isValid ? nil : Self.used))
        }
    }

    @Test("The lifetime of a request_uri is a setting of the server and of the client")
    func lifetimeIsConfigured() async throws {
        try await TestServer.run(
            .sample {
                $0.lifetimes.pushedRequest = 90
                $0.clients.append(
                    RegisteredClient(id: "slow", redirectURIs: [TestServer.redirectURI]) {
                        $0.lifetimes = TokenLifetimes { $0.pushedRequest = 600 }
                    })
            }
        ) { server async throws in
            #expect(try await server.push().json["expires_in"] == .integer(90))
            #expect(try await server.push(client: "slow").json["expires_in"] == .integer(600))
        }
    }

    @Test("The login page gets only the client and the request_uri, and the login completes the request once")
    func loginKeepsRequestPrivate() async throws {
        try await TestServer.run { server async throws in
            let uri = try await server.pushed(["prompt": "login"])
            let session = try await server.session()
            let goto = try #require(try await server.authorize(pushed: uri, session).location["goto"])
            let names = URLComponents(string: goto)?.queryItems?.map(\.name)
            #expect(names == ["client_id", "request_uri", "login_mark"])
            // The login takes longer than the request_uri waits for the browser.
            server.clock.advance(by: 200)
            let again = try await server.session()
            let location = try await server.comeBack(to: goto, again)
            #expect(location["code"] != nil && location["state"] == "pushed")
            let reply = try await server.authorize(pushed: uri, again)
            #expect(reply.error == Self.used)
        }
    }

    @Test("A browser that opens a request again and again doesn't extend it")
    func openedRequestExpires() async throws {
        try await TestServer.run { server async throws in
            let uri = try await server.pushed()
            for seconds in [0.0, 300, 299] {
                server.clock.advance(by: seconds)
                #expect(try await server.authorize(pushed: uri, nil).status == 302)
            }
            server.clock.advance(by: 1)
            #expect(try await server.authorize(pushed: uri, nil).error == Self.used)
        }
    }

    @Test("A login in the server's pages ends with the code of the pushed request")
    func pageLoginCompletesRequest() async throws {
        try await TestServer.run { server async throws in
            let uri = try await server.pushed()
            let browser = PageBrowser(server)
            let query = TestServer.form(["client_id": "app", "request_uri": uri])
            let page = try await browser.get("\(TestServer.oauth)/authorize?\(query)")
            let end = try await browser.signIn(page)
            let location = try #require(end.header("Location"))
            #expect(location.hasPrefix(TestServer.redirectURI) && location.contains("state=pushed"))
            let session = try await server.session()
            #expect(try await server.authorize(pushed: uri, session).error == Self.used)
        }
    }

    @Test("The consent page has the request_uri and not the parameters, and the consent completes the request")
    func consentKeepsRequestPrivate() async throws {
        try await TestServer.run { server async throws in
            let uri = try await server.pushed(client: "asking")
            let session = try await server.session()
            let page = try await server.authorize(pushed: uri, session, client: "asking")
            var form = page.hiddenFields
            #expect(Set(form.keys) == ["client_id", "request_uri", "csrf"])
            form["decision"] = "allow"
            let reply = try await server.postForm("authorize", form, headers: ["iPlanetDirectoryPro": session])
            #expect(try reply.location["code"] != nil)
        }
    }

    @Test("A request_uri belongs to its client and its realm, and other parameters beside it are ignored")
    func requestURIIsBound() async throws {
        try await TestServer.run { server async throws in
            let session = try await server.session()
            let uri = try await server.pushed()
            #expect(try await server.authorize(pushed: uri, session, client: "other").error == Self.used)
            let alpha = "/am/oauth2/realms/root/realms/alpha"
            #expect(try await server.authorize(pushed: uri, nil, at: alpha).error == Self.used)
            let unknown = "urn:ietf:params:oauth:request_uri:x"
            #expect(try await server.authorize(pushed: unknown, session).error == Self.used)
            let others = ["state": "other", "redirect_uri": "https://attacker.example/", "scope": "email"]
            let reply = try await server.authorize(pushed: uri, session, others)
            #expect(reply.header("Location")?.hasPrefix(TestServer.redirectURI) == true)
            #expect(try reply.location["state"] == "pushed")
        }
    }

    /// A push that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [String: String?]
        let status: Int
        let error: String

        init(_ name: String, _ changes: [String: String?], _ error: String, status: Int = 400) {
            (testDescription, self.changes, self.error, self.status) = (name, changes, error, status)
        }
    }

    private static let refused = [
        Refused("with a request_uri", ["request_uri": "urn:ietf:params:oauth:request_uri:x"], "invalid_request"),
        Refused("with a request object", ["request": "a.b.c"], "request_not_supported"),
        Refused("without a challenge", ["code_challenge": nil], "invalid_request"),
        Refused("with an unknown scope", ["scope": "admin"], "invalid_scope"),
        Refused("without a response type", ["response_type": nil], "invalid_request"),
        Refused("with another response type", ["response_type": "token"], "unsupported_response_type"),
        Refused("with another redirect URI", ["redirect_uri": "https://attacker.example/"], "redirect_uri_mismatch"),
        Refused("with a key that isn't a thumbprint", ["dpop_jkt": "x"], "invalid_request"),
        Refused("that is too long", ["state": String(repeating: "x", count: 17_000)], "invalid_request"),
        Refused("of an unknown client", ["client_id": "nobody"], "invalid_client", status: 401),
        Refused("with a wrong secret", ["client_id": "web", "client_secret": "x"], "invalid_client", status: 401),
        Refused("of a confidential client without its secret", ["client_id": "web"], "invalid_client", status: 401),
    ]

    @Test("A push that can't be a valid request is refused", arguments: refused)
    func refusesPush(refused: Refused) async throws {
        try await TestServer.run { server async throws in
            let reply = try await server.push(refused.changes)
            #expect(reply.status == refused.status && reply.error == refused.error, "\(reply.text)")
        }
    }

    @Test("A client that has to push its requests can't send them by the browser, and the metadata says it of a realm")
    func requiresPush() async throws {
        let careful = RegisteredClient(id: "careful", redirectURIs: [TestServer.redirectURI]) { $0.requiresPushedRequests = true }
        let other = RegisteredClient(id: "app") { $0.realm = "/alpha" }
        try await TestServer.run(.sample { $0.clients = [careful, other] }) { server async throws in
            let session = try await server.session()
            let refused = try await server.authorize(session, client: "careful")
            #expect(try refused.location["error"] == "invalid_request")
            let uri = try await server.pushed(client: "careful")
            #expect(try await server.authorize(pushed: uri, session, client: "careful").location["code"] != nil)
            let path = "\(TestServer.oauth)/.well-known/openid-configuration"
            let document = try await server.send(.get, path, headers: [:]).json
            #expect(document["require_pushed_authorization_requests"] == .bool(true))
            #expect(document["pushed_authorization_request_endpoint"]?.string?.hasSuffix("/am/oauth2/par") == true)
            let alpha = "/am/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"
            let optional = try await server.send(.get, alpha, headers: [:]).json
            #expect(optional["require_pushed_authorization_requests"] == .bool(false))
        }
    }

    @Test("A confidential client authenticates to push, and its secret isn't stored with the request")
    func confidentialClientPushes() async throws {
        try await TestServer.run { server async throws in
            let secret = "s3cret: +%"
            let changes: [String: String?] = ["client_secret": secret, "redirect_uri": "https://web.example.test/cb?x=1"]
            let uri = try await server.pushed(client: "web", changes)
            let stored = try await server.devServer.context.store.read { tx in try tx.pushedRequests[uri] }
            #expect(stored?.client.id == "web" && stored?.form.contains("client_secret") == false)
        }
    }

    @Test("A pushed request survives a restart, and so does its use")
    func pushedRequestSurvivesRestart() async throws {
        try await StateLocation.with(.file) { location in
            let clock = ManualClock()
            let pushed = Mutex("")
            try await location.server(clock: clock) { server async throws in
                let uri = try await server.pushed()
                pushed.withLock { $0 = uri }
            }
            let uri = pushed.withLock { $0 }
            try await location.server(clock: clock) { server async throws in
                let session = try await server.session()
                #expect(try await server.authorize(pushed: uri, session).location["code"] != nil)
            }
            try await location.server(clock: clock) { server async throws in
                let session = try await server.session()
                #expect(try await server.authorize(pushed: uri, session).error == Self.used)
            }
        }
    }
}
