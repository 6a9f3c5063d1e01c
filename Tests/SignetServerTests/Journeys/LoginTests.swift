import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Login with user name and password")
struct LoginTests {
    @Test("The login page has the callbacks and input names of AM")
    func loginPageHasCallbacksOfAM() async throws {
        try await TestServer.run { server in
            let step = try await server.start("Login").step
            #expect(step.stage == "UsernamePassword")
            #expect(step.header != nil)
            #expect(step.description != nil)
            #expect(step.callbacks.map(\._id) == [0, 1])
            let inputNames = step.callbacks.map { $0.input?.map(\.name) }
            #expect(inputNames == [["IDToken1"], ["IDToken2"]])
            #expect(step.callbacks[0].output("prompt") == "User Name")
        }
    }

    @Test("The right password gets the user a session, its cookies and the success URL")
    func rightPasswordCreatesSession() async throws {
        try await TestServer.run { server in
            let reply = try await server.logIn("Login")
            let token = try #require(reply.json["tokenId"]?.string)
            #expect(reply.status == 200)
            #expect(token.count > 40)
            #expect(reply.json["successUrl"] == "/am/console")
            #expect(reply.json["realm"] == "/")
            #expect(reply.json["authId"] == nil)
            #expect(
                reply.cookies == [
                    "iPlanetDirectoryPro=\(token); Path=/; HttpOnly; SameSite=Lax", "amlbcookie=01; Path=/; SameSite=Lax",
                ])
        }
    }

    @Test("The cookie names, the context path and the Secure attribute are those of the configuration")
    func cookiesFollowConfiguration() async throws {
        try await TestServer.run(
            .sample {
                $0.cookieName = "sso"
                $0.loadBalancerCookie = nil
                $0.contextPath = "openam/"
                $0.publicURL = "https://login.example.test/openam/"
            }
        ) { server in
            let reply = try await server.logIn("Login", at: "/openam/json/authenticate")
            let token = try #require(reply.json["tokenId"]?.string)
            #expect(reply.cookies == ["sso=\(token); Path=/; HttpOnly; SameSite=Lax; Secure"])
            #expect(reply.json["successUrl"] == "/openam/console")
        }
    }

    @Test(
        "A wrong password, an unknown user and an empty form get the same failure",
        arguments: [("mira", "wrong"), ("nobody", "correct horse"), ("", "")])
    func failuresAreIndistinguishable(name: String, password: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.logIn("Login", name: name, password: password)
            #expect(reply.status == 401)
            #expect(
                reply.json
                    == .object([
                        "code": .integer(401), "reason": "Unauthorized", "message": "Login failure",
                        "detail": .object(["failureUrl": ""]),
                    ]))
            #expect(reply.header("Set-Cookie") == nil)
        }
    }

    @Test(
        "With noSession, at the start or later, a login returns neither a token nor a session cookie",
        arguments: [true, false])
    func noSessionReturnsNoToken(atStart: Bool) async throws {
        try await TestServer.run { server in
            var step = try await server.start("Login", query: atStart ? "&noSession=true" : "").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let path = TestServer.authenticate + (atStart ? "?noSession=false&ForceAuth=false" : "?noSession=true")
            let reply = try await server.next(step, at: path)
            #expect(reply.status == 200)
            #expect(reply.json["tokenId"] == nil)
            #expect(reply.json["realm"] == "/")
            let sessionCookies = reply.cookies.filter { $0.hasPrefix("iPlanetDirectoryPro") }
            #expect(sessionCookies.isEmpty)
        }
    }
}

@Suite("The authId of a journey")
struct AuthIDTests {
    @Test("An authId with a changed part, or an invalid one, is refused with AM's message", arguments: Tampering.allCases)
    func refusesChangedAuthID(how: Tampering) async throws {
        try await TestServer.run { server in
            var step = try await server.start("Login").step
            step.authId = try how.apply(to: step.authId)
            let reply = try await server.next(step)
            #expect(reply.status == 400)
            #expect(reply.json["reason"] == "Bad Request")
            #expect(reply.message == "Authentication Error: Invalid AuthId Signature")
        }
    }

    enum Tampering: CaseIterable {
        case signature, claims, otherKey, noAlgorithm, empty, garbage

        func apply(to authID: String) throws -> String {
            let parts = authID.split(separator: ".").map(String.init)
            let payload = try Base64.decode(parts[1])
            switch self {
            case .signature: return authID.dropLast(4) + "AAAA"
            case .claims:
                var claims = try #require(JSON.value(of: payload).object)
                claims["exp"] = .integer(.max)
                return [parts[0], Base64.encode(try JSON.encode(claims), as: .url), parts[2]].joined(separator: ".")
            case .otherKey: return CompactJWS.sign(payload, with: Secret([1, 2, 3]))
            case .noAlgorithm:
                return [Base64.encode(Array("{\"alg\":\"none\"}".utf8), as: .url), parts[1], ""].joined(separator: ".")
            case .empty: return ""
            case .garbage: return "garbage"
            }
        }
    }

    private func expectTimeout(_ reply: Reply) {
        #expect(reply.status == 401)
        #expect(reply.message == "Session has timed out")
        #expect(reply.json["detail"] == .object(["errorCode": "110"]))
    }

    @Test("An authId expires after the journey timeout", arguments: [(59.0, 200), (61, 401)])
    func authIDExpires(seconds: Double, status: Int) async throws {
        try await TestServer.run(.sample { $0.journeyTimeout = 60 }) { server in
            var step = try await server.start("Login").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            server.clock.advance(by: seconds)
            let reply = try await server.next(step)
            #expect(reply.status == status)
            if status == 401 { expectTimeout(reply) }
        }
    }

    @Test("An authId is valid for one answer")
    func authIDIsValidForOneAnswer() async throws {
        try await TestServer.run { server in
            _ = try await server.registeredPhone()
            var step = try await server.start("PushLogin").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let waiting = try await server.next(step).step
            expectTimeout(try await server.next(step))
            #expect(try await server.poll(waiting).status == 200)
        }
    }

    @Test("The authId of a failed login cannot be used again")
    func authIDEndsWithFailedLogin() async throws {
        try await TestServer.run { server in
            let step = try await server.start("Login").step
            #expect(try await server.next(step).message == "Login failure")
            expectTimeout(try await server.next(step))
        }
    }

    @Test("An authId is valid only for its server and its realm")
    func authIDBelongsToServerAndRealm() async throws {
        try await TestServer.run { server in
            let step = try await server.start("Login").step
            #expect(try await server.next(step, at: "/am/json/alpha/authenticate").status == 400)
            #expect(try await server.next(step, at: "/am/json/authenticate").message == "Login failure")
            try await TestServer.run { other in
                let reply = try await other.next(step)
                #expect(reply.message == "Authentication Error: Invalid AuthId Signature")
            }
        }
    }

    @Test("Of many concurrent answers to one step, the server accepts one")
    func acceptsOneOfManyConcurrentAnswers() async throws {
        try await TestServer.run { server in
            var step = try await server.start("Login").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let filled = step
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await server.next(filled).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let granted = statuses.filter { $0 == 200 }
            #expect(granted.count == 1)
            let refused = statuses.filter { $0 == 401 }
            #expect(refused.count == 49)
        }
    }

    @Test("An authId has AM's claims")
    func authIDHasClaimsOfAM() async throws {
        try await TestServer.run { server in
            let parts = try await server.start("Login").step.authId.split(separator: ".")
            let claims = try #require(JSON.value(of: Base64.decode(parts[1])).object)
            #expect(Set(claims.keys) == ["otk", "realm", "authIndexType", "authIndexValue", "sessionId", "exp", "iat"])
            #expect(claims["authIndexValue"] == "Login")
            #expect(claims["exp"] == .integer(1_735_689_900))
        }
    }
}
