import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Session properties")
struct SessionPropertyTests {
    private static func act(
        _ action: String, _ session: String?, _ body: String, at path: String = TestServer.sessions, query: String = "",
        version: String = "resource=4.0", on server: TestServer
    ) async throws -> Reply {
        var headers = ["Content-Type": "application/json", "Accept-API-Version": version]
        headers["iPlanetDirectoryPro"] = session
        return try await server.send(.post, "\(path)?_action=\(action)\(query)", headers: headers, body: body)
    }

    private static func permitting(_ names: String...) -> ServerConfiguration { .sample { $0.sessionProperties = names } }

    @Test(
        "S9: The versions 4.0 and 5.1 of sessions have every action",
        arguments: [
            ("resource=4.0", "resource=4.0"), ("resource=5.0", "resource=5.1"), ("protocol=2.1,resource=5.1", "resource=5.1"),
        ])
    func servesNewVersions(version: String, answered: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            func act(_ action: String, _ body: String = "{}") async throws -> Reply {
                let reply = try await Self.act(action, session, body, version: version, on: server)
                #expect(reply.header("Content-API-Version") == answered)
                return reply
            }
            // As the tool frodo asks.
            let info = try await act("getSessionInfo", "{\"tokenId\":\"\(session)\"}")
            #expect(info.status == 200 && info.json["username"] == "mira" && info.json["realm"] == "/")
            #expect(try await act("validate").json["valid"] == .bool(true))
            #expect(try await act("getSessionProperties").status == 200)
            #expect(try await act("logout").text == "{\"result\":\"Successfully logged out\"}")
            #expect(try await server.isValid(session) == false)
        }
    }

    @Test("S9: Without permitted properties a user reads none, and an empty update is 400, as at AM")
    func permitsNothingByDefault() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            for version in ["protocol=2.0,resource=2.0", "resource=3.1", "resource=5.1"] {
                let read = try await Self.act("getSessionProperties", session, "{}", version: version, on: server)
                #expect(read.status == 200 && read.text == "{}")
                let empty = try await Self.act("updateSessionProperties", session, "{}", version: version, on: server)
                #expect(empty.status == 400 && empty.message == "Bad Request")
            }
        }
    }

    @Test("S9: A user reads and changes the permitted properties of the own session")
    func changesOwnProperties() async throws {
        try await TestServer.run(Self.permitting("theme", "language")) { server in
            let session = try await server.session()
            let other = try await server.session()
            let first = try await Self.act("getSessionProperties", session, "", on: server)
            #expect(first.json == .object(["theme": "", "language": ""]))
            let changed = try await Self.act("updateSessionProperties", session, #"{"theme":"dark"}"#, on: server)
            #expect(changed.status == 200 && changed.json == .object(["theme": "dark", "language": ""]))
            let again = try await Self.act("updateSessionProperties", session, #"{"language":"en"}"#, on: server)
            #expect(again.json == .object(["theme": "dark", "language": "en"]))
            let some = try await Self.act("getSessionProperties", session, #"{"properties":["theme"]}"#, on: server)
            #expect(some.json == .object(["theme": "dark"]))
            // The token of the own session may be named in each place.
            for (path, query, body) in [
                (TestServer.sessions, "&tokenId=\(session)", "{}"), (TestServer.sessions, "", "{\"tokenId\":\"\(session)\"}"),
                ("\(TestServer.sessions)/\(session)", "", "{}"),
            ] {
                let named = try await Self.act("getSessionProperties", session, body, at: path, query: query, on: server)
                #expect(named.json["theme"] == "dark")
            }
            #expect(try await Self.act("getSessionProperties", other, "{}", on: server).json["theme"] == "")
            let info = try await Self.act("getSessionInfo", session, "{}", on: server)
            #expect(info.json["properties"]?["theme"] == "dark")
        }
    }

    @Test(
        "S9: An update of another property, or with another value than a text, changes nothing",
        arguments: [
            (#"{"level":"9"}"#, 403), (#"{"theme":"dark","level":"9"}"#, 403), (#"{"AMCtxId":"x"}"#, 403),
            (#"{"Service":"PushLogin"}"#, 403), (#"{"tokenId":"x","theme":"dark"}"#, 403), (#"{"theme":7}"#, 400),
            (#"{"theme":null}"#, 400), (#"{"theme":["dark"]}"#, 400), ("", 400), (#"["theme"]"#, 400), ("{", 400),
            ("{\"theme\":\"\(String(repeating: "x", count: 1025))\"}", 400),
        ])
    func refusesUpdate(body: String, status: Int) async throws {
        // The server's own properties are refused even when a program permits them.
        try await TestServer.run(Self.permitting("theme", "AMCtxId", "Service")) { server in
            let session = try await server.session()
            let before = try await Self.act("getSessionInfo", session, "{}", on: server).json["properties"]
            #expect(try await Self.act("updateSessionProperties", session, body, on: server).status == status)
            #expect(try await Self.act("getSessionInfo", session, "{}", on: server).json["properties"] == before)
        }
    }

    @Test(
        "S9: The properties of another session, of another realm or without a session are refused",
        arguments: ["getSessionProperties", "updateSessionProperties"])
    func refusesOtherSessions(action: String) async throws {
        try await TestServer.run(Self.permitting("theme")) { server in
            let session = try await server.session()
            let other = try await server.session(name: "noa", password: "staple")
            let body = #"{"theme":"dark"}"#
            let named = try await Self.act(action, session, body, query: "&tokenId=\(other)", on: server)
            #expect(named.status == 403 && named.message == "Forbidden")
            let path = try await Self.act(action, session, body, at: "\(TestServer.sessions)/\(other)", on: server)
            #expect(path.status == 403)
            for (token, path) in [
                (nil, TestServer.sessions), ("x", TestServer.sessions), (session, "/am/json/alpha/sessions"),
                (nil, "\(TestServer.sessions)/\(session)"),
            ] {
                let reply = try await Self.act(action, token, body, at: path, on: server)
                #expect(reply.status == 401 && reply.message == "Access Denied")
            }
            for token in [session, other] {
                #expect(try await Self.act("getSessionProperties", token, "{}", on: server).json["theme"] == "")
            }
        }
    }

    @Test("S9: A user cannot read a property that is not permitted", arguments: [#"["level"]"#, #"["theme","AMCtxId"]"#])
    func refusesReading(names: String) async throws {
        try await TestServer.run(Self.permitting("theme")) { server in
            let session = try await server.session()
            let reply = try await Self.act("getSessionProperties", session, "{\"properties\":\(names)}", on: server)
            #expect(reply.status == 403)
            #expect(try await Self.act("getSessionProperties", session, #"{"properties":7}"#, on: server).status == 400)
        }
    }

    @Test("The configuration file lists the session properties of users, without those of the server")
    func readsSessionPropertySetting() throws {
        let file = try ServerConfiguration(yaml: "server: {sessionProperties: [theme, language]}")
        #expect(file.sessionProperties == ["theme", "language"])
        for names in ["[AMCtxId]", "[theme, Service]", "theme"] {
            #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: "server: {sessionProperties: \(names)}") }
        }
    }
}
