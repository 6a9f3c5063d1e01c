import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The credentials of a user before the lock: a session, tokens and a code that is not exchanged yet.
struct UserCredentials: Sendable {
    let session: String
    let tokens: Tokens
    let code: String

    init(of user: String = "mira", _ server: TestServer) async throws {
        session = try await server.session(name: user)
        tokens = try Tokens(try await server.exchange(try await server.code(session)))
        code = try await server.code(session)
    }

    /// Returns which of them are valid.
    ///
    /// No check spends a code or a refresh token or issues a new token.
    func validity(at server: TestServer) async throws -> [String: Bool] {
        let path = TestServer.authenticate
        let header = ["iPlanetDirectoryPro": session]
        let start = try await server.send(
            .post, "\(path)?authIndexType=service&authIndexValue=Login",
            headers: header.merging(["Content-Type": "application/json"]) { $1 })
        func introspection(_ token: String) async throws -> Bool {
            let reply = try await server.postForm(
                "introspect", ["token": token, "client_id": "resource-server", "client_secret": "rs"])
            #expect(reply.status == 200)
            return reply.json["active"] == .bool(true)
        }
        return [
            "validate": try await server.isValid(session),
            "information": try await server.sessionAction("getSessionInfo", header).status == 200,
            "single sign-on": start.json["tokenId"]?.string == session,
            "authorize": try await server.authorize(session).location["code"] != nil,
            "devices": try await server.send(
                .get, "/am/json/realms/root/users/mira/devices/2fa/push?_queryFilter=true", headers: header
            ).status == 200,
            "userinfo": try await server.userInfo(tokens.access).status == 200,
            "introspect access": try await introspection(tokens.access),
            "introspect refresh": try await introspection(try #require(tokens.refresh)),
        ]
    }

    func expect(valid isValid: Bool, at server: TestServer, _ when: String) async throws {
        for (use, result) in try await validity(at: server) { #expect(result == isValid, "\(use), \(when)") }
    }
}

@Suite("Sessions and tokens of inactive users", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct InactiveUserTests {
    @Test("A lock makes a user's session and tokens invalid until it is lifted, unless they expire meanwhile")
    func lockSuspendsSessionAndTokens() async throws {
        try await TestServer.run { server in
            let held = try await UserCredentials(server)
            let other = try await server.session(name: "noa", password: "staple")
            try await held.expect(valid: true, at: server, "before")

            #expect(try await server.devServer.setLocked(true, "mira"))
            try await held.expect(valid: false, at: server, "while locked")
            let refresh = try await server.refresh(try #require(held.tokens.refresh))
            #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
            let exchange = try await server.exchange(held.code)
            #expect(exchange.status == 400 && exchange.json["error"] == "invalid_grant")
            #expect(try await server.sessionAction("logout", ["iPlanetDirectoryPro": held.session]).status == 401)
            #expect(try await server.isValid(other))

            #expect(try await server.devServer.setLocked(false, "mira"))
            try await held.expect(valid: true, at: server, "after")
            // The refused renewal spent no token. The code could be exchanged only once.
            #expect(try await server.refresh(try #require(held.tokens.refresh)).status == 200)
            #expect(try await server.exchange(held.code).json["error"] == "invalid_grant")
        }
    }

    @Test("A session that expires while its user is locked stays invalid after the lock")
    func lockDoesNotExtendSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            #expect(try await server.devServer.setLocked(true, "mira"))
            // A refused request does not keep the session alive.
            server.clock.advance(by: 1000)
            #expect(try await server.authorize(session).location["code"] == nil)
            server.clock.advance(by: 1000)
            #expect(try await server.devServer.setLocked(false, "mira"))
            #expect(try await server.isValid(session) == false)
        }
    }

    @Test("An administrator can end the sessions of a locked user for good")
    func adminEndsSessionsOfLockedUser() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            #expect(try await server.devServer.setLocked(true, "mira"))
            let user = UserKey(realm: .root, name: "mira")
            #expect(try await AdminOperations(server: server.devServer.context).endSessions(of: user) == 1)
            #expect(try await server.devServer.setLocked(false, "mira"))
            #expect(try await server.isValid(session) == false)
        }
    }

    @Test("A device that a user allowed gets no tokens once that user is locked")
    func lockedUserGivesDeviceNoTokens() async throws {
        try await TestServer.run { server in
            let begun = try await server.postForm("device/code", ["client_id": "app", "scope": "openid"])
            let (code, userCode) = (
                try #require(begun.json["device_code"]?.string), try #require(begun.json["user_code"]?.string)
            )
            let session = try await server.session()
            let answer = try await server.postForm(
                "device/user", ["user_code": userCode, "decision": "allow", "csrf": session],
                headers: ["iPlanetDirectoryPro": session])
            #expect(answer.status == 200)
            #expect(try await server.devServer.setLocked(true, "mira"))
            let reply = try await server.postForm(
                "access_token",
                ["grant_type": RegisteredClient.GrantType.deviceCode.rawValue, "device_code": code, "client_id": "app"])
            #expect(reply.status == 400 && reply.json["error"] == "invalid_grant")
        }
    }

    @Test("Wrong passwords lock out further logins but do not end a session")
    func lockoutKeepsSession() async throws {
        try await TestServer.run(.sample { $0.limits.lockout = Lockout(failures: 2, within: 60, duration: 600) }) { server in
            let held = try await UserCredentials(server)
            for _ in 0..<2 { _ = try await server.logIn("Login", password: "wrong") }
            #expect(try await server.logIn("Login").isLoggedIn == false)
            try await held.expect(valid: true, at: server, "while locked out")
        }
    }

    @Test(
        "A user removed from the configuration has no valid session or token, and gets none back when configured again",
        arguments: StateKind.persistent)
    func removedUserHasNoValidTokens(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let held = Mutex<UserCredentials?>(nil)
            try await location.server(clock: clock) { server in
                let all = try await UserCredentials(server)
                held.withLock { $0 = all }
            }
            let credentials = held.withLock { $0 }
            let all = try #require(credentials)
            try await location.server(clock: clock) {
                $0.users.removeAll { $0.name == "mira" && $0.realm == "/" }
            } _: { server in
                try await all.expect(valid: false, at: server, "without the user")
                let refresh = try await server.refresh(try #require(all.tokens.refresh))
                #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
            }
            try await location.server(clock: clock) { server in
                // The user may be another person of the same name.
                try await all.expect(valid: false, at: server, "with the user again")
                let refresh = try await server.refresh(try #require(all.tokens.refresh))
                #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
                try await UserCredentials(server).expect(valid: true, at: server, "after a new login")
            }
        }
    }
}
