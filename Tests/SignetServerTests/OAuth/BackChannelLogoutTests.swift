#if os(Linux)
import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Logout tokens to clients (OpenID Connect Back-Channel Logout 1.0).
@Suite("Back-channel logout", .timeLimit(.minutes(5)))
struct BackChannelLogoutTests {
    /// The ways in which a session ends before its time.
    enum End: String, Sendable, CaseIterable {
        case idToken, question, sessionAction, sessionPage, key, user, everyUser, password

        func perform(_ server: TestServer, _ session: String, _ idToken: String) async throws {
            let operations = AdminOperations(server: server.devServer.context)
            let mira = UserKey(realm: .root, name: "mira")
            let browser = PageBrowser(server, cookies: ["iPlanetDirectoryPro": session])
            switch self {
            case .idToken:
                let path = "\(TestServer.oauth)/connect/endSession?id_token_hint=\(idToken)"
                try #require(try await server.send(.get, path, headers: [:]).status == 204)
            case .question:
                let headers = ["Accept": "text/html,application/xhtml+xml", "Cookie": "iPlanetDirectoryPro=\(session)"]
                let page = try await server.send(.get, "\(TestServer.oauth)/connect/endSession", headers: headers)
                let done = try await server.postForm("connect/endSession", page.hiddenFields, headers: headers)
                try #require(done.heading == "You have signed out")
            case .sessionAction: try await server.logOut(session)
            case .sessionPage: _ = try await browser.submit(try await browser.get("/am/XUI/session"), [:])
            case .key: _ = try await operations.endSession(TokenHash(session))
            case .user: try await server.devServer.endSessions(of: "mira")
            case .everyUser: _ = try await operations.endSessions(of: nil)
            case .password: _ = try await operations.change(mira, isLocked: nil, password: Secret("new horse".utf8))
            }
        }
    }

    @Test("Each way to end a session sends its client one signed logout token", arguments: End.allCases)
    func everyEndSendsLogoutToken(end: End) async throws {
        let (app, other) = (try BackChannelReceiver(), try BackChannelReceiver())
        try await TestServer.run(.backChannel(["app": app, "other": other])) { server in
            let session = try await server.session()
            let tokens = try await server.logIn("app", session)
            _ = try await server.logIn("app", session)
            let idToken = try #require(tokens.id)
            let sid = try await server.claims(idToken)["sid"]
            try await end.perform(server, session, idToken)
            let request = try #require(try await app.wait(for: 1).first)
            #expect(request.line == "POST /logout?a=b HTTP/1.1" && Set(request.fields.keys) == ["logout_token"])
            #expect(request.contentType == "application/x-www-form-urlencoded")
            #expect(SignedToken(request.token)?.header["typ"] == "logout+jwt")
            let claims = try await server.claims(request.token)
            #expect(Set(claims.keys) == ["iss", "aud", "iat", "exp", "jti", "sub", "sid", "events"])
            #expect(claims["iss"] == "http://127.0.0.1:8080/am/oauth2" && claims["aud"] == "app" && claims["sub"] == "mira")
            let now = Int64(server.clock.now.timeIntervalSince1970)
            #expect(claims["iat"] == .integer(now) && claims["exp"] == .integer(now + 120))
            #expect(claims["sid"] == sid && sid != nil && claims["jti"]?.string?.isEmpty == false)
            #expect(claims["events"] == .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]))
            try await server.finishedLogouts()
            // The other client got no tokens in the session.
            #expect(app.requests.count == 1 && other.requests.isEmpty)
            #expect(try await !server.isValid(session))
        }
    }

    @Test("Each client of a session gets its own logout token, and other sessions continue")
    func informsEachClientOfSession() async throws {
        let (app, other) = (try BackChannelReceiver(), try BackChannelReceiver())
        try await TestServer.run(.backChannel(["app": app, "other": other])) { server in
            let session = try await server.session()
            let (same, noa) = (try await server.session(), try await server.session(name: "noa", password: "staple"))
            for client in ["app", "other", "keeper"] { _ = try await server.logIn(client, session) }
            _ = try await server.logIn("app", same)
            _ = try await server.logIn("app", noa)
            try await server.logOut(session)
            let tokens = [try await app.wait(for: 1)[0].claims, try await other.wait(for: 1)[0].claims]
            try await server.finishedLogouts()
            #expect(tokens[0]["aud"] == "app" && tokens[1]["aud"] == "other" && tokens[0]["jti"] != tokens[1]["jti"])
            #expect(tokens[0]["sid"] == tokens[1]["sid"] && tokens[0]["sid"] == .string(TokenHash(session).text))
            #expect(app.requests.count == 1 && other.requests.count == 1)
            #expect(try await server.isValid(same))
            #expect(try await server.isValid(noa))
        }
    }

    @Test("A client that learned of the session by an id_token or a device code is informed too", arguments: [true, false])
    func informsClientOfOtherGrants(isDevice: Bool) async throws {
        let app = try BackChannelReceiver()
        try await TestServer.run(.backChannel(["app": app])) { server in
            let session = try await server.session()
            if isDevice {
                let codes = try await server.deviceCodes()
                let form: [String: String?] = ["user_code": codes["user_code"]?.string, "decision": "allow", "csrf": session]
                _ = try await server.postForm("device/user", form, headers: ["iPlanetDirectoryPro": session])
                let code = try #require(codes["device_code"]?.string)
                #expect(try await server.redeem(deviceCode: code).status == 200)
            } else {
                let changes: [String: String?] = [
                    "prompt": "none", "response_type": "id_token", "scope": "openid", "nonce": "n", "code_challenge": nil,
                    "code_challenge_method": nil,
                ]
                let reply = try await server.authorize(session, changes)
                #expect(reply.header("Location")?.contains("id_token=") == true)
            }
            try await server.logOut(session)
            #expect(try await app.wait(for: 1)[0].claims["sub"] == "mira")
        }
    }

    @Test("A session that expires, or whose user is locked, sends no logout token")
    func expiryAndLockSendNothing() async throws {
        let app = try BackChannelReceiver()
        try await TestServer.run(.backChannel(["app": app])) { server in
            let locked = try await server.session(name: "noa", password: "staple")
            _ = try await server.logIn("app", locked)
            try await server.devServer.setLocked(true, "noa")
            let session = try await server.session()
            _ = try await server.logIn("app", session)
            server.devServer.moveClock(by: .seconds(1801))
            #expect(try await !server.isValid(session))
            // The token of a later logout is the first one.
            let later = try await server.session()
            _ = try await server.logIn("app", later)
            try await server.logOut(later)
            let sessions = try await app.wait(for: 1).map { $0.claims["sid"]?.string }
            #expect(sessions == [TokenHash(later).text])
        }
    }

    // MARK: Tokens of an ended session

    /// A login of a client whose session then ends.
    struct EndedLogin: Sendable {
        let profile: ConformanceProfile
        let isInformed: Bool
        let scope: String
        /// True when its tokens and its code are valid afterwards.
        let isValid: Bool
    }

    static let endedLogins = [
        EndedLogin(profile: .am, isInformed: false, scope: "openid", isValid: true),
        EndedLogin(profile: .am, isInformed: true, scope: "openid", isValid: false),
        EndedLogin(profile: .am, isInformed: true, scope: "openid offline_access", isValid: true),
        EndedLogin(profile: .openid, isInformed: false, scope: "openid", isValid: true),
        EndedLogin(profile: .openid, isInformed: true, scope: "openid", isValid: false),
    ]

    @Test(
        "Tokens without offline_access end with the session if the client is informed, in both profiles",
        arguments: endedLogins)
    func tokensEndWithSession(login: EndedLogin) async throws {
        let app = try BackChannelReceiver()
        let configuration = ServerConfiguration.backChannel(login.isInformed ? ["app": app] : [:]) {
            $0.profile = login.profile
            $0.clients[0].scopes.append("offline_access")
        }
        try await TestServer.run(configuration) { server in
            let (session, other) = (try await server.session(), try await server.session())
            let tokens = try await server.logIn("app", session, ["scope": login.scope])
            let continued = try await server.logIn("app", other, ["scope": login.scope])
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh)))
            let code = try await server.code(session, ["scope": login.scope])
            try await server.logOut(session)
            let status = login.isValid ? 200 : 401
            #expect(try await server.userInfo(tokens.access).status == status)
            #expect(try await server.userInfo(renewed.access).status == status)
            let refreshed = try await server.refresh(try #require(renewed.refresh))
            let exchanged = try await server.exchange(code)
            for reply in [refreshed, exchanged] {
                #expect(login.isValid ? reply.status == 200 : reply.error == "invalid_grant")
            }
            #expect(try await server.userInfo(continued.access).status == 200)
            #expect(try await server.refresh(try #require(continued.refresh)).status == 200)
        }
    }

    // MARK: Configuration

    @Test(
        "The address for logout tokens is https, or http to this machine, without a fragment",
        arguments: [
            ("https://app.example.test/out?a=b", true), ("http://127.0.0.1:9/out", true), ("http://localhost/out", true),
            ("http://[::1]:9/", true), ("http://app.example.test/out", false), ("https://app.example.test/out#x", false),
            ("https://a:b@app.example.test/", false), ("app:out", false), ("/out", false),
        ])
    func checksAddressForLogoutTokens(address: String, isValid: Bool) throws {
        let yaml = "clients: [{id: app, backchannelLogoutURI: \"\(address)\"}]"
        if isValid {
            #expect(try ServerConfiguration(yaml: yaml).clients[0].backchannelLogoutURI == address)
        } else {
            let error = try #require(throws: ConfigurationError.self) { _ = try ServerConfiguration(yaml: yaml) }
            let problems = error.problems.map { "\($0.position) \($0.code.rawValue)" }
            #expect(problems == ["1:43 invalidValue"])
        }
    }
}
#endif
