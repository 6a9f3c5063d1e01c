import HTTPTypes
import SignetCore
import Synchronization
import Testing

@testable import SignetServer

/// What somebody holds who may not log in any more: a session, tokens, and a code that was not exchanged yet.
private struct Holdings: Sendable {
    let session: String
    let tokens: Tokens
    let code: String

    init(of user: String = "mira", _ desk: TestDesk) async throws {
        session = try await desk.session(name: user)
        tokens = try Tokens(try await desk.exchange(try await desk.code(session)))
        code = try await desk.code(session)
    }

    /// Which of them are good. Nothing of it takes a code or a refresh token, or makes a token that there was not.
    func good(_ desk: TestDesk) async throws -> [String: Bool] {
        let path = TestDesk.authenticate
        let header = ["iPlanetDirectoryPro": session]
        let start = try await desk.send(
            .post, "\(path)?authIndexType=service&authIndexValue=Login",
            headers: header.merging(["Content-Type": "application/json"]) { $1 })
        func introspection(_ token: String) async throws -> Bool {
            let reply = try await desk.postForm(
                "introspect", ["token": token, "client_id": "resource-server", "client_secret": "rs"])
            #expect(reply.status == 200)
            return reply.json["active"] == .bool(true)
        }
        return [
            "validate": try await desk.isGood(session),
            "information": try await desk.sessionAction("getSessionInfo", header).status == 200,
            "single sign-on": start.json["tokenId"]?.string == session,
            "authorize": try await desk.authorize(session).location["code"] != nil,
            "devices": try await desk.send(
                .get, "/am/json/realms/root/users/mira/devices/2fa/push?_queryFilter=true", headers: header
            ).status == 200,
            "userinfo": try await desk.userInfo(tokens.access).status == 200,
            "introspect access": try await introspection(tokens.access),
            "introspect refresh": try await introspection(try #require(tokens.refresh)),
        ]
    }

    func expect(good isGood: Bool, at desk: TestDesk, _ when: String) async throws {
        for (use, result) in try await good(desk) { #expect(result == isGood, "\(use), \(when)") }
    }
}

@Suite("Sessions and tokens of users who are not active", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct InactiveUserTests {
    @Test("Of a user who is locked nothing is good; when the lock is lifted, what has time left is good again")
    func locked() async throws {
        try await TestDesk.run { desk in
            let held = try await Holdings(desk)
            let other = try await desk.session(name: "noa", password: "staple")
            try await held.expect(good: true, at: desk, "before")

            #expect(try await desk.server.setLocked(true, "mira"))
            try await held.expect(good: false, at: desk, "while locked")
            let refresh = try await desk.refresh(try #require(held.tokens.refresh))
            #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
            let exchange = try await desk.exchange(held.code)
            #expect(exchange.status == 400 && exchange.json["error"] == "invalid_grant")
            #expect(try await desk.sessionAction("logout", ["iPlanetDirectoryPro": held.session]).status == 401)
            #expect(try await desk.isGood(other))

            #expect(try await desk.server.setLocked(false, "mira"))
            try await held.expect(good: true, at: desk, "after")
            // The refresh that was refused took nothing. The code was good once.
            #expect(try await desk.refresh(try #require(held.tokens.refresh)).status == 200)
            #expect(try await desk.exchange(held.code).json["error"] == "invalid_grant")
        }
    }

    @Test("What had no time left while its user was locked stays over")
    func over() async throws {
        try await TestDesk.run { desk in
            let session = try await desk.session()
            #expect(try await desk.server.setLocked(true, "mira"))
            // Asked for in vain, it is not kept alive.
            desk.clock.advance(by: 1000)
            #expect(try await desk.authorize(session).location["code"] == nil)
            desk.clock.advance(by: 1000)
            #expect(try await desk.server.setLocked(false, "mira"))
            #expect(try await desk.isGood(session) == false)
        }
    }

    @Test("Sessions of a locked user are ended for good by who is asked to")
    func ended() async throws {
        try await TestDesk.run { desk in
            let session = try await desk.session()
            #expect(try await desk.server.setLocked(true, "mira"))
            let user = UserKey(realm: .root, name: "mira")
            #expect(try await AdminOperations(desk: desk.server.desk).endSessions(of: user) == 1)
            #expect(try await desk.server.setLocked(false, "mira"))
            #expect(try await desk.isGood(session) == false)
        }
    }

    @Test("A device that was allowed gets nothing from a user who was locked since")
    func device() async throws {
        try await TestDesk.run { desk in
            let begun = try await desk.postForm("device/code", ["client_id": "app", "scope": "openid"])
            let (code, userCode) = (
                try #require(begun.json["device_code"]?.string), try #require(begun.json["user_code"]?.string)
            )
            let session = try await desk.session()
            let answer = try await desk.postForm(
                "device/user", ["user_code": userCode, "decision": "allow", "csrf": session],
                headers: ["iPlanetDirectoryPro": session])
            #expect(answer.status == 200)
            #expect(try await desk.server.setLocked(true, "mira"))
            let reply = try await desk.postForm(
                "access_token",
                ["grant_type": TokenResource.GrantType.deviceCode.rawValue, "device_code": code, "client_id": "app"])
            #expect(reply.status == 400 && reply.json["error"] == "invalid_grant")
        }
    }

    @Test("Wrong passwords lock out who guesses, and no session")
    func lockedOut() async throws {
        try await TestDesk.run(.sample { $0.limits.lockout = Lockout(failures: 2, within: 60, duration: 600) }) { desk in
            let held = try await Holdings(desk)
            for _ in 0..<2 { _ = try await desk.logIn("Login", password: "wrong") }
            #expect(try await desk.logIn("Login").isLoggedIn == false)
            try await held.expect(good: true, at: desk, "while locked out")
        }
    }

    @Test(
        "Of a user who was removed from the configuration nothing is good after the restart, until they stand there again",
        arguments: StateKind.lasting)
    func removed(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            let clock = StillClock()
            let held = Mutex<Holdings?>(nil)
            try await place.desk(clock: clock) { desk in
                let all = try await Holdings(desk)
                held.withLock { $0 = all }
            }
            let holdings = held.withLock { $0 }
            let all = try #require(holdings)
            try await place.desk(clock: clock) {
                $0.users.removeAll { $0.name == "mira" && $0.realm == "/" }
            } _: { desk in
                try await all.expect(good: false, at: desk, "without the user")
                let refresh = try await desk.refresh(try #require(all.tokens.refresh))
                #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
            }
            try await place.desk(clock: clock) { desk in
                try await all.expect(good: true, at: desk, "with the user again")
                #expect(try await desk.refresh(try #require(all.tokens.refresh)).status == 200)
            }
        }
    }
}
