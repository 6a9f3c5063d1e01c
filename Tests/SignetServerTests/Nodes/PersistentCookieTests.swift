import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Persistent cookies", .timeLimit(.minutes(5)))
struct PersistentCookieTests {
    private static let journeys = """
        J:
          nodes:
            known: {type: PersistentCookieDecisionNode, idleTimeout: 2, outcomes: {true: success, false: login}}
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: keep, false: failure}}
            keep: {type: SetPersistentCookieNode, idleTimeout: 2, maxLife: 5, outcomes: {outcome: success}}
        """

    private func start(_ server: TestServer, cookie: String?, realm: String = "realms/root") async throws -> Reply {
        var headers = ["Content-Type": "application/json"]
        if let cookie { headers["Cookie"] = "other=1; \(cookie)" }
        let uri = "/am/json/\(realm)/authenticate?authIndexType=service&authIndexValue=J"
        return try await server.send(.post, uri, headers: headers, body: "{}")
    }

    /// Returns the value of `Set-Cookie` for the persistent cookie; nil for none.
    private func setCookie(_ reply: Reply) -> String? { reply.cookies.first { $0.hasPrefix("session-jwt=") } }

    /// Logs in with the password, and returns the cookie as the browser sends it.
    private func cookie(_ server: TestServer) async throws -> String {
        let reply = try await server.logIn("J")
        #expect(reply.isLoggedIn)
        let header = try #require(setCookie(reply))
        #expect(header.contains("; Max-Age=18000; ") && header.contains("; HttpOnly") && !header.contains("Secure"))
        return String(header.prefix { $0 != ";" })
    }

    @Test("A persistent cookie logs in without a password until it was not used for the idle time")
    func persistentCookieRecognizesUser() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            var cookie = try await cookie(server)
            #expect(try await start(server, cookie: nil).step.callbacks.count == 2)
            for _ in 0..<2 {
                server.clock.advance(by: 1.5 * 3600)
                let reply = try await start(server, cookie: cookie)
                #expect(reply.isLoggedIn)
                let renewed = try #require(setCookie(reply))
                cookie = String(renewed.prefix { $0 != ";" })
            }
            server.clock.advance(by: 2 * 3600 + 1)
            #expect(try await !start(server, cookie: cookie).isLoggedIn, "it was not used for two hours")
        }
    }

    @Test("A persistent cookie is invalid after its life, however often it is used")
    func endsAfterItsLife() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            var cookie = try await cookie(server)
            for hour in 1...6 {
                server.clock.advance(by: 3600)
                let reply = try await start(server, cookie: cookie)
                #expect(reply.isLoggedIn == (hour < 5), "hour \(hour)")
                if let renewed = setCookie(reply) { cookie = String(renewed.prefix { $0 != ";" }) }
            }
        }
    }

    @Test("A persistent cookie is invalid with another text, in another realm, and for a locked user")
    func refusesOtherCookies() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let cookie = try await cookie(server)
            #expect(try await !start(server, cookie: cookie + "x").isLoggedIn)
            #expect(try await !start(server, cookie: "session-jwt=a.b.c").isLoggedIn)
            #expect(try await !start(server, cookie: cookie, realm: "realms/root/realms/alpha").isLoggedIn)
            #expect(try await start(server, cookie: cookie).isLoggedIn)
            #expect(try await server.devServer.setLocked(true, "mira"))
            #expect(try await !start(server, cookie: cookie).isLoggedIn)
        }
    }

    @Test("A new password makes a persistent cookie invalid")
    func newPasswordEndsCookie() async throws {
        let journeys = """
            New:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: new, false: failure}}
                new: {type: CreatePasswordNode, outcomes: {outcome: store}}
                store: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}

            """
        try await TestServer.run(journeys: journeys + Self.journeys) { server in
            let cookie = try await cookie(server)
            var step = try await server.logIn("New").step
            for index in 0...1 { step.callbacks[index].answer("another secret") }
            #expect(try await server.next(step).isLoggedIn)
            #expect(try await !start(server, cookie: cookie).isLoggedIn)
        }
    }

    @Test("The login pages set the cookie together with the session, and recognize the user by it")
    func pagesSetCookie() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let address = "/am/XUI/?realm=/&authIndexType=service&authIndexValue=J"
            _ = try await browser.signIn(try await browser.get(address))
            let kept = try #require(browser.cookies["session-jwt"])
            #expect(browser.cookies["iPlanetDirectoryPro"] != nil)
            let second = PageBrowser(server, cookies: ["session-jwt": kept])
            _ = try await second.get(address)
            #expect(second.cookies["iPlanetDirectoryPro"] != nil)
        }
    }
}
