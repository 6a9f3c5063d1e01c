import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The requests of a login in a browser")
struct LoginRequestTests {
    /// Sends the form of a login page without following the redirect.
    private static func sendForm(of page: Reply, _ browser: PageBrowser, password: String = TestServer.password) async throws
        -> Reply
    {
        let fields = page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": password]) { $1 }
        return try await browser.send(.post, try #require(page.formAction), TestServer.form(fields))
    }

    private static func sessions(_ server: TestServer) async throws -> Int {
        try await server.devServer.context.store.read { tx in try tx.sessions.count(limit: 100) }
    }

    @Test("A login takes three requests from the authorization request to the client")
    func takesThreeRequests() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let authorize = try await browser.send(.get, try await server.authorizeAddress())
            let address = try #require(authorize.header("Location")).replacing("http://127.0.0.1:8080", with: "")
            let page = try await browser.send(.get, String(address.prefix { $0 != "#" }))
            #expect(authorize.status == 302 && page.status == 200)
            #expect(page.header("Cache-Control")?.contains("no-store") == true)
            let end = try await Self.sendForm(of: page, browser)
            #expect(end.status == 303 && end.text.isEmpty && end.header("Cache-Control") == "no-store")
            #expect(end.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
            #expect(try end.location["state"] == "st/&te")
            let code = try #require(try end.location["code"])
            #expect(try await server.exchange(code).status == 200)
            #expect(try await server.isValid(browser.cookies["iPlanetDirectoryPro"] ?? ""))
        }
    }

    @Test(
        "The browser opens the authorization request itself for a page, and for a fault",
        arguments: [["client_id": "asking"], ["response_mode": "form_post", "redirect_uri": "http://127.0.0.1/callback"], [:]])
    func opensRequestItself(changes: [String: String]) async throws {
        try await TestServer.run { server in
            if changes.isEmpty {
                try server.devServer.context.faults.enable(FaultRule(.wrongState))
            }
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress(changes))
            let end = try await Self.sendForm(of: page, browser)
            #expect(end.status == 303)
            let location = try #require(end.header("Location"))
            #expect(location.hasPrefix("/am/oauth2/authorize?"), "\(location)")
            #expect(browser.cookies["iPlanetDirectoryPro"] != nil)
        }
    }

    @Test("A wrong password leads to a page and not to the client, and gives no session")
    func refusesWrongPassword() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress())
            let end = try await Self.sendForm(of: page, browser, password: "guess")
            #expect(end.status == 303 && end.header("Location")?.hasPrefix("/am/XUI/?") == true)
            #expect(browser.cookies["iPlanetDirectoryPro"] == nil)
            #expect(try await Self.sessions(server) == 0)
        }
    }

    @Test("A browser that lost the last response gets the session with another token, and there is one session")
    func repeatsLastForm() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress())
            let lost = PageBrowser(server, cookies: browser.cookies)
            #expect(try await Self.sendForm(of: page, lost).status == 303)
            let end = try await Self.sendForm(of: page, browser)
            #expect(end.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
            #expect(try await server.isValid(browser.cookies["iPlanetDirectoryPro"] ?? ""))
            #expect(try await !server.isValid(lost.cookies["iPlanetDirectoryPro"] ?? ""))
            #expect(try await Self.sessions(server) == 1)
            // The response is repeated for ten seconds, and never for another form.
            let other = PageBrowser(server, cookies: lost.cookies)
            #expect(try await Self.sendForm(of: page, other, password: "guess").header("Set-Cookie") == nil)
            #expect(try await Self.sessions(server) == 1)
        }
    }

    @Test("A login flow is removed with the exchange of its code, and the page leads its browser to the client for five minutes")
    func forgetsFlow() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress())
            let end = try await Self.sendForm(of: page, browser)
            let id = try page.flow
            let code = try #require(try end.location["code"])
            #expect(try await server.exchange(code).status == 200)
            let isStored = try await server.devServer.context.store.read { tx in try tx.flows[id] != nil }
            #expect(!isStored)
            let address = try #require(page.formAction)
            let otherBrowser = PageBrowser(server)
            #expect(try await otherBrowser.get(address).status == 404)
            let elsewhere = address.replacing(/goto=[^&]*/, with: "goto=%2Fam%2Foauth2%2Fauthorize%3Fclient_id%3Dapp")
            #expect(try await browser.get(elsewhere).status == 404)
            // The user goes back, and sends the form again.
            for reply in [try await browser.get(address), try await browser.signIn(page)] {
                #expect(reply.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
            }
            server.clock.advance(by: 300)
            #expect(try await browser.get(address).status == 404)
        }
    }

    @Test("A login without an authorization request ends at the page of the session")
    func endsAtSessionPage() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let end = try await Self.sendForm(of: try await browser.get("/am/XUI/?realm=/"), browser)
            #expect(end.status == 303 && end.header("Location")?.hasPrefix("/am/XUI/session?realm=") == true)
            #expect(browser.cookies["iPlanetDirectoryPro"] != nil)
        }
    }
}
