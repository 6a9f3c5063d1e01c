import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The authenticate resource")
struct AuthenticateTests {
    @Test(
        "A journey starts with no body, an empty body, or an empty object",
        arguments: [(nil, nil), (nil, "application/json"), ("", "application/json"), ("{}", "application/json; charset=UTF-8")]
            as [(String?, String?)])
    func startsWithEmptyBody(body: String?, type: String?) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .post, TestServer.authenticate, headers: type.map { ["Content-Type": $0] } ?? [:], body: body)
            #expect(reply.status == 200)
            #expect(try reply.step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
        }
    }

    @Test(
        "A body other than a JSON object, or of another media type, is refused by the authenticate resource",
        arguments: [
            ("[]", "application/json", 400), ("{", "application/json", 400), ("null", "application/json", 400),
            ("{}", "text/plain", 415), ("a=b", "application/x-www-form-urlencoded", 415), ("{}", nil, 415),
            ("{}", "application/json; charset=latin-1", 415),
            (String(repeating: " ", count: 300_000), "application/json", 413),
            ("{\"authId\":5}", "application/json", 400),
            (String(repeating: "[", count: 100_000), "application/json", 400),
        ] as [(String, String?, Int)])
    func refusesInvalidBody(body: String, type: String?, status: Int) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .post, TestServer.authenticate, headers: type.map { ["Content-Type": $0] } ?? [:], body: body)
            #expect(reply.status == status)
            #expect(reply.json["code"] == .integer(Int64(status)))
        }
    }

    @Test("The configured maximum size limits the request body", arguments: [(100, 413), (1000, 200)])
    func limitsBodySize(limit: Int, status: Int) async throws {
        try await TestServer.run(.sample { $0.maxBodySize = limit }) { server in
            let body = "{}" + String(repeating: " ", count: 500)
            let reply = try await server.send(.post, TestServer.authenticate, body: body)
            #expect(reply.status == status)
        }
    }

    @Test(
        "The authenticate resource answers methods other than POST with 405 and Allow",
        arguments: [HTTPRequest.Method.get, .put, .delete, .head])
    func refusesOtherMethods(method: HTTPRequest.Method) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(method, TestServer.authenticate)
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == "POST")
        }
    }

    @Test(
        "An unknown journey, index type, policy advice or suspended id is refused, and no other journey starts",
        arguments: [
            ("authIndexType=service&authIndexValue=Nonsense", 400, "No Configuration found"),
            ("authIndexType=composite_advice&authIndexValue=x", 400, "The policy advice is malformed."),
            (
                "authIndexType=module&authIndexValue=DataStore", 400,
                "This server has no authentication index but service and composite_advice."
            ),
            (
                "suspendedId=abc", 401,
                "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found. It may have expired."
            ),
        ])
    func refusesUnknownStart(query: String, status: Int, message: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.post, "\(TestServer.authenticate)?\(query)", body: "{}")
            #expect(reply.status == status)
            #expect(reply.message == message)
        }
    }

    @Test("Steps and errors are JSON responses that forbid caching")
    func responsesAreUncacheableJSON() async throws {
        try await TestServer.run { server in
            for uri in [TestServer.authenticate, "/am/json/nowhere/authenticate", "/am/nothing"] {
                let reply = try await server.send(.post, uri, body: "{}")
                #expect(reply.header("Content-Type") == "application/json; charset=UTF-8")
                #expect(reply.header("Cache-Control") == "no-cache, no-store")
            }
        }
    }

    @Test("The health resource answers GET with an empty object and POST with 405")
    func healthRespondsToGET() async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, "/am/health", headers: [:])
            #expect(reply.status == 200)
            #expect(reply.text == "{}")
            #expect(try await server.send(.post, "/am/health").status == 405)
        }
    }
}
