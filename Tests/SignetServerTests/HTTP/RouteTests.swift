import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Routes")
struct RouteTests {
    /// Each route with its methods.
    private static let methods: [(Route, String)] = [
        (.authenticate, "POST"), (.sessions, "POST"), (.session, "POST"), (.serverInfo, "GET"), (.users, "POST"),
        (.pushMessage, "POST"),
        (.pushStream, "GET"),
        (.authorize, "GET, POST"), (.accessToken, "POST"), (.revocation, "POST"), (.introspection, "POST"),
        (.userInfo, "GET, POST"), (.endSession, "GET, POST"), (.keys, "GET"), (.discovery, "GET"),
        (.authorizationServer, "GET"), (.deviceCode, "POST"), (.deviceUser, "GET, POST"), (.health, "GET, HEAD"),
        (.pushedAuthorization, "POST"), (.backchannelAuthorization, "POST"),
        (.pages, "GET, POST"),
    ]

    @Test("A request with a method that a route does not have gets 405 and the methods of the route", arguments: methods)
    func wrongMethodGetsTheAllowedMethods(route: Route, allowed: String) async throws {
        let arguments = Array(repeating: "mira", count: route.parameterCount)
        let isResource = Route.resources.contains(route)
        let path = isResource ? Route.Address(route, realm: .root, arguments: arguments).path : route.family.prefix
        try await TestServer.run { server in
            let unknown = try #require(HTTPRequest.Method("GARBLE"))
            let known = allowed.split(separator: ", ").compactMap { HTTPRequest.Method(String($0)) }
            for method in [.put, .delete, .patch, .options, .trace, unknown] where !known.contains(method) {
                let reply = try await server.send(method, "/am" + path, headers: [:])
                #expect(reply.status == 405, "\(method)")
                #expect(reply.header("Allow") == allowed, "\(method)")
                let entry = try #require(server.devServer.requestLog.entries.last?.request)
                #expect(entry.method == method.rawValue && entry.status == 405)
            }
        }
    }

    @Test("Every AM resource has a handler in every realm", arguments: Route.resources)
    func everyResourceHasAHandler(route: Route) async throws {
        let arguments = Array(repeating: route == .serverInfo ? "version" : "push", count: route.parameterCount)
        try await TestServer.run { server in
            for realm in [RealmPath.root, RealmPath("/alpha")] {
                let path = "/am" + Route.Address(route, realm: realm, arguments: arguments).path
                for method in [HTTPRequest.Method.get, .post] {
                    let reply = try await server.send(method, path)
                    #expect(reply.status != 404, "\(method) \(path)")
                }
            }
        }
    }

    @Test(
        "An address with empty segments, or outside of the server's table of routes, gets 404",
        arguments: [
            "/am//json/authenticate", "/am/json//authenticate", "/am/health/", "/am//health", "/am/XUI/wait/", "/am/XUI//wait",
            "/am/console/open/", "/am/push-gateway", "/push-gateway", "/health", "/am", "/am/", "//am/health",
        ])
    func addressOutsideOfTheTableIsUnknown(path: String) async throws {
        try await TestServer.run { server in
            for method in [HTTPRequest.Method.get, .post] {
                let reply = try await server.send(method, path, body: "{}")
                #expect(reply.status == 404)
            }
        }
    }

    @Test("A percent-encoded path has the same route in the request log as the plain path")
    func encodedPathHasTheSameName() async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.post, "/am/%6Ason/%61uthenticate?realm=%2Falpha", body: "{}")
            #expect(reply.status == 200)
            let entry = try #require(server.devServer.requestLog.entries.last?.request)
            #expect(entry.resource == "authenticate" && entry.path == "/am/%6Ason/%61uthenticate")
        }
    }

    @Test(
        "The administration API lists the methods of an address only for a client with the token",
        arguments: ["", "/clock", "/users/mira"])
    func administrationHidesItsMethods(path: String) async throws {
        let token = "0123456789abcdef"
        try await TestServer.run(.sample { $0.adminToken = Secret(token.utf8) }) { server in
            let refused = try await server.send(.trace, "/am/admin\(path)", headers: [:])
            #expect(refused.status == 401)
            let reply = try await server.send(.trace, "/am/admin\(path)", headers: ["Authorization": "Bearer \(token)"])
            #expect(reply.status == 405)
        }
        try await TestServer.run { server in
            let reply = try await server.send(.trace, "/am/admin\(path)", headers: [:])
            #expect(reply.status == 404)
        }
    }

    @Test(
        "An unknown address of the administration API gets 401 without the token and 404 with it",
        arguments: ["/nothing", "/clock/nothing", "/users/mira/nothing", "/users/mira/devices/push/1/more"])
    func administrationHidesItsAddresses(path: String) async throws {
        let token = "0123456789abcdef"
        try await TestServer.run(.sample { $0.adminToken = Secret(token.utf8) }) { server in
            let refused = try await server.send(.get, "/am/admin\(path)", headers: [:])
            #expect(refused.status == 401)
            let reply = try await server.send(.get, "/am/admin\(path)", headers: ["Authorization": "Bearer \(token)"])
            #expect(reply.status == 404)
        }
    }
}
