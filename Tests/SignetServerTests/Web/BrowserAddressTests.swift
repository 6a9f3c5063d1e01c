import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Addresses that a browser opens without knowing a page")
struct BrowserAddressTests {
    /// The header of browsers.
    private static let browser = ["Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]

    @Test(
        "The server's address leads a browser to the login page, with the parameters of a login",
        arguments: [("/am", "/am"), ("/a/b/", "/a/b"), ("", "")])
    func addressLeadsBrowserToLogin(contextPath: String, normal: String) async throws {
        try await TestServer.run(.sample { $0.contextPath = contextPath }) { server in
            for path in ["/", normal.isEmpty ? "/" : normal, "\(normal)/"] {
                let reply = try await server.send(.get, path, headers: Self.browser)
                #expect(reply.status == 303 && reply.header("Location") == "\(normal)/XUI/", "\(path)")
                let kept = try await server.send(.get, "\(path)?realm=/alpha&x=1", headers: Self.browser)
                #expect(kept.header("Location") == "\(normal)/XUI/?realm=/alpha", "\(path)")
            }
        }
    }

    @Test("A browser that opens the part of a longer deployment path gets 404")
    func partOfDeploymentPathIsUnknown() async throws {
        try await TestServer.run(.sample { $0.contextPath = "/a/b" }) { server in
            for path in ["/a", "/a/", "/am", "/entry", "/a/b/entry"] {
                let reply = try await server.send(.get, path, headers: Self.browser)
                #expect(reply.status == 404 && reply.header("Location") == nil, "\(path)")
            }
        }
    }

    @Test(
        "A program gets 404 as JSON at the server's address and at an unknown one",
        arguments: ["/", "/am", "/am/", "/nothing", "/am/nothing", "/am/json/nothing"])
    func programGetsJSONAtUnknownAddress(path: String) async throws {
        let programs: [[String: String]] = [[:], ["Accept": "*/*"], ["Accept": "text/html"], ["Accept": "application/json"]]
        try await TestServer.run { server in
            for headers in programs {
                let reply = try await server.send(.get, path, headers: headers)
                #expect(reply.status == 404 && reply.message == "Resource not found.", "\(headers)")
            }
            let posted = try await server.send(.post, path, headers: Self.browser)
            #expect(posted.status == 404)
        }
    }

    @Test(
        "A browser gets a page with a link to sign in at an unknown address, or JSON on a setting",
        arguments: [
            "/nothing", "/am/nothing", "/am/json/nothing", "/am/oauth2/nothing",
            "/am/oauth2/realms/root/realms/nowhere/authorize", "/am/json/nowhere/serverinfo/*", "/am/health/nothing",
            // Without a token for the administration API its addresses do not exist.
            "/am/admin/nothing", "/am/admin/users/mira",
        ])
    func browserGetsPageAtUnknownAddress(path: String) async throws {
        try await TestServer.run { server in
            let page = try await server.send(.get, path, headers: Self.browser)
            #expect(page.status == 404 && page.heading == "There is nothing here")
            #expect(page.header("Content-Type") == "text/html; charset=UTF-8")
            #expect(page.text.contains("<a href=\"/am/XUI/\""))
        }
        try await TestServer.run(.sample { $0.authorizeErrors = .json }) { server in
            let reply = try await server.send(.get, path, headers: Self.browser)
            #expect(reply.status == 404 && reply.json.object != nil)
        }
    }

    @Test(
        "A route's own 404 is the same for a browser and for a program",
        arguments: [
            ("/am/json/serverinfo/nothing", "", "Resource not found."),
            ("/am/json/users/mira/devices/profile/nothing", "resource=1.0", "Resource not found."),
            (
                "/am/json/users/mira/devices/profile/nothing", "resource=2.0",
                "Accept-API-Version: Requested version \"2.0\" does not match any routes."
            ),
            ("/am/admin/users/nobody", "", "There is no such user."),
            ("/am/admin/users?realm=/nowhere", "", "There is no such realm."),
        ])
    func routeKeepsItsNotFoundResponse(path: String, version: String, message: String) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let session = try await server.session()
            var headers = ["iPlanetDirectoryPro": session, "Authorization": "Bearer \(AdminTests.token)"]
            if !version.isEmpty { headers["Accept-API-Version"] = version }
            let program = try await server.send(.get, path, headers: headers)
            #expect(program.status == 404 && program.message == message)
            headers.merge(Self.browser) { $1 }
            let browser = try await server.send(.get, path, headers: headers)
            #expect(browser.status == 404 && browser.text == program.text)
            #expect(browser.header("Content-Type") == "application/json; charset=UTF-8")
            #expect(browser.header("Content-API-Version") == program.header("Content-API-Version"))
        }
    }

    @Test("A browser with the token of the administration API gets a page at an unknown address of it")
    func browserWithTokenGetsPage() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            var headers = Self.browser
            headers["Authorization"] = "Bearer \(AdminTests.token)"
            let page = try await server.send(.get, "/am/admin/nothing", headers: headers)
            #expect(page.status == 404 && page.heading == "There is nothing here")
        }
    }

    @Test("The page of a journey that does not exist leads to the default journey, and to the same destination")
    func unknownJourneyLeadsToDefaultJourney() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            for goto in ["", "&goto=/am/oauth2/device/user"] {
                let page = try await browser.get("\(LoginPageTests.xui)\(goto)&service=Nothing")
                #expect(page.status == 400 && page.heading == "There is no such journey")
                let link = try #require(page.text.captures("<a href=\"([^\"]*)\"").first?[0].unescaped)
                #expect(link == "\(LoginPageTests.xui)\(goto)")
                #expect(try await browser.get(link).heading == "Sign In")
            }
        }
    }

    @Test("After a logout the page says so and offers to sign in again")
    func pageSaysThatUserHasSignedOut() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let session = try await browser.signIn(try await browser.get(LoginPageTests.xui))
            let page = try await browser.submit(session, [:])
            #expect(page.heading == "You have signed out" && page.text.contains(">Sign in again</a>"))
            let link = try #require(page.text.captures("<a href=\"([^\"]*)\"").first?[0].unescaped)
            #expect(try await browser.get(link).heading == "Sign In")
            #expect(try await browser.get("/am/XUI/session").heading == "You are not signed in")
            // The session had ended before the form was sent.
            #expect(try await browser.submit(session, [:]).heading == "You are not signed in")
        }
    }
}
