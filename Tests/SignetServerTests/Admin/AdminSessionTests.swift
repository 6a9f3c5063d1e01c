import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Sessions that a test opens without a journey")
struct AdminSessionTests {
    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }, body)
    }

    @Test("A caller opens a session of a user, and its token and cookie work like those of a journey")
    func opensSessionOfUser() async throws {
        try await run { server in
            let login = try await server.logIn("Login")
            let reply = try await server.admin(.post, "sessions", #"{"user": "mira"}"#)
            #expect(reply.status == 201 && reply.json["realm"] == "/")
            #expect(reply.json["successUrl"] == login.json["successUrl"])
            let token = try #require(reply.json["tokenId"]?.string)
            #expect(try await server.isValid(token))
            #expect(reply.json["key"]?.string == TokenHash(token).text)
            // The cookies are those of the journey, with another token.
            let names = reply.cookies.map { $0.split(separator: "=")[0] }
            let others = login.cookies.map { $0.split(separator: "=")[0] }
            #expect(names == others && reply.cookies.first?.hasPrefix("iPlanetDirectoryPro=\(token); Path=/") == true)
            let cookie = reply.json["cookie"]
            #expect(cookie?["name"] == "iPlanetDirectoryPro" && cookie?["value"]?.string == token && cookie?["path"] == "/")
            #expect(cookie?["httpOnly"] == .bool(true) && cookie?["sameSite"] == "Lax" && cookie?["secure"] == .bool(false))
            let code = try await server.code(token)
            #expect(try await server.exchange(code).status == 200)
        }
    }

    @Test("A session can have properties, times and a completed journey, and belongs to the user's realm")
    func opensSessionWithOptions() async throws {
        try await run { server in
            let body = """
                {"user": "mira", "realm": "/alpha", "journey": "QuestionLogin", "idleSeconds": 60, "maxSeconds": 600,
                 "properties": {"level": "2"}}
                """
            let reply = try await server.admin(.post, "sessions", body)
            let token = try #require(reply.json["tokenId"]?.string)
            let listed = try await server.admin(.get, "sessions?user=mira&realm=/alpha").json["sessions"]?.array
            #expect(listed?.count == 1 && listed?.first?["journeys"]?.array == ["QuestionLogin"])
            let session = try await server.devServer.context.store.read { tx in try tx.sessions.find(TokenHash(token)) }
            #expect(session?.properties == ["level": "2"])
            server.clock.advance(by: 61)
            let gone = try await server.devServer.context.store.read { tx in try tx.sessions.find(TokenHash(token)) }
            #expect(gone == nil)
        }
    }

    /// Requests that open no session: the body, the status and a part of the message.
    static let refused: [(String, Int, String)] = [
        ("{}", 400, "'user' is missing"), (#"{"user": "nobody"}"#, 404, "no such user"),
        (#"{"user": "mira", "realm": "/none"}"#, 404, "/none"), (#"{"user": "mira", "journey": "None"}"#, 404, "no such journey"),
        (#"{"user": "mira", "journey": "Code"}"#, 404, "no such journey"),
        (#"{"user": "mira", "properties": {"a": 1}}"#, 400, "strings by name"),
        (#"{"user": "mira", "properties": {"AMCtxId": "x"}}"#, 400, "itself"),
        (#"{"user": "mira", "idleSeconds": 0}"#, 400, "'idleSeconds'"), (#"{"user": "mira", "maxSeconds": "9"}"#, 400, "integer"),
        (#"{"user": "mira", "password": "x"}"#, 400, "Unknown parameter 'password'"),
    ]

    @Test("A request that names no possible session opens none", arguments: refused)
    func refusesImpossibleSession(body: String, status: Int, word: String) async throws {
        try await run { server in
            let reply = try await server.admin(.post, "sessions", body)
            #expect(reply.status == status && reply.message?.contains(word) == true, "\(reply.text)")
            #expect(try await server.admin(.get, "sessions").json["sessions"]?.array == [])
        }
    }

    @Test("A locked user gets no session, neither over the API nor from Swift")
    func refusesSessionOfLockedUser() async throws {
        try await run { server in
            #expect(try await server.isValid(try await server.devServer.openSession(for: "noa")))
            try await server.devServer.setLocked(true, "noa")
            #expect(try await server.admin(.post, "sessions", #"{"user": "noa"}"#).status == 409)
            await #expect(throws: (any Error).self) { _ = try await server.devServer.openSession(for: "noa") }
        }
    }
}
