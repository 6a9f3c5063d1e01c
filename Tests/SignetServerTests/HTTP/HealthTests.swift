import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Health checks")
struct HealthTests {
    @Test(
        "The server is live at once, and ready when its parts are ready",
        arguments: ["/am/health", "/am/health/live", "/am/health/ready"])
    func reportsLiveAndReady(path: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, path, headers: [:])
            #expect(reply.status == 200)
            if path.hasSuffix("ready") {
                #expect(reply.text == #"{"checks":{"signingKey":"ok","state":"ok"},"status":"ready"}"#)
            } else {
                #expect(reply.text == "{}")
            }
            #expect(try await server.send(.post, path, body: "{}").status == 405)
        }
    }

    @Test("A failing part makes the server not ready and is named, while the server stays live")
    func failingPartIsNotReady() async throws {
        try await TestServer.run(.sample { $0.signingKey = Secret("no key".utf8) }) { server in
            #expect(try await server.send(.get, "/am/health", headers: [:]).status == 200)
            let reply = try await server.send(.get, "/am/health/ready", headers: [:])
            #expect(reply.status == 503)
            #expect(reply.text == #"{"checks":{"signingKey":"failing","state":"ok"},"status":"failing"}"#)
        }
    }

    @Test("Unknown addresses below and near the health check get 404")
    func unknownHealthAddressesGet404() async throws {
        try await TestServer.run { server in
            for path in ["/am/health/", "/am/health/x", "/am/healthy"] {
                let reply = try await server.send(.get, path, headers: [:])
                #expect(reply.status == 404)
            }
        }
    }
}
