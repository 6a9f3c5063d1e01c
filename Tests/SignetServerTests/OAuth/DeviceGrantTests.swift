import Foundation
import HTTPTypes
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Device authorization grant")
struct DeviceGrantTests {
    private func begin(_ server: TestServer, client: String = "app", _ changes: [String: String?] = [:]) async throws -> Reply {
        let parameters: [String: String?] = ["client_id": client, "scope": "openid"]
        return try await server.postForm("device/code", parameters.merging(changes) { $1 })
    }

    private func poll(_ server: TestServer, _ code: String, client: String = "app", verifier: String? = nil) async throws -> Reply
    {
        try await server.postForm(
            "access_token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code, "client_id": client,
                "code_verifier": verifier,
            ])
    }

    private func decide(
        _ server: TestServer, _ userCode: String, _ decision: String = "allow", session: String, csrf: String? = nil
    ) async throws -> Reply {
        try await server.postForm(
            "device/user", ["user_code": userCode, "decision": decision, "csrf": csrf ?? session],
            headers: ["iPlanetDirectoryPro": session])
    }

    @Test("A device gets its tokens once, after a user has allowed it")
    func issuesDeviceTokensOnce() async throws {
        try await TestServer.run { server in
            let started = try await begin(server)
            let code = try #require(started.json["device_code"]?.string)
            let userCode = try #require(started.json["user_code"]?.string)
            #expect(userCode.wholeMatch(of: #/[B-Z]{4}-[B-Z]{4}/#) != nil)
            #expect(started.json["verification_uri"] == "http://127.0.0.1:8080/am/oauth2/device/user")
            #expect(started.json["verification_uri_complete"]?.string?.hasSuffix("?user_code=\(userCode)") == true)
            #expect(started.json["expires_in"] == .integer(300))
            #expect(started.json["interval"] == .integer(5))
            let pending = try await poll(server, code)
            #expect(pending.status == 400)
            #expect(pending.error == "authorization_pending")

            let session = try await server.session()
            let typed = userCode.lowercased().replacingOccurrences(of: "-", with: " ")
            #expect(try await decide(server, typed, session: session).status == 200)
            server.clock.advance(by: 5)
            let tokens = try Tokens(try await poll(server, code))
            #expect(tokens.json["scope"] == "openid")
            #expect(try await server.userInfo(tokens.access).json["sub"] == "mira")
            #expect(tokens.refresh != nil && tokens.id != nil)
            server.clock.advance(by: 5)
            #expect(try await poll(server, code).error == "invalid_grant")
            #expect(try await decide(server, userCode, session: session).error == "not_found")
        }
    }

    @Test("A device that polls too often has to wait longer each time")
    func slowsDownFrequentPolling() async throws {
        try await TestServer.run { server in
            let code = try #require(try await begin(server).json["device_code"]?.string)
            #expect(try await poll(server, code).error == "authorization_pending")
            server.clock.advance(by: 4)
            #expect(try await poll(server, code).error == "slow_down")
            server.clock.advance(by: 9)
            #expect(try await poll(server, code).error == "slow_down")
            server.clock.advance(by: 15)
            #expect(try await poll(server, code).error == "authorization_pending")
        }
    }

    @Test("S17: A device that waits gets 403 on a setting, as PingAM 7.2 to 8 answers")
    func answersPendingWithConfiguredStatus() async throws {
        try await TestServer.run(.sample { $0.devicePendingStatus = 403 }) { server in
            let code = try #require(try await begin(server).json["device_code"]?.string)
            let pending = try await poll(server, code)
            #expect(pending.status == 403 && pending.error == "authorization_pending")
            let early = try await poll(server, code)
            #expect(early.status == 403 && early.error == "slow_down")
            let unknown = try await poll(server, "unknown")
            #expect(unknown.status == 400 && unknown.error == "invalid_grant")
        }
    }

    @Test("A poll distinguishes a denied, an expired and an unknown device code")
    func distinguishesDeniedExpiredAndUnknownCodes() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let denied = try await begin(server).json
            #expect(try await decide(server, try #require(denied["user_code"]?.string), "deny", session: session).status == 200)
            #expect(try await poll(server, try #require(denied["device_code"]?.string)).error == "access_denied")
            #expect(try await poll(server, "never was").error == "invalid_grant")

            let late = try await begin(server, client: "short").json
            let code = try #require(late["device_code"]?.string)
            #expect(try await poll(server, code).error == "invalid_grant")
            server.clock.advance(by: 20)
            #expect(try await decide(server, try #require(late["user_code"]?.string), session: session).error == "not_found")
            #expect(try await poll(server, code, client: "short").error == "expired_token")
        }
    }

    @Test("The device page shows the request before a user allows it and accepts only its own form")
    func devicePageAcceptsOwnFormOnly() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let userCode = try #require(try await begin(server).json["user_code"]?.string)
            let path = "\(TestServer.oauth)/device/user"
            let header = ["iPlanetDirectoryPro": session]
            let anonymous = try await server.send(.get, "\(path)?user_code=\(userCode)", headers: [:])
            #expect(anonymous.status == 302)
            #expect(try anonymous.location["goto"]?.hasSuffix("/device/user?user_code=\(userCode)") == true)
            let question = try await server.send(.get, "\(path)?user_code=\(userCode)", headers: header)
            #expect(question.text.contains(userCode) && question.text.contains("app"))
            #expect(!question.text.contains(session))
            let unknown = try await server.send(.get, "\(path)?user_code=%3Cscript%3E", headers: header)
            #expect(unknown.status == 200)
            #expect(!unknown.text.contains("<script>"))
            #expect(try await server.send(.get, path, headers: header).text.contains("name=\"user_code\""))
            let forged = try await decide(server, userCode, session: session, csrf: "wrong")
            #expect(forged.status == 403)
            #expect(try await decide(server, userCode, session: "nobody's").status == 302)
        }
    }

    @Test("A verifier is refused when the device request had no challenge, which an attacker may have removed")
    func rejectsUnrequestedDeviceVerifier() async throws {
        try await TestServer.run { server in
            let started = try await begin(server).json
            let code = try #require(started["device_code"]?.string)
            let session = try await server.session()
            #expect(try await decide(server, try #require(started["user_code"]?.string), session: session).status == 200)
            #expect(try await poll(server, code, verifier: TestServer.verifier).error == "invalid_grant")
        }
    }

    @Test("A device that sent a challenge has to send its verifier")
    func requiresDeviceVerifier() async throws {
        try await TestServer.run { server in
            let started = try await begin(
                server, ["code_challenge": ProofKey.challenge(for: TestServer.verifier), "code_challenge_method": "S256"]
            ).json
            let code = try #require(started["device_code"]?.string)
            #expect(
                try await decide(server, try #require(started["user_code"]?.string), session: try await server.session()).status
                    == 200)
            #expect(try await poll(server, code).error == "invalid_grant")
            #expect(try await poll(server, code, verifier: "wrong").error == "invalid_grant")
            #expect(try await poll(server, code, verifier: TestServer.verifier).status == 200)
            let challenge = ProofKey.challenge(for: TestServer.verifier)
            for wrong in [
                ["code_challenge": challenge], ["code_challenge_method": "S256"],
                ["code_challenge": challenge, "code_challenge_method": "plain"],
                ["code_challenge": "x", "code_challenge_method": "S256"],
            ] { #expect(try await begin(server, wrong).error == "invalid_request") }
            #expect(try await begin(server, ["scope": "admin"]).error == "invalid_scope")
            #expect(try await begin(server, client: "nobody").status == 401)
        }
    }

    // MARK: Guesses at user codes

    private static let codeLimits = RateLimits(userCode: RateLimit(perMinute: 1, burst: 3))

    @Test(
        "An attacker with a session cannot guess the user codes of other people's devices",
        arguments: [HTTPTypes.HTTPRequest.Method.post, .get])
    func limitsWrongUserCodes(method: HTTPTypes.HTTPRequest.Method) async throws {
        try await TestServer.run(.sample { $0.limits.rateLimits = Self.codeLimits }) { server in
            let userCode = try #require(try await begin(server).json["user_code"]?.string)
            let session = try await server.session()
            func enter(_ code: String) async throws -> Reply {
                if method == .post { return try await decide(server, code, session: session) }
                return try await server.send(
                    .get, "\(TestServer.oauth)/device/user?user_code=\(code)", headers: ["iPlanetDirectoryPro": session])
            }
            for _ in 0..<3 { #expect(try await enter("BBBB-BBBB").status == (method == .post ? 400 : 200)) }
            for code in ["BBBB-BBBB", userCode] {
                let refused = try await enter(code)
                #expect(refused.status == 429 && refused.header("Retry-After") != nil)
            }
            // The code was not used, and another user is not limited.
            let other = try await server.session(name: "noa", password: "staple")
            #expect(try await decide(server, userCode, session: other).status == 200)
            server.clock.advance(by: 61)
            #expect(try await enter("BBBB-BBBB").status == (method == .post ? 400 : 200))
            #expect(try await enter("BBBB-BBBB").status == 429)
        }
    }

    @Test("Right user codes do not count, and do not clear the count of wrong ones")
    func countsOnlyWrongUserCodes() async throws {
        try await TestServer.run(.sample { $0.limits.rateLimits = Self.codeLimits }) { server in
            let session = try await server.session()
            for _ in 0..<5 {
                let userCode = try #require(try await begin(server).json["user_code"]?.string)
                #expect(try await decide(server, userCode, session: session).status == 200)
            }
            for _ in 0..<2 { #expect(try await decide(server, "BBBB-BBBB", session: session).error == "not_found") }
            let userCode = try #require(try await begin(server).json["user_code"]?.string)
            #expect(try await decide(server, userCode, session: session).status == 200)
            #expect(try await decide(server, "BBBB-BBBB", session: session).error == "not_found")
            #expect(try await decide(server, "BBBB-BBBB", session: session).status == 429)
        }
    }

    @Test("Wrong user codes are limited by address too, whichever users the attacker is")
    func limitsWrongUserCodesByAddress() async throws {
        let configuration = ServerConfiguration.sample {
            $0.port = 0
            $0.limits.rateLimits = Self.codeLimits
        }
        try await TestServer.run(configuration) { server in
            let sessions = [try await server.session(), try await server.session(name: "noa", password: "staple")]
            try await server.serve { port in
                try await AsyncHTTPTransport().use { transport in
                    var statuses: [Int] = []
                    for index in 0..<4 {
                        let session = sessions[index / 3]
                        let response = try await transport.send(
                            SignetNetwork.HTTPRequest(
                                "GET", "http://127.0.0.1:\(port)\(TestServer.oauth)/device/user?user_code=BBBBBBBB",
                                headers: ["iPlanetDirectoryPro": session]))
                        statuses.append(response.status)
                    }
                    #expect(statuses == [200, 200, 200, 429])
                }
            }
        }
    }
}
