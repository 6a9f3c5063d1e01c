import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Responses to invalid input")
struct BadInputTests {
    private static let bodies: [(type: String, body: String)] = [
        ("application/json", ""), ("application/json", "{"), ("application/json", "[]"), ("application/json", "{\"authId\":{}}"),
        ("application/json", "{\"tokenId\":7,\"callbacks\":{}}"), ("application/x-www-form-urlencoded", "%"),
        ("application/x-www-form-urlencoded", "=&=&&a=%00&client_id=%F0%9F%92%A9&token=+&user_code=-"),
        ("text/html", "<p>"), ("", "\u{0}"),
    ]

    @Test(
        "Every resource answers invalid input by any method with something other than an internal server error",
        arguments: Route.resources)
    func answersInvalidInput(resource: Route) async throws {
        let arguments = Array(repeating: "mira", count: resource.parameterCount)
        let path = "/am" + Route.Address(resource, realm: .root, arguments: arguments).path
        try await TestServer.run { server in
            let session = try await server.session()
            for method in [HTTPRequest.Method.get, .post, .put, .delete, .patch, .options, .head] {
                for (type, body) in Self.bodies {
                    for query in [
                        "", "?_action=%00&realm=%2F&x=%zz", "?_queryFilter=true&_action=logout&client_id=app&prompt=none",
                    ] {
                        let headers = [
                            "Content-Type": type, "Cookie": ";=;iPlanetDirectoryPro;iPlanetDirectoryPro==",
                            "Authorization": "Basic =",
                            "iPlanetDirectoryPro": body.isEmpty ? session : "\"", "Accept-API-Version": "resource=",
                        ]
                        let reply = try await server.send(method, path + query, headers: headers, body: body)
                        #expect(reply.status != 500, "\(method) \(path)\(query) \(body)")
                        #expect(reply.status != 200 || reply.header("Content-Length") != nil)
                    }
                }
            }
        }
    }

    @Test("A damaged token request gets an OAuth 2.0 error, and tokens only if its meaning is unchanged", arguments: 0..<4)
    func answersDamagedTokenRequest(seed: Int) async throws {
        try await TestServer.run { server in
            var random = SeededGenerator(seed: UInt64(seed))
            let session = try await server.session()
            for _ in 0..<100 {
                let code = try await server.code(session)
                let valid = TestServer.form([
                    "grant_type": "authorization_code", "code": code, "client_id": "app", "redirect_uri": TestServer.redirectURI,
                    "code_verifier": TestServer.verifier,
                ])
                var bytes = Array(valid.utf8)
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    if Bool.random(using: &random) {
                        bytes[index] = UInt8.random(in: 0x20...0x7E, using: &random)
                    } else {
                        bytes.remove(at: index)
                    }
                }
                let body = String(decoding: bytes, as: UTF8.self)
                let reply = try await server.send(
                    .post, "\(TestServer.oauth)/access_token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: body)
                let meansTheSame = (try? Parameters(body)) == (try? Parameters(valid))
                #expect((reply.status == 200) == meansTheSame, "\(body)")
                #expect(reply.status == 200 || reply.error != nil)
            }
        }
    }
}

@Suite("Connections that a client closes in the middle of a request")
struct BrokenRequestTests {
    @Test(
        "A client that closes its side in the middle of a body gets 400, and the request log has the request",
        arguments: [100, 262_145])
    func answersIncompleteBody(length: Int) async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let connection = try RawHTTPConnection(port: port)
                let head =
                    "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(length)"
                connection.send(head + "\r\n\r\n{\"a\":")
                connection.endSending()
                let answer = await connection.read { $0.hasSuffix("}") }
                #expect(answer.hasPrefix("HTTP/1.1 400"))
                connection.vanish()
            }
            let statuses = server.devServer.requestLog.entries.map(\.request?.status)
            #expect(statuses == [400])
        }
    }
}
