import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Actions of the users resource")
struct UserActionTests {
    private static func act(
        _ action: String, _ session: String?, _ body: String = "{}", at path: String = "/am/json/realms/root",
        version: String = "resource=2.0, protocol=1.0", on server: TestServer
    ) async throws -> Reply {
        var headers = ["Content-Type": "application/json", "Accept-API-Version": version]
        headers["iPlanetDirectoryPro"] = session
        return try await server.send(.post, "\(path)/users?_action=\(action)", headers: headers, body: body)
    }

    @Test("S9: The action idFromSession names the user of the session")
    func namesUser() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let reply = try await Self.act("idFromSession", session, on: server)
            #expect(reply.status == 200 && reply.header("Content-API-Version") == "resource=2.1")
            #expect(
                reply.json
                    == .object([
                        "id": "mira", "realm": "/", "dn": "id=mira,ou=user,ou=am-config", "successURL": "/am/console",
                        "fullLoginURL": "/am/XUI/?realm=%2F",
                    ]))
            let newer = try await Self.act("idFromSession", session, version: "protocol=1.0,resource=3.0", on: server)
            #expect(newer.json == reply.json && newer.header("Content-API-Version") == "resource=3.0")
            let cookie = ["Cookie": "iPlanetDirectoryPro=\(session)", "Content-Type": "application/json"]
            let shown = try await server.send(.post, "/am/json/users?_action=idFromSession", headers: cookie, body: "{}")
            #expect(shown.json == reply.json)

            let alpha = "/am/json/realms/root/realms/alpha"
            let own = try await server.session(password: "other", at: "\(alpha)/authenticate")
            let elsewhere = try await Self.act("idFromSession", own, at: alpha, on: server).json
            #expect(elsewhere["realm"] == "/alpha" && elsewhere["fullLoginURL"] == "/am/XUI/?realm=%2Falpha")
        }
    }

    @Test("S9: Without a session in the realm both actions are 401", arguments: ["idFromSession", "validateGoto"])
    func requiresSession(action: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            for (token, path) in [(nil, "/am/json"), ("x", "/am/json"), (session, "/am/json/alpha")] as [(String?, String)] {
                let reply = try await Self.act(action, token, #"{"goto":"/am/console"}"#, at: path, on: server)
                #expect(reply.status == 401 && reply.message == "Access Denied")
            }
        }
    }

    @Test(
        "S9: The action validateGoto returns a permitted address, and the console for any other one",
        arguments: [
            (#""/am/console""#, "/am/console"), (#""http://127.0.0.1:8080/am/x""#, "http://127.0.0.1:8080/am/x"),
            (#""https://app.example.test/bye""#, "https://app.example.test/bye"),
            (#""https://web.example.test/cb?x=1""#, "https://web.example.test/cb?x=1"),
            (#""http://evil.example.com/""#, "/am/console"), (#""//evil.example.com/am/""#, "/am/console"),
            (#""http://127.0.0.1:8080@evil.example.com/am/""#, "/am/console"), (#""javascript:alert(1)""#, "/am/console"),
            (#""""#, "/am/console"), ("7", "/am/console"), ("null", "/am/console"),
        ])
    func validatesGoto(goto: String, answer: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let reply = try await Self.act("validateGoto", session, "{\"goto\":\(goto)}", on: server)
            #expect(reply.status == 200 && reply.json == .object(["successURL": .string(answer)]))
        }
    }

    @Test("S9: An address of a client of another realm is not permitted, and a missing one leads to the console")
    func validatesGotoInRealm() async throws {
        let client = RegisteredClient(id: "elsewhere", redirectURIs: ["https://alpha.example.test/cb"]) { $0.realm = "/alpha" }
        try await TestServer.run(.sample { $0.clients.append(client) }) { server in
            let session = try await server.session()
            let alpha = try await server.session(password: "other", at: "/am/json/alpha/authenticate")
            let body = #"{"goto":"https://alpha.example.test/cb"}"#
            #expect(try await Self.act("validateGoto", session, body, on: server).json["successURL"] == "/am/console")
            let own = try await Self.act("validateGoto", alpha, body, at: "/am/json/alpha", on: server)
            #expect(own.json["successURL"] == "https://alpha.example.test/cb")
            #expect(try await Self.act("validateGoto", session, on: server).json["successURL"] == "/am/console")
        }
    }

    @Test(
        "S9: Another action, version or body of the users resource is refused",
        arguments: [
            ("", "resource=2.0", "{}", 400), ("create", "resource=2.0", "{}", 501), ("idFromSession", "resource=9.0", "{}", 404),
            ("validateGoto", "resource=2.0", "[]", 400),
        ])
    func refusesUnknownUserAction(action: String, version: String, body: String, status: Int) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            #expect(try await Self.act(action, session, body, version: version, on: server).status == status)
        }
    }
}
