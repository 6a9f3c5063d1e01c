import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Server information")
struct ServerInfoTests {
    private static func get(
        _ item: String, at path: String = "/am/json/realms/root", _ headers: [String: String] = [:], on server: TestServer
    )
        async throws -> Reply
    {
        try await server.send(.get, "\(path)/serverinfo/\(item)", headers: headers)
    }

    @Test("S9: The server information has the members of AM's, with the defaults of this server")
    func describesServer() async throws {
        try await TestServer.run { server in
            let reply = try await Self.get("*", ["Accept-API-Version": "protocol=1.0,resource=1.1"], on: server)
            #expect(reply.status == 200 && reply.header("Content-API-Version") == "resource=1.1")
            // The members that OpenAM 16.0.5 answered with.
            let names = [
                "_id", "_rev", "domains", "protectedUserAttributes", "cookieName", "secureCookie", "cookieSameSite",
                "forgotPassword",
                "forgotUsername", "kbaEnabled", "selfRegistration", "lang", "successfulUserRegistrationDestination",
                "socialImplementations", "referralsEnabled", "zeroPageLogin", "realm", "xuiUserSessionValidationEnabled",
            ]
            #expect(Set(try #require(reply.json.object).keys) == Set(names))
            #expect(reply.json["_id"] == "*" && reply.json["realm"] == "/" && reply.json["domains"] == .array([]))
            #expect(reply.json["cookieName"] == "iPlanetDirectoryPro" && reply.json["cookieSameSite"] == "Lax")
            #expect(reply.json["secureCookie"] == .bool(false) && reply.json["forgotPassword"] == "false")
            #expect(reply.json["zeroPageLogin"]?["enabled"] == .bool(false))
            let revision = try #require(reply.json["_rev"]?.string)
            #expect(reply.header("ETag") == "\"\(revision)\"")
            for path in ["/am/json", "/am/json/realms/root"] {
                for item in ["*", "%2A"] { #expect(try await Self.get(item, at: path, on: server).json == reply.json) }
            }
            #expect(try await Self.get("*", at: "/am/json/alpha", on: server).json["realm"] == "/alpha")
        }
    }

    @Test("S9: The server information follows the configuration of the cookie")
    func followsConfiguration() async throws {
        let configuration = ServerConfiguration.sample {
            $0.cookieName = "sso"
            $0.cookieDomain = "example.test"
            $0.cookieSameSite = .strict
            $0.publicURL = "https://login.example.test/am"
        }
        try await TestServer.run(configuration) { server in
            let info = try await Self.get("*", on: server).json
            #expect(info["cookieName"] == "sso" && info["domains"] == .array(["example.test"]))
            #expect(info["cookieSameSite"] == "Strict" && info["secureCookie"] == .bool(true))
            let domains = try await Self.get("cookieDomains", on: server).json
            #expect(domains["_id"] == "cookieDomains" && domains["domains"] == .array(["example.test"]))
        }
        // A cookie for other sites is Secure also over http.
        try await TestServer.run(.sample { $0.cookieSameSite = .none }) { server in
            let info = try await Self.get("*", on: server).json
            #expect(info["cookieSameSite"] == "None" && info["secureCookie"] == .bool(true))
        }
    }

    @Test("S9: The version is for administrators only")
    func returnsVersionToAdministratorsOnly() async throws {
        let configuration = ServerConfiguration.sample {
            var administrator = User(name: "amadmin", password: Secret("pin".utf8))
            administrator.isAdministrator = true
            $0.users.append(administrator)
        }
        try await TestServer.run(configuration) { server in
            for (header, message) in [(nil, "No session for request."), ("x", "No session for request.")] as [(String?, String)] {
                let reply = try await Self.get("version", header.map { ["iPlanetDirectoryPro": $0] } ?? [:], on: server)
                #expect(reply.status == 403 && reply.message == message)
            }
            let user = ["iPlanetDirectoryPro": try await server.session()]
            let refused = try await Self.get("version", user, on: server)
            #expect(refused.status == 403 && refused.message == "The user has insufficient privileges")
            let administrator = [
                "iPlanetDirectoryPro": try await server.session(name: "amadmin", password: "pin"),
                "Accept-API-Version": "resource=1.0",
            ]
            let reply = try await Self.get("version", administrator, on: server)
            #expect(reply.status == 200 && reply.json["_id"] == "version")
            // The tool frodo takes the first number of this form.
            #expect(try #require(reply.json["version"]?.string).wholeMatch(of: #/\d\.\d\.\d/#) != nil)
            #expect(reply.json["fullVersion"]?.string?.hasPrefix("Signet") == true)
            // The session is not good in another realm.
            #expect(try await Self.get("version", at: "/am/json/alpha", administrator, on: server).status == 403)
        }
    }

    @Test("S9: Another item, version or method of the server information is refused")
    func refusesUnknownServerInformation() async throws {
        try await TestServer.run { server in
            let unknown = try await Self.get("nosuch", on: server)
            #expect(unknown.status == 404)
            #expect(try await Self.get("*", ["Accept-API-Version": "resource=2.0"], on: server).status == 404)
            #expect(try await Self.get("*", at: "/am/json/nowhere", on: server).status == 404)
            #expect(try await server.send(.post, "/am/json/serverinfo/*", body: "{}").status == 405)
        }
    }

    @Test("The configuration file makes a user an administrator")
    func readsAdministratorSetting() throws {
        let file = try ServerConfiguration(yaml: "users: [{name: amadmin, administrator: true}, {name: demo}]")
        #expect(file.users.map(\.isAdministrator) == [true, false])
    }
}
