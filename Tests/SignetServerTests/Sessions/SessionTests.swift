import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    static let sessions = "/am/json/realms/root/sessions"

    func sessionAction(
        _ action: String, _ headers: [String: String], at path: String = sessions, body: String? = nil
    ) async throws -> Reply {
        try await send(.post, "\(path)?_action=\(action)", headers: headers, body: body)
    }

    /// Returns whether a session is still valid, without using it.
    func isValid(_ session: String) async throws -> Bool {
        try await sessionAction("validate", ["iPlanetDirectoryPro": session]).json["valid"] == .bool(true)
    }
}

@Suite("Sessions")
struct SessionTests {
    /// The logout requests of each SDK (protocol/journey.md sections 1.6 and 1.7); TOKEN stands for the token.
    static let logouts: [(headers: [String: String], body: String?, path: String)] = [
        (
            ["accept-api-version": "resource=3.1", "Content-Type": "application/json", "iPlanetDirectoryPro": "TOKEN"],
            "{\"tokenId\":\"TOKEN\"}", TestServer.sessions
        ),
        (
            [
                "Accept-API-Version": "resource=3.1, protocol=1.0", "Content-Type": "application/json",
                "iPlanetDirectoryPro": "TOKEN",
            ], "", TestServer.sessions
        ),
        (
            [
                "Accept-API-Version": "resource=3.1, protocol=1.0", "Content-Type": "application/json",
                "iPlanetDirectoryPro": "TOKEN",
            ], "{}", TestServer.sessions
        ),
        (
            ["Accept-API-Version": "protocol=1.0,resource=2.0", "Cookie": "iPlanetDirectoryPro=TOKEN"], nil,
            TestServer.sessions + "/"
        ),
    ]

    @Test("The logout of each SDK ends the session and deletes the cookie", arguments: logouts.indices)
    func logoutEndsSession(index: Int) async throws {
        let request = Self.logouts[index]
        try await TestServer.run { server in
            let session = try await server.session()
            let fill = { (text: String) in text.replacingOccurrences(of: "TOKEN", with: session) }
            func logOut() async throws -> Reply {
                try await server.sessionAction(
                    "logout", request.headers.mapValues(fill), at: request.path, body: request.body.map(fill))
            }
            let reply = try await logOut()
            #expect(reply.status == 200)
            #expect(reply.text == "{\"result\":\"Successfully logged out\"}")
            #expect(
                reply.cookies == [
                    "iPlanetDirectoryPro=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly; SameSite=Lax"
                ])
            #expect(reply.header("Content-API-Version") == (index == 3 ? "resource=2.1" : "resource=3.1"))
            #expect(try await server.isValid(session) == false)
            let again = try await logOut()
            #expect(again.status == 401)
            #expect(again.text == "{\"code\":401,\"message\":\"Access Denied\",\"reason\":\"Unauthorized\"}")
        }
    }

    @Test("A logout ends the session but not the tokens that it issued")
    func logoutKeepsTokens() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            #expect(try await server.sessionAction("logout", ["iPlanetDirectoryPro": session]).status == 200)
            #expect(try await server.userInfo(tokens.access).status == 200)
        }
    }

    @Test(
        "The session information has the fields of AM", arguments: ["resource=2.0", "resource=2.1", "resource=2.1, protocol=1.0"])
    func returnsSessionInformation(version: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session(password: "other", at: "/am/json/alpha/authenticate")
            server.clock.advance(by: 60)
            let reply = try await server.sessionAction(
                "getSessionInfo", ["iPlanetDirectoryPro": session, "Accept-API-Version": version], at: "/am/json/alpha/sessions")
            #expect(reply.status == 200)
            #expect(reply.json["username"] == "mira")
            #expect(reply.json["realm"] == "/alpha")
            #expect(reply.json["universalId"] == "id=mira,ou=user,o=alpha,ou=services,ou=am-config")
            #expect(reply.json["latestAccessTime"] == "2025-01-01T00:00:00Z")
            #expect(reply.json["maxIdleExpirationTime"] == "2025-01-01T00:30:00Z")
            #expect(reply.json["maxSessionExpirationTime"] == "2025-01-01T02:00:00Z")
            #expect(reply.json["properties"]?["AMCtxId"]?.string != nil)
            #expect(try await server.sessionAction("getSessionInfo", ["iPlanetDirectoryPro": session]).status == 401)
            #expect(try await server.sessionAction("getSessionInfo", [:]).status == 401)
        }
    }

    @Test("S17: The action getSessionInfo by tokenId needs a session of the caller's own", arguments: [false, true])
    func describesOtherSessionToCallerWithSession(hasSession: Bool) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            var headers = ["Accept-API-Version": "resource=2.0", "Content-Type": "application/json"]
            if hasSession { headers["iPlanetDirectoryPro"] = session }
            let reply = try await server.sessionAction("getSessionInfo", headers, body: "{\"tokenId\":\"\(session)\"}")
            #expect(reply.status == (hasSession ? 200 : 401))
            #expect(reply.json["username"]?.string == (hasSession ? "mira" : nil))
            #expect(reply.message == (hasSession ? nil : "Access Denied"))
        }
    }

    @Test("A session is validated by header, cookie, body or path")
    func validatesSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let replies = [
                try await server.sessionAction("validate", ["iPlanetDirectoryPro": session]),
                try await server.sessionAction("validate", ["Cookie": "iPlanetDirectoryPro=\(session)"]),
                try await server.sessionAction(
                    "validate", ["Content-Type": "application/json"], body: "{\"tokenId\":\"\(session)\"}"),
                try await server.sessionAction(
                    "validate", ["Accept-API-Version": "resource=1.2"], at: "\(TestServer.sessions)/\(session)"),
            ]
            for reply in replies {
                #expect(reply.json["valid"] == .bool(true))
                #expect(reply.json["uid"] == "mira")
                #expect(reply.json["realm"] == "/")
            }
            #expect(try await server.sessionAction("validate", ["iPlanetDirectoryPro": "x"]).text == "{\"valid\":false}")
        }
    }

    @Test(
        "An unknown action, version or body is refused by the session resource",
        arguments: [
            ("", "resource=3.1", "", 400), ("dance", "resource=3.1", "", 501), ("logout", "resource=4.1", "", 404),
            ("logout", "resource=3.2", "", 404), ("logout", "resource=6.0", "", 404), ("logout", "resource=3.1", "[1]", 400),
        ])
    func rejectsUnknownSessionRequest(action: String, version: String, body: String, status: Int) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let headers = [
                "iPlanetDirectoryPro": session, "Accept-API-Version": version, "Content-Type": "application/json",
            ]
            #expect(try await server.sessionAction(action, headers, body: body).status == status)
            #expect(try await server.send(.get, "\(TestServer.sessions)?_action=logout", headers: headers).status == 405)
            #expect(try await server.isValid(session))
        }
    }

    @Test("An idle session ends at the idle timeout and a used one at the maximum session time", arguments: [false, true])
    func endsIdleOrOldSession(isUsed: Bool) async throws {
        try await TestServer.run(
            .sample {
                $0.sessionIdleTimeout = 100
                $0.sessionMaxLifetime = 250
            }
        ) { server in
            let session = try await server.session()
            var lifetime = 0
            while try await server.isValid(session), lifetime < 1000 {
                server.clock.advance(by: 10)
                lifetime += 10
                if isUsed { _ = try await server.authorize(session) }
            }
            #expect(lifetime == (isUsed ? 250 : 100))
        }
    }

    @Test("The cookie has the configured domain, path and attributes")
    func setsConfiguredCookie() async throws {
        try await TestServer.run(
            .sample {
                $0.cookieDomain = "example.test"
                $0.cookieIsHTTPOnly = false
                $0.publicURL = "https://login.example.test/am"
                $0.loadBalancerCookie = nil
            }
        ) { server in
            let reply = try await server.logIn("Login")
            let token = try #require(reply.json["tokenId"]?.string)
            #expect(reply.cookies == ["iPlanetDirectoryPro=\(token); Path=/; Domain=example.test; SameSite=Lax; Secure"])
            let end = try await server.sessionAction("logout", ["Cookie": "iPlanetDirectoryPro=\(token)"])
            #expect(try #require(end.cookies.first).hasSuffix("; Path=/; Domain=example.test; SameSite=Lax; Secure"))
        }
    }
}

@Suite("The SameSite attribute of cookies")
struct SameSiteTests {
    @Test(
        "F6, S17: The session cookie and the load balancer cookie have the configured SameSite and Domain, and None is Secure",
        arguments: [(CookieSameSite.lax, "; SameSite=Lax"), (.strict, "; SameSite=Strict"), (.none, "; SameSite=None; Secure")])
    func setsSameSite(setting: CookieSameSite, attributes: String) async throws {
        try await TestServer.run(
            .sample {
                $0.cookieSameSite = setting
                $0.cookieDomain = "example.test"
            }
        ) { server in
            let reply = try await server.logIn("Login")
            let token = try #require(reply.json["tokenId"]?.string)
            #expect(
                reply.cookies == [
                    "iPlanetDirectoryPro=\(token); Path=/; Domain=example.test; HttpOnly\(attributes)",
                    "amlbcookie=01; Path=/; Domain=example.test\(attributes)",
                ])
            let end = try await server.sessionAction("logout", ["Cookie": "iPlanetDirectoryPro=\(token)"])
            let expired = try #require(end.cookies.first)
            #expect(expired.hasSuffix("; Path=/; Domain=example.test; HttpOnly\(attributes)"))
        }
    }

    @Test("The configuration file names SameSite in lower case, and refuses other words")
    func readsSameSiteSetting() throws {
        let file = try ServerConfiguration(yaml: "server: {cookieSameSite: none, devicePendingStatus: 403}")
        #expect(file.cookieSameSite == .none && file.devicePendingStatus == 403)
        for text in ["cookieSameSite: off", "devicePendingStatus: 500"] {
            #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: "server: {\(text)}") }
        }
    }
}

@Suite("Journeys of a user who has a session")
struct UpgradeTests {
    private func start(
        _ server: TestServer, _ journey: String?, _ headers: [String: String], query: String = "",
        at path: String = TestServer.authenticate
    ) async throws -> Reply {
        let index = journey.map { "authIndexType=service&authIndexValue=\($0)" } ?? ""
        return try await server.send(.post, "\(path)?\(index)\(query)", headers: headers)
    }

    private func finish(_ server: TestServer, _ reply: Reply, name: String = "mira", password: String = TestServer.password)
        async throws -> Reply
    {
        var step = try reply.step
        step.fill("NameCallback", .string(name))
        step.fill("PasswordCallback", .string(password))
        return try await server.next(step)
    }

    @Test(
        "A completed journey returns the token of the session at once",
        arguments: [
            ("Login", ["iPlanetDirectoryPro": "TOKEN"], ""), (nil, ["Cookie": "iPlanetDirectoryPro=TOKEN"], ""),
            ("Login", ["iPlanetDirectoryPro": "TOKEN"], "&noSession=false&ForceAuth=false"),
        ] as [(String?, [String: String], String)])
    func returnsTokenOfCompletedJourney(journey: String?, headers: [String: String], query: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let shown = headers.mapValues { $0.replacingOccurrences(of: "TOKEN", with: session) }
            let reply = try await start(server, journey, shown, query: query)
            #expect(reply.json["tokenId"] == .string(session))
            #expect(reply.json["realm"] == "/")
        }
    }

    @Test("ForceAuth runs the journey again, and the same user keeps the token")
    func forceAuthKeepsToken() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let reply = try await start(server, "Login", ["iPlanetDirectoryPro": session], query: "&ForceAuth=true")
            #expect(try await finish(server, reply).json["tokenId"] == .string(session))
            let other = try await start(server, "Login", ["iPlanetDirectoryPro": session], query: "&ForceAuth=true")
            let token = try await finish(server, other, name: "noa", password: "staple").json["tokenId"]?.string
            #expect(token != nil && token != session)
            #expect(try await server.isValid(session))
        }
    }

    @Test("Another journey runs and is then completed for the same session")
    func completesOtherJourneyInSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let header = ["iPlanetDirectoryPro": session]
            let phone = try await server.registeredPhone()
            var step = try await start(server, "PushLogin", header).step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let waiting = try await server.next(step).step
            _ = try await phone.answer(try #require(try await server.inbox(phone.uid).last), at: server)
            #expect(try await server.poll(waiting).json["tokenId"] == .string(session))
            #expect(try await start(server, "PushLogin", header).json["tokenId"] == .string(session))
        }
    }

    @Test("A token of another realm, an unknown token and an expired token do not count as a session")
    func ignoresInvalidSessionToken() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let alpha = try await start(
                server, "Login", ["iPlanetDirectoryPro": session], at: "/am/json/realms/root/realms/alpha/authenticate")
            #expect(alpha.json["authId"] != nil)
            #expect(try await start(server, "Login", ["iPlanetDirectoryPro": "x"]).json["authId"] != nil)
            server.clock.advance(by: 7200)
            #expect(try await start(server, "Login", ["iPlanetDirectoryPro": session]).json["authId"] != nil)
        }
    }

    @Test(
        "Policy advice names a journey, or a transaction that is confirmed each time",
        arguments: [
            ("AuthenticateToServiceConditionAdvice", "/:Login", true), ("AuthenticateToServiceConditionAdvice", "Login", true),
            ("TransactionConditionAdvice", "9dae2c80-fe7a-4a36-b57b-4fb1271b0687", false),
        ])
    func followsPolicyAdvice(type: String, value: String, isSatisfied: Bool) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let advice =
                "<Advices><AttributeValuePair><Attribute name=\"\(type)\"/><Value>\(value)</Value></AttributeValuePair></Advices>"
            let query = "&authIndexType=composite_advice&authIndexValue=\(advice.percentEncoded())"
            let reply = try await start(server, nil, ["Cookie": "iPlanetDirectoryPro=\(session)"], query: query)
            #expect((reply.json["tokenId"] == .string(session)) == isSatisfied)
            if !isSatisfied { #expect(try await finish(server, reply).json["tokenId"] == .string(session)) }
        }
    }

    @Test(
        "Advice that cannot be followed is refused",
        arguments: [
            "", "x", "<Advices></Advices>",
            "<Advices><AttributeValuePair><Attribute name=\"AuthLevelConditionAdvice\"/><Value>5</Value></AttributeValuePair></Advices>",
            "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value></Value></AttributeValuePair></Advices>",
            "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>x</Value></AttributeValuePair></Advices>more",
        ])
    func rejectsUnusableAdvice(advice: String) throws {
        #expect(throws: APIError.self) { try PolicyAdvice(advice) }
    }

    @Test("Advice may span several lines and contain XML references")
    func parsesAdviceWithWhitespace() throws {
        let advice = try PolicyAdvice(
            """
            <Advices>
              <AttributeValuePair>
                <Attribute name="AuthenticateToServiceConditionAdvice" />
                <Value> /alpha:Tom &amp; Jerry </Value>
              </AttributeValuePair>
            </Advices>
            """)
        #expect(advice == .service("Tom & Jerry", RealmPath("/alpha")))
    }

    @Test("Advice about another realm is not followed", arguments: [("Login", 200), ("/:Login", 200), ("/alpha:Login", 400)])
    func rejectsAdviceForOtherRealm(value: String, status: Int) async throws {
        try await TestServer.run { server in
            let advice =
                "<Advices><AttributeValuePair><Attribute name=\"AuthenticateToServiceConditionAdvice\"/>"
                + "<Value>\(value)</Value></AttributeValuePair></Advices>"
            let query = "authIndexType=composite_advice&authIndexValue=\(advice.percentEncoded())"
            let reply = try await server.send(.post, "\(TestServer.authenticate)?\(query)", body: "{}")
            #expect(reply.status == status)
        }
    }

    @Test("A locked user learns of the lock only after the right password")
    func reportsLockAfterRightPassword() async throws {
        let user = User(name: "lou", password: Secret("pin".utf8), isLocked: true)
        try await TestServer.run(.sample { $0.users.append(user) }) { server in
            let right = try await server.logIn("Login", name: "lou", password: "pin")
            #expect(right.status == 401)
            #expect(right.message == "User Locked Out.")
            #expect(try await server.logIn("Login", name: "lou", password: "x").message == "Login failure")
            // On the way there no device is registered and no message is sent.
            for journey in ["PushRegistration", "OATHRegistration", "DeviceBinding", "WebAuthnRegistration", "PushLogin"] {
                #expect(try await server.logIn(journey, name: "lou", password: "pin").message == "User Locked Out.")
            }
        }
    }
}
