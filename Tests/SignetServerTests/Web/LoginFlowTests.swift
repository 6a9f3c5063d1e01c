import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Login flows and the cookies of browsers")
struct LoginFlowTests {
    private static let xui = LoginPageTests.xui
    private static let choice = "\(xui)&authIndexType=service&authIndexValue=ChoiceCallback"

    @Test("A login that begins with a wait lasts as long as its journey, although the browser only polls")
    func waitingFlowLastsAsLongAsJourney() async throws {
        let journeys = """
            J:
              nodes:
                wait: {type: PollingWaitNode, secondsToWait: 1500, outcomes: {DONE: name}}
                name: {type: UsernameCollectorNode, outcomes: {outcome: failure}}
            """
        let configure: (inout ServerConfiguration) -> Void = { $0.journeyTimeout = 1800 }
        try await TestServer.run(journeys: journeys, configure) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=J")
            let poll = try #require(page.text.captures("data-poll=\"([^\"]*)\"").first?[0].unescaped)
            let address = try #require(page.formAction)
            for _ in 0..<2 {
                server.clock.advance(by: 700)
                #expect(try await browser.get(poll).status == 200)
                #expect(try await browser.get(address).heading == page.heading)
            }
            server.clock.advance(by: 200)
            #expect(try await browser.get(address).text.contains(">User Name</label>"))
        }
    }

    // MARK: Planted cookies

    @Test("An attacker that plants its cookie in the user's browser gets no session", arguments: [xui, choice])
    func plantedCookieGivesNoSession(start: String) async throws {
        try await TestServer.run { server in
            let attacker = PageBrowser(server)
            let page = try await attacker.get(start)
            let address = try #require(page.formAction)
            // A page at another port of this host can set the cookie and lead the user to the flow.
            let user = PageBrowser(server, cookies: attacker.cookies)
            var shown = try await user.signIn(try await user.get(address))
            if start == Self.choice {
                #expect(try await attacker.get(address).status == 404)
                shown = try await user.submit(shown, ["IDToken1": "1"])
            }
            #expect(shown.heading == "You are signed in")
            #expect(try await attacker.get(address).status == 404)
            #expect(try await attacker.signIn(page, password: "guess").status == 403)
            #expect(attacker.cookies["iPlanetDirectoryPro"] == nil)
        }
    }

    @Test("An attacker that plants its cookie can't collect a login that the user approves on the phone")
    func plantedCookieIsUselessDuringWait() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let attacker = PageBrowser(server)
            let start = try await attacker.get("\(Self.xui)&authIndexType=service&authIndexValue=PushNumberLogin")
            let user = PageBrowser(server, cookies: attacker.cookies)
            let page = try await user.signIn(start)
            let push = try #require(try await server.inbox(phone.uid).last)
            let number = try #require(push.number)
            #expect(try await phone.answer(push, ["challengeResponse": .string(String(number))], at: server).status == 200)
            server.clock.advance(by: 1)
            let address = try #require(page.formAction)
            let poll = try #require(page.text.captures("data-poll=\"([^\"]*)\"").first?[0].unescaped)
            #expect(try await attacker.get(poll).status == 404)
            #expect(try await attacker.get(address).status == 404)
            #expect(try await user.get(address).heading == "You are signed in")
        }
    }

    @Test("The server takes no cookie value from a request, and each start and each answer gets another value")
    func choosesCookieValues() async throws {
        try await TestServer.run { server in
            let planted = "signet-login-planted"
            let browser = PageBrowser(server, cookies: [planted: "planted"])
            let page = try await browser.get(Self.choice)
            #expect(browser.cookies[planted] == nil)
            var values = ["planted"]
            func record() throws { values.append(try browser.loginCookie(of: page).value) }
            try record()
            let next = try await browser.signIn(page)
            try record()
            _ = try await browser.send(
                .post, try #require(next.formAction), TestServer.form(next.hiddenFields.merging(["IDToken1": "1"]) { $1 }))
            try record()
            #expect(try await browser.get(try #require(page.formAction)).heading == "You are signed in")
            // The page after the login has no other value: the last answer has ended the flow.
            try record()
            #expect(Set(values).count == 4, "\(values)")
        }
    }

    @Test("Over https only the cookie with the prefix __Host- counts, which no other host and no plain http can set")
    func ignoresPlainCookieOverHTTPS() async throws {
        try await TestServer.run(.sample { $0.publicURL = "https://login.example.test/am" }) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let (name, value) = try browser.loginCookie(of: page, prefix: "__Host-signet-login-")
            let other = PageBrowser(server, cookies: [String(name.dropFirst(7)): value])
            #expect(try await other.get(try #require(page.formAction)).status == 404)
            #expect(try await browser.get(try #require(page.formAction)).status == 200)
        }
    }

    @Test("A planted cookie beside the server's own one does not stop the login")
    func plantedCookieBesideOwnOne() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let (name, value) = try browser.loginCookie(of: page)
            let headers = ["Cookie": "\(name)=planted; \(name)=\(value)"]
            #expect(try await server.send(.get, try #require(page.formAction), headers: headers).status == 200)
        }
    }

    @Test("An attacker with a planted cookie and the user's password can't repeat the user's form while the phone is asked")
    func repeatsNoFormDuringWait() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let attacker = PageBrowser(server)
            let start = try await attacker.get("\(Self.xui)&authIndexType=service&authIndexValue=PushNumberLogin")
            let user = PageBrowser(server, cookies: attacker.cookies)
            let page = try await user.signIn(start)
            #expect(try await attacker.signIn(start).status == 403)
            let push = try #require(try await server.inbox(phone.uid).last)
            let number = try #require(push.number)
            #expect(try await phone.answer(push, ["challengeResponse": .string(String(number))], at: server).status == 200)
            server.clock.advance(by: 1)
            let address = try #require(page.formAction)
            #expect(try await user.get(address).heading == "You are signed in")
            #expect(try await attacker.get(address).status == 404)
            #expect(attacker.cookies["iPlanetDirectoryPro"] == nil)
        }
    }

    // MARK: Session token

    @Test("The session token is given to the browser once, and the server forgets it")
    func givesTokenOnce() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let address = try #require(page.formAction)
            #expect(try await browser.signIn(page).heading == "You are signed in")
            let again = try await browser.send(.get, address)
            #expect(again.status == 303 && again.cookies.isEmpty)
            #expect(again.header("Location")?.hasPrefix("/am/XUI/session") == true)
            let id = try page.flow
            let flow = try await server.devServer.context.store.read { tx in try tx.flows[id] }
            guard case .done(let end)? = flow?.state else {
                Issue.record("the flow is not done")
                return
            }
            #expect(end.token == nil && end.isCollected == true)
        }
    }

    // MARK: Tabs and repeated forms

    @Test("Two tabs of one browser both sign in, whichever is first")
    func twoTabsSignIn() async throws {
        for isReversed in [false, true] {
            try await TestServer.run { server in
                let browser = PageBrowser(server)
                let tabs = [try await browser.get(Self.choice), try await browser.get("\(Self.choice)&ForceAuth=true")]
                let first = isReversed ? tabs[1] : tabs[0]
                let second = isReversed ? tabs[0] : tabs[1]
                let (one, two) = (try await browser.signIn(first), try await browser.signIn(second))
                #expect(one.text.contains("Second factor") && two.text.contains("Second factor"))
                #expect(try await browser.submit(two, ["IDToken1": "1"]).heading == "You are signed in")
                #expect(try await browser.submit(one, ["IDToken1": "1"]).heading == "You are signed in")
            }
        }
    }

    @Test("Two tabs that start a login before either has a response both sign in")
    func startsTwoFlowsAtOnce() async throws {
        try await TestServer.run { server in
            let (one, two) = (PageBrowser(server), PageBrowser(server))
            let tabs = [try await one.get(Self.choice), try await two.get(Self.choice)]
            // The browser sent both requests without a cookie, and has got both responses.
            let browser = PageBrowser(server, cookies: one.cookies.merging(two.cookies) { $1 })
            for tab in tabs {
                let next = try await browser.signIn(tab)
                #expect(try await browser.submit(next, ["IDToken1": "1"]).heading == "You are signed in")
            }
        }
    }

    @Test("A browser that lost the response to a form sends it again and continues, for ten seconds")
    func repeatsLostAnswer() async throws {
        try await TestServer.run { server in
            for (seconds, isAccepted) in [(0, true), (9, true), (10, false)] {
                let browser = PageBrowser(server)
                let page = try await browser.get(Self.xui)
                let lost = PageBrowser(server, cookies: browser.cookies)
                let body = TestServer.form(
                    page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": TestServer.password]) { $1 })
                #expect(try await lost.send(.post, try #require(page.formAction), body).status == 303)
                server.clock.advance(by: Double(seconds))
                // Another answer comes from another browser.
                #expect(try await browser.signIn(page, password: "guess").status == 403)
                let cookie = try browser.loginCookie(of: page).value
                let elsewhere = LoginAnswer(
                    flow: try page.flow, page: 1, browsers: [TokenHash(cookie)], form: try Parameters(body), userAgent: nil,
                    address: "192.0.2.1", devices: [])
                await #expect(throws: APIError.foreignForm) {
                    try await server.devServer.context.store.write { tx in _ = try tx.answer(elsewhere) }
                }
                let reply = try await browser.signIn(page)
                #expect((reply.heading == "You are signed in") == isAccepted, "\(seconds): \(reply.status)")
            }
        }
    }

    @Test("An undeliverable push message fails an open flow, and leaves one that has ended as it is", arguments: [false, true])
    func failureLeavesEndedFlow(hasEnded: Bool) async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            if hasEnded { #expect(try await browser.signIn(page).heading == "You are signed in") }
            let id = try page.flow
            let flow = try await server.devServer.context.store.write { tx in try tx.fail(id, with: .authenticationError) }
            switch try #require(flow?.state) {
            case .done: #expect(hasEnded)
            case .failed: #expect(!hasEnded)
            case .open, .invited: Issue.record("the flow goes on")
            }
        }
    }

    // MARK: Stored state

    @Test("A flow keeps only the known parameters of its URL, each once")
    func keepsKnownParameters() async throws {
        try await TestServer.run { server in
            let junk = "&junk=\(String(repeating: "x", count: 20_000))&\(String(repeating: "y", count: 5000))"
            let query = "realm=/&authIndexType=service&authIndexValue=Login&ForceAuth=true"
            let page = try await PageBrowser(server).get("/am/XUI/?\(query)\(junk)&realm=/&locale=de&suspendedI=x")
            let id = try page.flow
            let stored = try await server.devServer.context.store.read { tx in try tx.flows[id]?.query }
            #expect(stored == query)
        }
    }

    @Test("A parameter that is too long gets 400, and starts no flow", arguments: [("goto", 8192), ("authIndexValue", 1024)])
    func refusesLongParameter(name: String, limit: Int) async throws {
        try await TestServer.run { server in
            let value = String(repeating: "x", count: limit)
            let reply = try await server.send(.get, "/am/XUI/?\(name)=\(value)", headers: [:])
            #expect(reply.status == 400 && reply.text.contains("too long") && reply.cookies.isEmpty)
        }
    }

    @Test("A flow ends ten minutes after its start, and five minutes after the time for its journey")
    func unfinishedFlowEndsSoon() async throws {
        try await TestServer.run { server in
            let (browser, other) = (PageBrowser(server), PageBrowser(server))
            let (page, answered) = (try await browser.get(Self.choice), try await other.get(Self.choice))
            server.clock.advance(by: 200)
            _ = try await other.signIn(answered)
            server.clock.advance(by: 399)
            #expect(try await browser.get(try #require(page.formAction)).heading == "Sign In")
            server.clock.advance(by: 1)
            #expect(try await browser.get(try #require(page.formAction)).status == 404)
            server.clock.advance(by: 199)
            #expect(try await other.get(try #require(answered.formAction)).status == 200)
            server.clock.advance(by: 1)
            #expect(try await other.get(try #require(answered.formAction)).status == 404)
        }
    }

    @Test("A flow that has ended is stored for five minutes, and its cookie is removed then", arguments: [true, false])
    func endedFlowEndsSoon(isRight: Bool) async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let (name, _) = try browser.loginCookie(of: page)
            _ = try await browser.signIn(page, password: isRight ? TestServer.password : "wrong")
            server.clock.advance(by: 299)
            #expect(try await browser.get(try #require(page.formAction)).status == (isRight ? 200 : 401))
            server.clock.advance(by: 1)
            #expect(try await browser.get(try #require(page.formAction)).status == 404)
            #expect(browser.cookies[name] != nil)
            let start = try await browser.send(.get, "\(Self.xui)&ForceAuth=true")
            #expect(browser.cookies[name] == nil)
            let own = start.cookies.first { $0.hasPrefix("signet-login-") }
            #expect(own?.contains("; Max-Age=600; ") == true)
        }
    }

    @Test("A flow that waits for an email is stored as long as the link is valid")
    func suspendedFlowWaits() async throws {
        try await TestServer.run(.sample { $0.suspensionTimeout = 7200 }) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=EmailLogin")
            let waiting = try await browser.submit(page, ["IDToken1": "mira"])
            server.clock.advance(by: 7499)
            #expect(try await browser.get(try #require(page.formAction)).text == waiting.text)
            server.clock.advance(by: 1)
            #expect(try await browser.get(try #require(page.formAction)).status == 404)
        }
    }

    @Test("The page of a flow that is over leads back to the app, and to no address that a login could not go to")
    func startsAgainAfterEnd() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress())
            server.clock.advance(by: 600)
            for reply in [try await browser.get(try #require(page.formAction)), try await browser.signIn(page)] {
                #expect(reply.status == 404)
                let again = try #require(reply.text.captures("<a href=\"([^\"]*)\"").first?[0].unescaped)
                let end = try await browser.signIn(try await browser.get(again))
                #expect(end.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
                _ = try await browser.submit(try await browser.get("/am/XUI/session"), [:])
            }
            let foreign = try await browser.get("/am/XUI/?realm=/&service=Login&goto=https%3A%2F%2Fevil.example&junk=1&flow=x")
            let again = try #require(foreign.text.captures("<a href=\"([^\"]*)\"").first?[0].unescaped)
            #expect(foreign.status == 404 && again == "/am/XUI/?realm=/&service=Login" && !foreign.text.contains("evil"))
        }
    }

    @Test("A browser has at most 16 flows besides the new one, with one cookie each")
    func limitsFlowsOfBrowser() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            for _ in 0..<40 { _ = try await browser.get(Self.xui) }
            let count = try await server.devServer.context.store.read { tx in try tx.flows.page(after: nil, 100).count }
            #expect(count == 17)
            let cookies = browser.cookies.keys.count { $0.hasPrefix("signet-login-") }
            #expect(cookies == 17)
        }
    }

    @Test(
        "An image, a frame or a script's request of a page starts no flow",
        arguments: [
            ("no-cors", "image"), ("navigate", "iframe"), ("cors", "empty"), ("no-cors", "script"), ("same-origin", "empty"),
        ])
    func startsNoFlowForPartOfPage(mode: String, destination: String) async throws {
        try await TestServer.run { server in
            for site in ["cross-site", "same-site"] {
                let headers = ["Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination, "Sec-Fetch-Site": site]
                let reply = try await server.send(.get, Self.xui, headers: headers)
                #expect(reply.status == 403 && reply.cookies.isEmpty)
            }
            let count = try await server.devServer.context.store.read { tx in try tx.flows.page(after: nil, 100).count }
            #expect(count == 0)
            let page = ["Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "cross-site"]
            #expect(try await server.send(.get, Self.xui, headers: page).status == 200)
        }
    }
}

extension PageBrowser {
    /// Returns the name and the value of the cookie of a page's login flow.
    func loginCookie(of page: Reply, prefix: String = "signet-login-") throws -> (name: String, value: String) {
        let name = try prefix + page.flow.prefix(12)
        return (name, try #require(cookies[name]))
    }
}

extension Reply {
    /// The id of the login flow in the address of the page's form.
    var flow: String {
        get throws { try #require(formAction?.components(separatedBy: "flow=").last) }
    }
}
