import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Realms in request paths")
struct RealmTests {
    @Test(
        "Every form of a realm in the paths of the SDKs is read",
        arguments: [
            ("/json/authenticate", nil, "/"), ("/json/realms/root/authenticate", nil, "/"),
            ("/json/realms/root/realms/alpha/authenticate", nil, "/alpha"), ("/json/realms/alpha/authenticate", nil, "/alpha"),
            ("/json/alpha/authenticate", nil, "/alpha"), ("/json/authenticate", "/alpha", "/alpha"),
            ("/json/authenticate", "alpha", "/alpha"), ("/json/authenticate", "/", "/"),
            ("/json/realms/root/authenticate", "/alpha", "/alpha"), ("/json/alpha/authenticate", "/", "/alpha"),
            ("/json/realms/root/realms/a/realms/b/authenticate", nil, "/a/b"), ("/json/a/b/authenticate", nil, "/a/b"),
            ("/json/realms/root/authenticate/", nil, "/"), ("/json/my%20realm/authenticate", nil, "/my realm"),
            ("/oauth2/authorize", nil, "/"), ("/oauth2/realms/root/authorize", nil, "/"),
            ("/oauth2/realms/root/realms/alpha/access_token", nil, "/alpha"), ("/oauth2/realms/alpha/userinfo", nil, "/alpha"),
            ("/oauth2/alpha/connect/endSession", nil, "/alpha"), ("/oauth2/token/revoke", "/alpha", "/alpha"),
            ("/json/realms/root/realms/alpha/sessions/", nil, "/alpha"),
            ("/json/realms/alpha/users/mira/devices/2fa/push", nil, "/alpha"),
            ("/json/users/users/devices/profile/users", nil, "/"), ("/json/alpha/users", nil, "/alpha"),
            ("/json/alpha/push/sns/message", nil, "/alpha"), ("/json/realms/root/push/stream", nil, "/"),
        ] as [(String, String?, String)])
    func readsRealmOfPath(path: String, parameter: String?, realm: String) throws {
        #expect(try #require(Route.Address(path: path, realmParameter: parameter)).realm.description == realm)
    }

    @Test(
        "A path without a resource, or with an incomplete realm, is not an address",
        arguments: [
            "/json", "/json/", "/json/realms/authenticate", "/json/realms/root/realms/authenticate", "/json//authenticate",
            "/json/realms//authenticate", "/authenticate", "/json/realms/root/alpha/authenticate", "/json/%zz/authenticate",
            "/json/push/sns", "json/authenticate", "/oauth2/authenticate", "/json/authorize", "/oauth2",
            "/oauth2/realms/authorize",
        ])
    func refusesIncompletePath(path: String) {
        #expect(Route.Address(path: path, realmParameter: nil) == nil)
    }

    @Test("An encoded slash does not separate realms", arguments: ["/json/realms/root%2Frealms%2Falpha/authenticate"])
    func encodedSlashIsNoSeparator(path: String) throws {
        #expect(try #require(Route.Address(path: path, realmParameter: nil)).realm != RealmPath("/alpha"))
    }

    @Test(
        "An address that is written as a path is read back unchanged", arguments: Route.resources, ["/", "/alpha", "/a b/ü"])
    func readsWrittenAddress(resource: Route, realm: String) {
        let arguments = (0..<resource.parameterCount).map { "a/ü \($0)" }
        let address = Route.Address(resource, realm: RealmPath(realm), arguments: arguments)
        #expect(Route.Address(path: address.path, realmParameter: nil) == address)
    }

    @Test(
        "A request for a configured realm is answered, and one for an unknown realm gets 404",
        arguments: [
            ("/am/json/realms/root/authenticate", 200), ("/am/json/realms/root/realms/alpha/authenticate", 200),
            ("/am/json/realms/alpha/authenticate", 200), ("/am/json/alpha/authenticate", 200),
            ("/am/json/authenticate?realm=/alpha", 200), ("/am/json/beta/authenticate", 404),
            ("/am/json/authenticate?realm=%2Fbeta", 404), ("/am/json/realms/root%2Frealms%2Falpha/authenticate", 404),
            ("/am/xui/", 404), ("/json/authenticate", 404), ("/amjson/authenticate", 404), ("/", 404),
        ])
    func answersConfiguredRealms(uri: String, status: Int) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.post, uri, body: "{}")
            #expect(reply.status == status)
            if status == 404 {
                #expect(reply.json["code"] == .integer(404))
                #expect(reply.json["reason"] == "Not Found")
                #expect(reply.message != nil)
            }
        }
    }

    @Test("Users of the same name in two realms are different accounts")
    func separatesUsersOfRealms() async throws {
        try await TestServer.run { server in
            let alpha = "/am/json/alpha/authenticate"
            let reply = try await server.logIn("Login", password: "other", at: alpha)
            #expect(reply.json["realm"] == "/alpha")
            #expect(try await server.logIn("Login", password: TestServer.password, at: alpha).status == 401)
            #expect(try await server.logIn("Login", password: "other").status == 401)
        }
    }
}
