import Foundation
import HTTPTypes
import Logging
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The development server", .timeLimit(.minutes(5)))
struct ServerTests {
    @Test("With port 0 the server listens on a free port and names it in the base URL and in registration URIs")
    func listensOnFreePort() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                #expect(port > 0)
                #expect(server.devServer.context.baseURL == "http://127.0.0.1:\(port)/am")
                let step = try await server.logIn("PushRegistration").step
                let invitation = try Phone(uri: try step.registrationURI, uid: "p").invitation
                #expect(invitation.registrationEndpoint.port == port)
                #expect(invitation.registrationEndpoint.host == "127.0.0.1")
            }
        }
    }

    @Test("A server whose port is in use throws an error instead of waiting")
    func failsOnPortInUse() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let second = DevServer(
                    configuration: ServerConfiguration { $0.port = port },
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
                await #expect(throws: (any Error).self) {
                    try await second.run { _ in Issue.record("the port was free") }
                }
            }
        }
    }

    @Test("A canceled server ends without an error while a client keeps an idle connection open")
    func endsWithIdleConnection() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            let clock = ContinuousClock()
            var connection: RawHTTPConnection?
            var canceled = clock.now
            try await server.serve { port in
                connection = try RawHTTPConnection(port: port)
                connection?.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let health = await connection?.read { $0.hasSuffix("{}") }
                #expect(health?.hasPrefix("HTTP/1.1 200 OK") == true)
                canceled = clock.now
            }
            #expect(clock.now - canceled < .seconds(60))
            connection?.vanish()
        }
    }

    @Test("The response to HEAD has no body, so that the connection remains usable")
    func headHasNoBody() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let connection = try RawHTTPConnection(port: port)
                for method in ["HEAD", "GET"] {
                    connection.send("\(method) /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\n\r\n")
                }
                let text = await connection.read { $0.hasSuffix("}") }
                #expect(text.components(separatedBy: "HTTP/1.1 405 Method Not Allowed\r\n").count == 3)
                let bodyCount = text.count { $0 == "{" }
                #expect(bodyCount == 1)
                connection.vanish()
            }
        }
    }

    @Test(
        "The base URL is built from the address that the server listens on, unless publicURL is set",
        arguments: [
            ("127.0.0.1", nil, "http://127.0.0.1:9/am"), ("localhost", nil, "http://localhost:9/am"),
            ("0.0.0.0", nil, "http://127.0.0.1:9/am"),
            ("::", nil, "http://[::1]:9/am"), ("::1", nil, "http://[::1]:9/am"),
            ("127.0.0.1", "https://x.test/am", "https://x.test/am"),
            ("127.0.0.1", "https://x.test/am//", "https://x.test/am"),
        ] as [(String, String?, String)])
    func buildsBaseURL(host: String, publicURL: String?, expected: String) {
        let configuration = ServerConfiguration {
            $0.host = host
            $0.publicURL = publicURL
        }
        #expect(configuration.baseURL(port: 9) == expected)
    }

    @Test(
        "A context path is normalized, with or without leading and trailing slashes",
        arguments: [("/am", "/am"), ("am", "/am"), ("/am/", "/am"), ("", ""), ("/", ""), ("/a/b", "/a/b")])
    func normalizesContextPath(written: String, path: String) async throws {
        let configuration = ServerConfiguration { $0.contextPath = written }
        #expect(configuration.normalContextPath == path)
        try await TestServer.run(.sample { $0.contextPath = written }) { server in
            let reply = try await server.send(.post, "\(path)/json/authenticate", body: "{}")
            #expect(reply.status == 200)
        }
    }

    @Test(
        "Requests are answered only in the configured realms",
        arguments: [(["beta"], 404, 200), (["/", "/beta/"], 200, 200), ([], 404, 404)])
    func servesConfiguredRealmsOnly(realms: [String], top: Int, beta: Int) async throws {
        try await TestServer.run(.sample { $0.realms = realms }) { server in
            let reply = try await server.send(.post, "/am/json/authenticate", body: "{}")
            #expect(reply.status == top)
            #expect(try await server.send(.post, "/am/json/beta/authenticate", body: "{}").status == beta)
        }
    }

    @Test("A configuration without settings has the defaults of a developer's machine")
    func hasDevelopmentDefaults() {
        let configuration = ServerConfiguration()
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8080)
        #expect(configuration.users.isEmpty)
        #expect(configuration.realms == ["/", "/alpha"])
        #expect(configuration.streamKeepAlive == .seconds(15))
        #expect(User(name: "a", password: Secret([])).realm == "/")
    }

    @Test("Of two configured users with the same name, the last one is used")
    func lastUserOfOneNameIsUsed() async throws {
        try await TestServer.run(.sample { $0.users.append(User(name: "mira", password: Secret("newer".utf8))) }) { server in
            let reply = try await server.logIn("Login")
            #expect(reply.status == 401)
            #expect(try await server.logIn("Login", password: "newer").status == 200)
        }
    }

    @Test("No password, secret, code, token, authId or message is logged at any level")
    func logsNoSecrets() async throws {
        let log = RecordingLog()
        try await TestServer.run(logger: log.logger) { server in
            _ = try await server.logIn("Login", password: "a wrong password")
            let phone = try await server.registeredPhone("CombinedRegistration")
            let (step, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
            #expect(try await phone.answer(push, ["challengeResponse": "1"], at: server).status == 400)
            #expect(
                try await phone.answer(push, ["challengeResponse": .string(String(try #require(push.number)))], at: server).status
                    == 200)
            let end = try await server.poll(step)
            _ = try await server.send(
                .get, "/am/json/push/stream", headers: ["Authorization": "Signet-Push-Stream \(phone.proof("x"))"])
            _ = try await server.send(.post, TestServer.authenticate, body: "{\"authId\":\"x.y.z\"}")
            let session = try #require(end.json["tokenId"]?.string)
            let code = try await server.code(session, ["nonce": "n-0S6_WzA2Mj"])
            let tokens = try Tokens(try await server.exchange(code))
            _ = try await server.exchange(code)
            _ = try await server.refresh("no such token")
            _ = try await server.userInfo("no such token")
            _ = try await server.postForm(
                "token/revoke", ["token": tokens.access, "client_id": "web", "client_secret": "s3cret: +%"])
            _ = try await server.send(
                .get, "\(TestServer.oauth)/connect/endSession?id_token_hint=\(try #require(tokens.id))", headers: [:])
            let oauthSecrets = [
                code, tokens.access, try #require(tokens.refresh), try #require(tokens.id), TestServer.verifier, "n-0S6_WzA2Mj",
                "no such token", "s3cret", ProofKey.challenge(for: TestServer.verifier),
            ]
            #expect(log.lines.contains("tokens given"))
            for text in oauthSecrets { #expect(!log.lines.contains(text)) }
            #expect(log.lines.contains("logged in"))
            #expect(log.lines.contains("numberWrong"))
            let secret = phone.secret.withUnsafeBytes { Array($0) }
            let oath = try #require(phone.enrollment.oath)
            let forbidden = [
                TestServer.password, "a wrong password", Base64.encode(secret, as: .url), Base64.encode(secret, as: .standard),
                oath.secret.withUnsafeBytes { Base32.encode($0) }, try #require(end.json["tokenId"]?.string), push.sealed,
                step.authId,
                Base64.encode(push.challenge, as: .standard), try #require(phone.response(to: push).string),
            ]
            for text in forbidden { #expect(!log.lines.contains(text)) }
        }
    }
}
