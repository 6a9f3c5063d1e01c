import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The Accept-API-Version header")
struct APIVersionTests {
    @Test(
        "The parts of Accept-API-Version can be in any order, and each can be missing",
        arguments: [
            ("resource=2.1,protocol=1.0", "2.1", "1.0"), ("resource=2.1, protocol=1.0", "2.1", "1.0"),
            ("protocol=1.0,resource=2.1", "2.1", "1.0"), ("resource=2.0", "2.0", nil), ("protocol=2.1", nil, "2.1"),
            ("resource=2", "2.0", nil), (" resource = 2.1 ", "2.1", nil),
        ] as [(String, String?, String?)])
    func readsAcceptAPIVersion(header: String, resource: String?, proto: String?) throws {
        let version = try AcceptAPIVersion(header)
        #expect(version.resource?.description == resource)
        #expect(version.protocol?.description == proto)
    }

    @Test(
        "An invalid Accept-API-Version header, or one with a newer protocol, is refused",
        arguments: [
            "", "2.1", "resource", "resource=", "resource=x", "resource=2.", "resource=2.1.0", "resource=-1", "resource=2.1,",
            "resource=2.1,resource=2.1", "version=1.0", "protocol=2.2", "protocol=3.0", "resource=99999999999999999999",
        ])
    func refusesInvalidAcceptAPIVersion(header: String) {
        #expect(throws: APIError.self) { try AcceptAPIVersion(header) }
    }

    @Test(
        "Each resource answers with its Content-API-Version, and with 404 to a request for another version",
        arguments: [
            (TestServer.authenticate, nil, 200, "resource=2.1"),
            (TestServer.authenticate, "resource=2.1, protocol=1.0", 200, "resource=2.1"),
            (TestServer.authenticate, "protocol=1.0,resource=2.0", 200, "resource=2.1"),
            (TestServer.authenticate, "resource=2.2", 404, "resource=2.1"),
            (TestServer.authenticate, "resource=1.2", 404, "resource=2.1"),
            (TestServer.authenticate, "resource=3.0", 404, "resource=2.1"),
            (TestServer.authenticate, "nonsense", 400, "resource=2.1"),
            (push, "resource=1.0, protocol=1.0", 400, "resource=1.0"), (push, "resource=1.1", 404, "resource=1.0"),
            (push, "resource=2.0", 404, "resource=1.0"), (push, "protocol=2.2", 400, "resource=1.0"),
            (push, "x", 400, "resource=1.0"),
        ] as [(String, String?, Int, String)])
    func negotiatesAPIVersion(uri: String, header: String?, status: Int, answered: String) async throws {
        try await TestServer.run { server in
            var headers = ["Content-Type": "application/json"]
            headers["Accept-API-Version"] = header
            let reply = try await server.send(.post, uri, headers: headers, body: "{}")
            #expect(reply.status == status)
            #expect(reply.header("Content-API-Version") == answered)
            if status == 404 { #expect(try #require(reply.message).hasSuffix("does not match any routes.")) }
        }
    }

    private static let push = "/am/json/push/sns/message?_action=authenticate"
}
