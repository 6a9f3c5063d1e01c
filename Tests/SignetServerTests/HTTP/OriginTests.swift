import Foundation
import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Requests of pages of other origins (CSRF)")
struct OriginTests {
    private static let app = "https://app.example"
    private static let configuration = ServerConfiguration.sample { $0.corsOrigins = [app] }

    /// The headers with which browsers mark a request of another origin's page.
    static let foreign: [[String: String]] = [
        ["Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"],
        // Another port of this machine is same-site, so browsers send the cookies.
        ["Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"], ["Origin": "http://127.0.0.1:3000"],
        ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": "null", "Sec-Fetch-Site": "cross-site"],
        ["Origin": ""],
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ["Origin": "https://app.example.evil.example"], ["Origin": "http://app.example"],
        ["Origin": "http://127.0.0.1:8080.evil.example"], ["Origin": "http://127.0.0.1:8080@evil.example"],
    ]

    @Test("A page of another origin can't log the user out with the user's cookie", arguments: foreign)
    func refusesForeignLogout(headers: [String: String]) async throws {
        try await TestServer.run(Self.configuration) { server in
            let session = try await server.session()
            let cookie = ["Cookie": "iPlanetDirectoryPro=\(session)"]
            let logout = "/am/json/sessions?_action=logout"
            // A form or a script without a body and a content type needs no preflight request.
            let reply = try await server.send(.post, logout, headers: cookie.merging(headers) { $1 })
            #expect(reply.status == 403 && reply.message?.contains("server.corsOrigins") == true, "\(reply.text)")
            #expect(reply.cookies.isEmpty)
            #expect(try await server.isValid(session))
            #expect(try await server.send(.post, logout, headers: cookie).status == 200)
        }
    }

    @Test("A page of another origin can't log the user in as the attacker with the attacker's suspended journey")
    func refusesForeignLogin() async throws {
        try await TestServer.run(Self.configuration) { server in
            var step = try await server.start("EmailLogin").step
            step.fill("NameCallback", "noa")
            _ = try await server.next(step)
            let link = try #require(try await server.devServer.emailLinks(to: "noa").last)
            let parameter = URLComponents(string: link)?.queryItems?.first { $0.name == "suspendedId" }
            let token = try #require(parameter?.value)
            let path = "\(TestServer.authenticate)?suspendedId=\(token.percentEncoded())"
            for headers in Self.foreign {
                let reply = try await server.send(.post, path, headers: headers)
                #expect(reply.status == 403 && reply.cookies.isEmpty)
            }
            // The link is still valid for the user.
            let reply = try await server.send(.post, path, headers: [:])
            #expect(reply.status == 200 && reply.json["tokenId"] != nil, "\(reply.text)")
        }
    }

    static let addresses: [(HTTPRequest.Method, String)] = [
        (.post, "/am/json/authenticate"), (.post, "/am/json/realms/root/realms/alpha/authenticate"),
        (.post, "/am/json/sessions?_action=logout"), (.post, "/am/json/sessions?_action=updateSessionProperties"),
        (.post, "/am/json/users?_action=validateGoto"), (.post, "/am/json/push/sns/message?_action=register"),
        (.delete, "/am/json/users/mira/devices/2fa/oath/x"), (.put, "/am/json/users/mira/devices/profile/x"),
        (.post, "/am/oauth2/access_token"), (.post, "/am/oauth2/token/revoke"), (.post, "/am/oauth2/introspect"),
        (.post, "/am/oauth2/device/code"), (.post, "/am/oauth2/device/user"),
        (.post, "/am/oauth2/par"), (.post, "/am/oauth2/bc-authorize"),
        (.post, "/am/XUI/"), (.post, "/am/XUI/logout"),
    ]

    @Test("Every address that can change state refuses requests of other origins' pages, and no others", arguments: addresses)
    func refusesForeignPages(method: HTTPRequest.Method, path: String) async throws {
        try await TestServer.run(Self.configuration) { server in
            let type = ["Content-Type": "application/x-www-form-urlencoded"]
            for headers in Self.foreign {
                let reply = try await server.send(method, path, headers: type.merging(headers) { $1 }, body: "a=b")
                #expect(reply.status == 403 && reply.text.contains("another origin"), "\(headers): \(reply.text)")
                #expect(reply.header("Access-Control-Allow-Origin") == nil)
            }
            let own = [
                [:], ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], ["Origin": "http://127.0.0.1:8080"],
                ["Origin": "http://localhost"], ["Origin": Self.app, "Sec-Fetch-Site": "cross-site"],
                // A development proxy that replaces the host: the browser compares the page with the address that it requested.
                ["Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-origin"],
            ]
            for headers in own {
                let reply = try await server.send(method, path, headers: type.merging(headers) { $1 }, body: "a=b")
                #expect(!reply.text.contains("another origin"), "\(headers): \(reply.text)")
            }
        }
    }

    @Test(
        "Over https, a page that came over plain http is foreign, although it has the same host",
        arguments: [
            ("https://login.example.test", true), ("http://login.example.test", false),
            ("https://login.example.test:8443", false),
            ("http://localhost", true),
        ])
    func comparesScheme(origin: String, isAllowed: Bool) async throws {
        try await TestServer.run(.sample { $0.publicURL = "https://login.example.test:443/am" }) { server in
            let reply = try await server.send(.post, "/am/json/authenticate", headers: ["Origin": origin])
            #expect(reply.status == (isAllowed ? 200 : 403))
        }
    }

    @Test("Pages of a configured origin use the token endpoint")
    func allowsConfiguredOriginAtTokenEndpoint() async throws {
        try await TestServer.run(Self.configuration) { server in
            let code = try await server.code(try await server.session())
            let fields = [
                "grant_type": "authorization_code", "client_id": "app", "code": code, "redirect_uri": TestServer.redirectURI,
                "code_verifier": TestServer.verifier,
            ]
            let headers = [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": Self.app, "Sec-Fetch-Site": "cross-site",
            ]
            let reply = try await server.send(
                .post, "\(TestServer.oauth)/access_token", headers: headers, body: TestServer.form(fields))
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.header("Access-Control-Allow-Origin") == Self.app)
        }
    }

    @Test("A form of any page may request authorization, and can't give the user's consent")
    func foreignFormGivesNoConsent() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let address = try await server.authorizeAddress(["client_id": "asking"])
            let headers = [
                "Cookie": "iPlanetDirectoryPro=\(session)", "Content-Type": "application/x-www-form-urlencoded",
                "Origin": "https://evil.example",
            ]
            let reply = try await server.send(.post, address, headers: headers, body: "decision=allow&csrf=x")
            #expect(reply.status == 400 && reply.error == "bad_request", "\(reply.text)")
        }
    }

    @Test("A form of a client's page may log the user out (OpenID Connect RP-Initiated Logout section 2)")
    func foreignFormEndsSession() async throws {
        try await TestServer.run { server in
            let headers = ["Content-Type": "application/x-www-form-urlencoded", "Origin": "https://app.example"]
            let address = "\(TestServer.oauth)/connect/endSession"
            let body = TestServer.form(["id_token_hint": "not a token", "post_logout_redirect_uri": TestServer.redirectURI])
            let reply = try await server.send(.post, address, headers: headers, body: body)
            let byGet = try await server.send(.get, "\(address)?\(body)", headers: [:])
            #expect(reply.status == byGet.status && reply.status != 403, "\(reply.text)")
        }
    }

    @Test("The console refuses requests of pages without an origin")
    func consoleRefusesNullOrigin() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let link = try await server.devServer.consoleLink()
            let page = try await browser.get(link.replacingOccurrences(of: "http://127.0.0.1:8080", with: ""))
            #expect(page.status == 200)
            let reply = try await browser.console(.post, "clock/advance", #"{"seconds": 1}"#, more: ["Origin": "null"])
            #expect(reply.status == 404)
        }
    }
}
