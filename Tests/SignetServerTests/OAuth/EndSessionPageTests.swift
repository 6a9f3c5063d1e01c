import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Logouts at `endSession` in a browser (OpenID Connect RP-Initiated Logout 1.0 section 2).
@Suite("Logout pages of endSession")
struct EndSessionPageTests {
    private static let path = "\(TestServer.oauth)/connect/endSession"
    private static let bye = "https://app.example.test/bye"
    /// The header of browsers.
    private static let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

    private func headers(_ session: String?) -> [String: String] {
        var headers = ["Accept": Self.accept]
        if let session { headers["Cookie"] = "iPlanetDirectoryPro=\(session)" }
        return headers
    }

    /// Opens the address in a browser.
    private func open(_ server: TestServer, _ session: String?, _ parameters: [String: String?] = [:]) async throws -> Reply {
        try await server.send(.get, "\(Self.path)?\(TestServer.form(parameters))", headers: headers(session))
    }

    /// Sends a form in a browser.
    private func post(_ server: TestServer, _ session: String?, _ fields: [String: String?]) async throws -> Reply {
        try await server.postForm("connect/endSession", fields, headers: headers(session))
    }

    /// Returns the value that the form of a session's page contains.
    private func csrf(_ server: TestServer, _ session: String) async throws -> String {
        let value = try await open(server, session).hiddenFields["csrf"] ?? nil
        return try #require(value)
    }

    private func idToken(_ server: TestServer, _ session: String) async throws -> String {
        try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
    }

    @Test(
        "Without an id_token a browser is asked, and its form ends the session and deletes the cookie",
        arguments: [[:], ["state": "s"], ["client_id": "app"], ["client_id": "unknown"], ["post_logout_redirect_uri": bye]])
    func asksBeforeLogout(parameters: [String: String]) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let byGet = try await open(server, session, parameters)
            let byPost = try await post(server, session, parameters)
            for page in [byGet, byPost] {
                #expect(page.status == 200 && page.heading == "Sign out?" && page.text.contains("You are signed in as mira."))
                #expect(page.formAction == "/am/oauth2/connect/endSession" && Set(page.hiddenFields.keys) == ["csrf"])
                #expect(page.header("Content-Security-Policy")?.contains("form-action 'self';") == true)
            }
            #expect(try await server.isValid(session))
            let done = try await post(server, session, byGet.hiddenFields)
            #expect(done.status == 200 && done.heading == "You have signed out")
            #expect(done.cookies.first?.hasPrefix("iPlanetDirectoryPro=; Max-Age=0;") == true)
            #expect(try await !server.isValid(session))
        }
    }

    @Test("With the client_id of the client that registered it, the form leads to the address, with the state")
    func formLeadsToRegisteredAddress() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let parameters = ["client_id": "app", "post_logout_redirect_uri": Self.bye, "state": "s&1"]
            let page = try await open(server, session, parameters)
            #expect(page.heading == "Sign out?" && page.text.contains("you return to app"))
            #expect(page.header("Content-Security-Policy")?.contains("form-action 'self' https://app.example.test;") == true)
            let done = try await post(server, session, page.hiddenFields)
            #expect(done.status == 302 && done.header("Location") == "\(Self.bye)?state=s%261")
            #expect(done.cookies.first?.hasPrefix("iPlanetDirectoryPro=; Max-Age=0;") == true)
            #expect(try await !server.isValid(session))
        }
    }

    @Test(
        "An address that the client_id's client has not registered is refused, and the session continues",
        arguments: [
            ["client_id": "app", "post_logout_redirect_uri": "https://evil.example.test/"],
            ["client_id": "app", "post_logout_redirect_uri": "\(bye)?x=1"],
            ["client_id": "other", "post_logout_redirect_uri": bye], ["client_id": "unknown", "post_logout_redirect_uri": bye],
        ])
    func refusesUnregisteredLogoutAddress(parameters: [String: String]) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let own = try await csrf(server, session)
            let pages = [
                try await open(server, session, parameters), try await open(server, nil, parameters),
                try await post(server, session, parameters.merging(["csrf": own]) { $1 }),
            ]
            for page in pages {
                #expect(page.status == 400 && page.heading == "Request refused" && page.formAction == nil)
                #expect(page.pageError?.code == "redirect_uri_mismatch" && page.header("Location") == nil)
            }
            #expect(try await server.isValid(session))
        }
    }

    @Test("A form without the value of the session's own page ends no session")
    func foreignFormEndsNoOwnSession() async throws {
        try await TestServer.run { server in
            let (session, other) = (try await server.session(), try await server.session(name: "noa", password: "staple"))
            let (own, foreign) = (try await csrf(server, session), try await csrf(server, other))
            for value in [foreign, "", session, String(own.dropLast()), "x"] {
                let reply = try await post(server, session, ["csrf": value])
                let isQuestion = reply.status == 200 && reply.heading == "Sign out?"
                #expect(value.isEmpty ? isQuestion : reply.status == 403 && reply.pageError?.code == "access_denied", "\(value)")
                #expect(reply.cookies.isEmpty)
            }
            // The value counts in a form only.
            #expect(try await open(server, session, ["csrf": own]).heading == "Sign out?")
            let header = ["iPlanetDirectoryPro": session]
            #expect(
                try await server.postForm("connect/endSession", ["csrf": own], headers: header).heading == "You are not signed in"
            )
            #expect(try await server.isValid(session))
            #expect(try await server.isValid(other))
        }
    }

    @Test("Without a session the page says so, and has a link to the registered address only")
    func saysThatNoUserIsSignedIn() async throws {
        try await TestServer.run { server in
            let parameters = ["client_id": "app", "post_logout_redirect_uri": Self.bye, "state": "s"]
            let foreign = try await server.session(password: "other", at: "/am/json/realms/root/realms/alpha/authenticate")
            for session in [nil, "unknown", foreign] {
                let page = try await open(server, session)
                #expect(page.status == 200 && page.heading == "You are not signed in" && page.formAction == nil)
                let plain = try await open(server, session, ["post_logout_redirect_uri": Self.bye])
                #expect(plain.heading == "You are not signed in" && !plain.text.contains(Self.bye))
                let linked = try await open(server, session, parameters)
                #expect(linked.text.contains("<a href=\"\(Self.bye)?state=s\""))
                let sent = try await post(server, session, ["csrf": "x"])
                #expect(sent.status == 200 && sent.heading == "You are not signed in")
            }
        }
    }

    @Test("A form that comes without the cookie leads to the same address, to which the browser sends the cookie")
    func formWithoutCookieIsRedirected() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let path = "/am/oauth2/connect/endSession"
            let kept = ["client_id": "app", "post_logout_redirect_uri": Self.bye, "state": "s&1 ü", "ui_locales": "nb"]
            let reply = try await post(server, nil, kept.merging(["other": "x"]) { $1 })
            #expect(reply.status == 303 && reply.text.isEmpty && reply.header("Cache-Control") == "no-store")
            let location = try #require(reply.header("Location"))
            let address = String(location.prefix { $0 != "?" })
            #expect(address == path && FormCoding.query(of: location) == kept)
            let question = try await server.send(.get, location, headers: headers(session))
            #expect(question.heading == "Sign out?" && question.text.contains("you return to app"))
            let other = try await server.send(.get, location, headers: headers(nil))
            #expect(other.heading == "You are not signed in")
            let empty = try await post(server, "unknown", [:])
            #expect(empty.status == 303 && empty.header("Location") == path)
            let long = try await post(server, nil, ["state": String(repeating: "s", count: 9000)])
            #expect(long.status == 400 && long.pageError?.code == "invalid_request" && long.header("Location") == nil)
            let unregistered = try await post(server, nil, kept.merging(["post_logout_redirect_uri": "https://x.test/"]) { $1 })
            #expect(unregistered.pageError?.code == "redirect_uri_mismatch" && unregistered.header("Location") == nil)
            #expect(try await server.isValid(session))
        }
    }

    @Test(
        "A browser with another session than that of the id_token is asked, and nothing ends before the answer",
        arguments: [true, false], ["noa", "mira"])
    func asksAboutForeignHint(isForm: Bool, user: String) async throws {
        try await TestServer.run { server in
            let hinted = try await server.session()
            let own = try await server.session(name: user, password: user == "noa" ? "staple" : TestServer.password)
            let request = [
                "id_token_hint": try await idToken(server, hinted), "post_logout_redirect_uri": Self.bye, "state": "s&1",
            ]
            let page = try await isForm ? post(server, own, request) : open(server, own, request)
            #expect(page.status == 200 && page.heading == "Sign out?" && page.cookies.isEmpty)
            #expect(page.text.contains("You are signed in as \(user).") && page.text.contains("you return to app"))
            let names = Set(page.hiddenFields.keys)
            #expect(names == ["client_id", "post_logout_redirect_uri", "state", "csrf"])
            #expect(try await server.isValid(hinted))
            #expect(try await server.isValid(own))
            let done = try await post(server, own, page.hiddenFields)
            #expect(done.status == 302 && done.header("Location") == "\(Self.bye)?state=s%261")
            #expect(try await !server.isValid(own))
            // The answer was about the session of the browser.
            #expect(try await server.isValid(hinted))
        }
    }

    @Test("A browser that has the session of the id_token besides another one is not asked")
    func endsHintedSessionOfSeveral() async throws {
        try await TestServer.run { server in
            let (hinted, other) = (try await server.session(), try await server.session(name: "noa", password: "staple"))
            let query = TestServer.form(["id_token_hint": try await idToken(server, hinted)])
            var sent = headers(other)
            sent["Cookie", default: ""] += "; iPlanetDirectoryPro=\(hinted)"
            let page = try await server.send(.get, "\(Self.path)?\(query)", headers: sent)
            #expect(page.heading == "You have signed out")
            #expect(try await !server.isValid(hinted))
            #expect(try await server.isValid(other))
        }
    }

    @Test("A program with another session than that of the id_token ends the session of the id_token")
    func programEndsHintedSession() async throws {
        try await TestServer.run { server in
            let (hinted, other) = (try await server.session(), try await server.session(name: "noa", password: "staple"))
            let query = TestServer.form(["id_token_hint": try await idToken(server, hinted)])
            let headers = ["Cookie": "iPlanetDirectoryPro=\(other)"]
            #expect(try await server.send(.get, "\(Self.path)?\(query)", headers: headers).status == 204)
            #expect(try await !server.isValid(hinted))
            #expect(try await server.isValid(other))
        }
    }

    @Test("A navigation that accepts pages gets one, also without the type of XHTML")
    func navigationGetsPage() async throws {
        try await TestServer.run { server in
            let headers = ["Accept": "text/html", "Sec-Fetch-Mode": "navigate"]
            #expect(try await server.send(.get, Self.path, headers: headers).heading == "You are not signed in")
            let fetch = try await server.send(.get, Self.path, headers: ["Accept": "text/html", "Sec-Fetch-Mode": "cors"])
            #expect(fetch.status == 400 && fetch.json["error"] == "invalid_request")
        }
    }

    /// The header of programs; the last value is that of Java's `HttpURLConnection`.
    private static let programs: [String?] = [
        nil, "*/*", "application/json", "text/html;q=0, */*", "text/*", "text/html", "application/xhtml+xml",
        "text/html, application/xhtml+xml;q=0", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    ]

    @Test("Only a request that accepts pages as browsers do gets one", arguments: programs)
    func programsKeepTheirAnswers(accept: String?) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let token = try await idToken(server, session)
            var headers = ["Cookie": "iPlanetDirectoryPro=\(session)"]
            if let accept { headers["Accept"] = accept }
            let query = TestServer.form(["post_logout_redirect_uri": "https://evil.example.test/", "id_token_hint": token])
            for (path, code) in [
                (Self.path, "invalid_request"), ("\(Self.path)?id_token_hint=x", "invalid_request"),
                ("\(Self.path)?\(query)", "redirect_uri_mismatch"),
            ] {
                let reply = try await server.send(.get, path, headers: headers)
                #expect(reply.status == 400 && reply.json["error"]?.string == code, "\(path)")
            }
            let posted = try await server.postForm("connect/endSession", [:], headers: headers)
            #expect(posted.status == 400 && posted.json["error"] == "invalid_request")
            #expect(try await server.isValid(session))
            let done = try await server.send(.get, "\(Self.path)?id_token_hint=\(token)", headers: headers)
            #expect(done.status == 204 && done.text.isEmpty)
            #expect(try await !server.isValid(session))
        }
    }

    @Test("With an id_token and without an address a browser gets a page that says that the session has ended")
    func showsEndOfHintedSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let token = try await idToken(server, session)
            for _ in 0..<2 {
                let page = try await open(server, session, ["id_token_hint": token])
                #expect(page.status == 200 && page.heading == "You have signed out")
                #expect(page.cookies.first?.hasPrefix("iPlanetDirectoryPro=; Max-Age=0;") == true)
            }
            #expect(try await !server.isValid(session))
        }
    }

    @Test("A browser gets refusals as a page, or as JSON with the setting for programs", arguments: AuthorizeErrorFormat.allCases)
    func refusalsFollowSetting(format: AuthorizeErrorFormat) async throws {
        try await TestServer.run(.sample { $0.authorizeErrors = format }) { server in
            let session = try await server.session()
            let token = try await idToken(server, session)
            for (parameters, code) in [
                (["id_token_hint": "x"], "invalid_request"), (["id_token_hint": token, "client_id": "other"], "invalid_request"),
                (["id_token_hint": token, "post_logout_redirect_uri": "https://evil.example.test/"], "redirect_uri_mismatch"),
                (["client_id": "app", "post_logout_redirect_uri": "https://evil.example.test/"], "redirect_uri_mismatch"),
            ] {
                let reply = try await open(server, session, parameters)
                #expect(reply.status == 400 && reply.header("Location") == nil)
                #expect(format == .page ? reply.pageError?.code == code : reply.json["error"]?.string == code)
            }
            #expect(try await server.isValid(session))
        }
    }

    // MARK: id_token_hint

    @Test("An id_token without AM's claims is a hint in its realm", arguments: ["/", "/alpha"])
    func acceptsHintWithoutRealmClaim(realm: String) async throws {
        try await TestServer.run(.sample { $0.profile = .openid }) { server in
            let isRoot = realm == "/"
            let session = try await server.session(
                password: isRoot ? TestServer.password : "other",
                at: "/am/json/realms/root\(isRoot ? "" : "/realms/alpha")/authenticate")
            let (own, foreign) = ("/am/oauth2\(isRoot ? "" : "/realms/root/realms/alpha")", "/am/oauth2\(isRoot ? "/alpha" : "")")
            let code = try #require(try await server.authorize(session, at: own).location["code"])
            let token = try #require(try Tokens(try await server.exchange(code, at: own)).id)
            let claims = try #require(SignedToken(token)).claims
            #expect(claims["realm"] == nil && claims["tokenName"] == nil)
            let query = "connect/endSession?id_token_hint=\(token)"
            #expect(try await server.send(.get, "\(foreign)/\(query)", headers: [:]).status == 400)
            let hinted = try await server.authorize(session, ["prompt": "none", "id_token_hint": token], at: own)
            #expect(try hinted.location["code"] != nil)
            #expect(try await server.send(.get, "\(own)/\(query)", headers: [:]).status == 204)
            let silent = try await server.authorize(session, ["prompt": "none"], at: own)
            #expect(try silent.location["code"] == nil)
        }
    }

    @Test("Other tokens that the server signs are not accepted as id_token_hint", arguments: ConformanceProfile.allCases)
    func refusesOtherSignedTokens(profile: ConformanceProfile) async throws {
        let imitation: [String: JSONValue] = [
            "azp": "app", "exp": .integer(4_000_000_000), "iat": .integer(1), "auth_time": .integer(1), "jti": "1", "sid": "1",
            "tokenName": "id_token", "realm": "/",
        ]
        let configuration = ServerConfiguration.sample {
            $0.profile = profile
            $0.users.append(User(name: "eve", password: Secret("eve".utf8), claims: imitation))
            $0.clients[0].userInfoSigningAlgorithm = .rs256
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session(name: "eve", password: "eve")
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            let hint = try #require(tokens.id)
            let info = try await server.userInfo(tokens.access).text
            #expect(try await server.claims(info)["sub"] == "eve")
            let claims = try #require(SignedToken(hint)).claims
            let context = server.devServer.context
            let delivery = LogoutDelivery(
                id: "1", client: ClientKey(realm: .root, id: "app"), user: UserKey(realm: .root, name: "eve"),
                session: TokenHash(session), deadline: context.time.now, nextAttempt: context.time.now)
            let logout = delivery.claims(context.time)
            var texts = [info, try await context.signer.sign(logout, type: TokenSigner.logoutType)]
            texts.append(try await context.signer.sign(claims, type: TokenSigner.logoutType))
            texts.append(try await context.signer.sign(claims.merging(logout) { own, _ in own }))
            for (name, value) in [
                ("tokenName", "access_token"), ("realm", "/alpha"), ("azp", "other"), ("aud", "other"), ("iss", "x"),
                ("exp", nil),
                ("iat", nil), ("auth_time", nil), ("jti", nil), ("azp", nil), ("sub", nil),
            ] as [(String, String?)] {
                var changed = claims
                changed[name] = value.map { .string($0) }
                texts.append(try await context.signer.sign(changed))
            }
            for text in texts {
                let hinted = try await IDTokenHint(text, at: context)
                #expect(hinted == nil, "\(text)")
                #expect(try await server.send(.get, "\(Self.path)?id_token_hint=\(text)", headers: [:]).status == 400)
            }
            #expect(try await server.isValid(session))
            #expect(try await server.send(.get, "\(Self.path)?id_token_hint=\(hint)", headers: [:]).status == 204)
        }
    }
}
