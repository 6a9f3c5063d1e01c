import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Authorization endpoint")
struct AuthorizeTests {
    @Test(
        "A session in the cookie-named header or in a cookie gets a code in a redirect without a body",
        arguments: [
            ["iPlanetDirectoryPro": "TOKEN"], ["IPLANETDIRECTORYPRO": "TOKEN"], ["Cookie": "iPlanetDirectoryPro=TOKEN"],
            ["Cookie": "amlbcookie=01; iPlanetDirectoryPro=TOKEN; x=y"], ["Cookie": "iPlanetDirectoryPro=\"TOKEN\""],
            ["iPlanetDirectoryPro": "stale", "Cookie": "iPlanetDirectoryPro=TOKEN"],
        ])
    func redirectsWithCode(headers: [String: String]) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let shown = headers.mapValues { $0.replacingOccurrences(of: "TOKEN", with: session) }
            let reply = try await server.authorize(nil, headers: shown)
            #expect(reply.status == 302)
            #expect(reply.text.isEmpty)
            #expect(reply.header("Content-Type") == nil)
            #expect(try #require(reply.header("Location")).hasPrefix("\(TestServer.redirectURI)?code="))
            let answer = try reply.location
            #expect(Set(answer.keys) == ["code", "iss", "state", "client_id"])
            #expect(answer["state"] == "st/&te")
            #expect(answer["client_id"] == "app")
            #expect(answer["iss"] == "http://127.0.0.1:8080/am/oauth2")
        }
    }

    @Test("A browser without a session is sent to the login page and returns to the same request")
    func redirectsToLogin() async throws {
        try await TestServer.run { server in
            let reply = try await server.authorize(nil, ["prompt": "login"])
            #expect(reply.status == 302)
            #expect(try #require(reply.header("Location")).hasPrefix("http://127.0.0.1:8080/am/XUI/?realm=%2F&goto=http"))
            let goto = try #require(try reply.location["goto"])
            let query = try #require(URLComponents(string: goto)?.queryItems)
            #expect(query.contains(URLQueryItem(name: "state", value: "st/&te")))
            #expect(query.contains(URLQueryItem(name: "prompt", value: "login")))
        }
    }

    @Test(
        "A user who has to log in again cannot skip the login by any return address",
        arguments: [["prompt": "login"], ["prompt": "select_account"], ["max_age": "10"], ["max_age": "0"]])
    func requiresFreshLogin(changes: [String: String?]) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            server.clock.advance(by: 11)
            func comesBack(_ goto: String) async throws -> Reply {
                let path = try #require(goto.firstRange(of: "/am/")?.lowerBound)
                return try await server.send(.get, String(goto[path...]), headers: ["iPlanetDirectoryPro": session])
            }
            let goto = try #require(try await server.authorize(session, changes).location["goto"])
            // The same request without a login in between asks for a login again, and so does one that forges the mark.
            let again = try #require(try await comesBack(goto).location["goto"])
            #expect(again == goto)
            for forged in ["9", "0.AAAA", "-1."] {
                let markItem = URLComponents(string: goto)?.queryItems?.first { $0.name == "login_mark" }
                let mark = try #require(markItem?.value)
                let changed = goto.replacing("login_mark=\(mark.percentEncoded())", with: "login_mark=\(forged)")
                let answer = try await comesBack(changed).location
                #expect(changed != goto && answer["code"] == nil && answer["goto"] != nil)
            }
            #expect(try await server.logInAgain(session) == session)
            #expect(try await comesBack(goto).location["code"] != nil)
            // A user who kept that address has to log in again when the journey timeout has passed.
            let known = try await comesBack(goto).location["code"]
            server.clock.advance(by: Double(server.devServer.context.configuration.journeyTimeout) + 1)
            let late = try await comesBack(goto).location
            #expect(known != nil && late["code"] == nil && late["goto"] != nil)
            #expect(try await server.logInAgain(session) == session)
            // The mark is not valid for another request.
            server.clock.advance(by: 11)
            let other = goto.replacing("state=st", with: "state=other")
            let answer = try await comesBack(other).location
            #expect(other != goto && answer["code"] == nil && answer["goto"] != nil)
        }
    }

    @Test(
        "The parameter acr_values selects one of the journeys that it names, and the id_token names the completed journey",
        arguments: [
            ("nothing", nil, nil), ("PushAnswer", nil, nil), ("Login", nil, "Login"), ("ChoiceCallback Login", nil, "Login"),
            ("ChoiceCallback", "ChoiceCallback", nil), ("nothing ChoiceCallback Failure", "ChoiceCallback", nil),
        ] as [(String, String?, String?)])
    func selectsJourneyByContextClass(values: String, asked: String?, acr: String?) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let answer = try await server.authorize(session, ["acr_values": values]).location
            #expect(answer["authIndexValue"] == asked && (answer["code"] == nil) == (asked != nil))
            let silent = try await server.authorize(session, ["acr_values": values, "prompt": "none"]).location
            #expect(silent["error"] == (asked == nil ? nil : "login_required"))
            guard let code = answer["code"] else { return }
            let token = try #require(try Tokens(try await server.exchange(code)).id)
            #expect(try await server.claims(token)["acr"]?.string == acr)
        }
    }

    @Test("S3: A request with prompt=none and without a session fails with interaction_required in AM's words")
    func answersPromptNoneAsAM() async throws {
        try await TestServer.run { server in
            let silent = try await server.authorize(nil, ["prompt": "none"]).location
            #expect(silent["error"] == "interaction_required")
            #expect(silent["error_description"] == "The request requires some interaction that is not allowed.")
            #expect(silent["state"] == "st/&te" && silent["code"] == nil)
        }
    }

    @Test("A request with prompt=none never asks the user for anything")
    func neverPromptsWithPromptNone() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            #expect(try await server.authorize(nil, ["prompt": "none"]).location["error"] == "interaction_required")
            #expect(try await server.authorize(session, ["prompt": "none"]).location["code"] != nil)
            let unasked = try await server.authorize(session, client: "asking", ["prompt": "none"])
            #expect(try unasked.location["error"] == "consent_required")
            server.clock.advance(by: 100)
            #expect(try await server.authorize(session, ["prompt": "none", "max_age": "101"]).location["code"] != nil)
            #expect(
                try await server.authorize(session, ["prompt": "none", "max_age": "99"]).location["error"] == "login_required")
        }
    }

    @Test(
        "An invalid request is reported with its state to the client's redirect address",
        arguments: [
            (["response_type": "token"], "unsupported_response_type"), (["response_type": nil], "invalid_request"),
            (["response_type": "code id_token"], "unsupported_response_type"), (["scope": "openid admin"], "invalid_scope"),
            (["code_challenge": nil, "code_challenge_method": nil], "invalid_request"),
            (["code_challenge": nil], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge_method": nil], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
            (["response_mode": "pi.flow"], "invalid_request"), (["prompt": "none login"], "invalid_request"),
            (["prompt": "dance"], "invalid_request"), (["max_age": "soon"], "invalid_request"),
            (["request": "eyJ"], "request_not_supported"), (["request_uri": "urn:x"], "request_uri_not_supported"),
        ] as [([String: String?], String)])
    func reportsErrorToRedirectAddress(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.authorize(try await server.session(), changes)
            #expect(reply.status == 302)
            #expect(try #require(reply.header("Location")).hasPrefix(TestServer.redirectURI))
            let answer = try reply.location
            #expect(answer["error"] == error)
            #expect(answer["error_description"]?.isEmpty == false)
            #expect(answer["state"] == "st/&te")
            #expect(answer["code"] == nil)
        }
    }

    @Test(
        "A request with an unregistered redirect address or client is not redirected",
        arguments: [
            (["redirect_uri": "https://evil.example.test/"], "redirect_uri_mismatch"),
            (["redirect_uri": TestServer.redirectURI + "/more"], "redirect_uri_mismatch"),
            (["redirect_uri": TestServer.redirectURI + "#x"], "redirect_uri_mismatch"),
            (["redirect_uri": "http://127.0.0.1:9/other"], "redirect_uri_mismatch"),
            (["redirect_uri": "http://127.0.0.1:99999/callback"], "redirect_uri_mismatch"),
            (["redirect_uri": "http://127.0.0.1.evil.test/callback"], "redirect_uri_mismatch"),
            (["redirect_uri": "http://localhost:9/callback"], "redirect_uri_mismatch"),
            (["redirect_uri": nil], "invalid_request"), (["client_id": "nobody"], "invalid_client"),
            (["client_id": nil], "invalid_request"),
        ] as [([String: String?], String)])
    func neverRedirectsToUnregisteredAddress(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.authorize(try await server.session(), changes)
            #expect(reply.status == 400)
            #expect(reply.header("Location") == nil)
            #expect(reply.error == error)
        }
    }

    @Test("A request with a repeated parameter is refused")
    func rejectsRepeatedParameter() async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, "\(TestServer.oauth)/authorize?client_id=app&client_id=other", headers: [:])
            #expect(reply.status == 400)
            #expect(reply.error == "invalid_request")
        }
    }

    @Test("A loopback address matches any port", arguments: ["http://127.0.0.1:49152/callback", "http://127.0.0.1/callback"])
    func acceptsAnyLoopbackPort(address: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let code = try await server.code(session, ["redirect_uri": address])
            #expect(try await server.exchange(code, ["redirect_uri": address]).status == 200)
            let other = try await server.code(session, ["redirect_uri": address])
            #expect(
                try await server.exchange(other, ["redirect_uri": "http://127.0.0.1:1/callback"]).error == "redirect_uri_mismatch"
            )
        }
    }

    @Test("A redirect address keeps its query, and a client's only address can be omitted")
    func keepsQueryOfRedirectAddress() async throws {
        try await TestServer.run { server in
            let reply = try await server.authorize(
                try await server.session(), client: "web",
                ["redirect_uri": nil, "code_challenge": nil, "code_challenge_method": nil, "state": nil])
            #expect(try #require(reply.header("Location")).hasPrefix("https://web.example.test/cb?x=1&code="))
            #expect(try reply.location["state"] == nil)
        }
    }

    @Test("A session is not valid in another realm")
    func rejectsSessionOfOtherRealm() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let alpha = "/am/oauth2/realms/root/realms/alpha"
            let silent = try await server.authorize(session, ["prompt": "none"], at: alpha).location
            #expect(silent["error"] == "interaction_required")
            let own = try await server.session(password: "other", at: "/am/json/realms/root/realms/alpha/authenticate")
            for path in [alpha, "/am/oauth2/alpha", "/am/oauth2/realms/alpha"] {
                let answer = try await server.authorize(own, at: path).location
                #expect(answer["iss"] == "http://127.0.0.1:8080/am/oauth2/realms/root/realms/alpha")
                #expect(answer["code"] != nil)
            }
            #expect(try await server.authorize(own, client: "other", at: alpha).error == "invalid_client")
        }
    }

    @Test("S12: A client gets the user's decision on its consent page, and a decision without the csrf of the page is 400")
    func asksForConsent() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let page = try await server.authorize(session, client: "asking")
            #expect(page.status == 200)
            #expect(page.header("Content-Type") == "text/html; charset=UTF-8")
            let csrf = try #require(page.text.firstMatch(of: #/name="csrf" value="([^"]+)"/#)?.output.1)
            #expect(csrf != session[...])
            func decide(_ decision: [String: String?]) async throws -> Reply {
                let query = try #require(server.requestURI(client: "asking"))
                return try await server.send(
                    .post, query,
                    headers: ["iPlanetDirectoryPro": session, "Content-Type": "application/x-www-form-urlencoded"],
                    body: TestServer.form(decision))
            }
            #expect(try await decide(["decision": "deny", "csrf": String(csrf)]).location["error"] == "access_denied")
            #expect(try await decide(["decision": "allow"]).status == 400)
            let wrong = try await decide(["decision": "allow", "csrf": "wrong"])
            #expect(wrong.status == 400 && wrong.error == "bad_request" && wrong.header("Location") == nil)
            #expect(try await decide(["decision": "allow", "csrf": session]).location["code"] != nil)
            #expect(try await server.authorize(session, client: "asking").status == 200)
            let saved = try await decide(["decision": "allow", "csrf": String(csrf), "save_consent": "on"])
            #expect(try saved.location["code"] != nil)
            #expect(try await server.authorize(session, client: "asking").location["code"] != nil)
            #expect(try await server.authorize(session, client: "asking", ["scope": "openid email"]).status == 200)
            #expect(try await server.authorize(session, client: "asking", ["prompt": "consent"]).status == 200)
        }
    }

    @Test("The consent form carries the request, the granted scopes and a checkbox for GET and POST requests")
    func consentFormCarriesRequest() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let uri = try #require(server.requestURI(client: "asking"))
            let parts = uri.split(separator: "?", maxSplits: 1)
            let request = String(parts[1]).replacing("&scope=openid%20profile", with: "")
            let headers = ["iPlanetDirectoryPro": session, "Content-Type": "application/x-www-form-urlencoded"]
            let page = try await server.send(.post, String(parts[0]), headers: headers, body: request)
            #expect(page.status == 200)
            for scope in ["(openid)", "(profile)", "(email)"] { #expect(page.text.contains(scope)) }
            #expect(page.text.contains("type=\"checkbox\" name=\"save_consent\""))
            // The form as a browser sends it, to the address of the page.
            var form: [String: String?] = ["decision": "allow", "save_consent": "on"]
            for field in page.text.matches(of: #/<input type="hidden" name="([^"]+)" value="([^"]*)">/#) {
                form[String(field.output.1)] = String(field.output.2)
            }
            let reply = try await server.send(.post, String(parts[0]), headers: headers, body: TestServer.form(form))
            #expect(try reply.location["code"] != nil)
            #expect(try await server.send(.get, uri, headers: headers).location["code"] != nil)
        }
    }

    @Test("The authorization endpoint refuses any method but GET and POST", arguments: [HTTPRequest.Method.put, .delete])
    func authorizeRejectsOtherMethods(method: HTTPRequest.Method) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(method, "\(TestServer.oauth)/authorize", headers: [:])
            #expect(reply.status == 405)
        }
    }

    @Test(
        "Every error below /oauth2 is reported as an OAuth 2.0 error",
        arguments: [
            (HTTPRequest.Method.get, "/nothing", 404, "not_found", nil),
            (.get, "", 404, "not_found", nil), (.get, "/realms/root/realms/nowhere/authorize", 404, "not_found", nil),
            (.put, "/authorize", 405, "invalid_request", "GET, POST"), (.get, "/access_token", 405, "invalid_request", "POST"),
            (.delete, "/userinfo", 405, "invalid_request", "GET, POST"),
            (.put, "/connect/endSession", 405, "invalid_request", "GET, POST"),
            (.delete, "/device/user", 405, "invalid_request", "GET, POST"),
            (.post, "/connect/jwk_uri", 405, "invalid_request", "GET"), (.post, "/access_token", 413, "invalid_request", nil),
            (.get, "/connect/jwk_uri", 500, "server_error", nil),
        ] as [(HTTPRequest.Method, String, Int, String, String?)])
    func reportsOAuthErrors(method: HTTPRequest.Method, path: String, status: Int, error: String, allowed: String?) async throws {
        let configuration = ServerConfiguration.sample {
            $0.signingKey = Secret("not a key".utf8)
            $0.maxBodySize = 100
        }
        try await TestServer.run(configuration) { server in
            let reply = try await server.send(
                method, "/am/oauth2\(path)", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: method == .post ? String(repeating: "a", count: 200) : nil)
            #expect(reply.status == status && reply.error == error && reply.header("Allow") == allowed)
            #expect(reply.json["error_description"]?.string?.isEmpty == false && reply.json["code"] == nil)
        }
    }
}

extension TestServer {
    /// Logs in although a session exists; the session continues.
    fileprivate func logInAgain(_ session: String) async throws -> String? {
        let headers = ["Content-Type": "application/json", "iPlanetDirectoryPro": session]
        var step = try await send(.post, "\(Self.authenticate)?ForceAuth=true", headers: headers, body: "{}").step
        step.fill("NameCallback", "mira")
        step.fill("PasswordCallback", .string(Self.password))
        return try await next(step).json["tokenId"]?.string
    }

    fileprivate func requestURI(client: String) -> String? {
        let parameters: [String: String?] = [
            "response_type": "code", "client_id": client, "scope": "openid profile", "redirect_uri": Self.redirectURI,
            "state": "s", "code_challenge": ProofKey.challenge(for: Self.verifier), "code_challenge_method": "S256",
        ]
        return "\(Self.oauth)/authorize?\(Self.form(parameters))"
    }
}
