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
    private static let cookie = LoginController.cookieName
    private static let choice = "\(xui)&authIndexType=service&authIndexValue=ChoiceCallback"

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
            let browser = PageBrowser(server, cookies: [Self.cookie: "planted"])
            var values = ["planted"]
            func note() { values.append(browser.cookies[Self.cookie] ?? "") }
            _ = try await browser.get(Self.xui)
            note()
            let page = try await browser.get(Self.choice)
            note()
            let next = try await browser.signIn(page)
            note()
            _ = try await browser.send(
                .post, try #require(next.formAction), TestServer.form(next.hiddenFields.merging(["IDToken1": "1"]) { $1 }))
            note()
            #expect(try await browser.get(try #require(page.formAction)).heading == "You are signed in")
            note()
            #expect(Set(values).count == values.count && !values.contains(""), "\(values)")
        }
    }

    @Test("Over https only the cookie with the prefix __Host- counts, which no other host and no plain http can set")
    func ignoresPlainCookieOverHTTPS() async throws {
        try await TestServer.run(.sample { $0.publicURL = "https://login.example.test/am" }) { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let value = try #require(browser.cookies["__Host-signet-browser"])
            let other = PageBrowser(server, cookies: [Self.cookie: value])
            #expect(try await other.get(try #require(page.formAction)).status == 404)
            #expect(try await browser.get(try #require(page.formAction)).status == 200)
        }
    }

    @Test("A planted cookie beside the server's own one does not stop the login")
    func plantedCookieBesideOwnOne() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let headers = ["Cookie": "\(Self.cookie)=planted; \(Self.cookie)=\(browser.cookies[Self.cookie] ?? "")"]
            #expect(try await server.send(.get, try #require(page.formAction), headers: headers).status == 200)
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
            let id = try #require(address.components(separatedBy: "flow=").last)
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
                let reply = try await browser.signIn(page)
                #expect((reply.heading == "You are signed in") == isAccepted, "\(seconds): \(reply.status)")
            }
        }
    }

    @Test("A browser keeps the device identifier of its flows, although its cookie changes")
    func keepsDeviceIdentifier() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            for _ in 0..<2 { _ = try await browser.signIn(try await browser.get(Self.choice)) }
            let cookie = try #require(browser.cookies[Self.cookie])
            let devices = try await server.devServer.context.store.read { tx in
                try tx.flows.group(TokenHash(cookie).text).map(\.device)
            }
            #expect(devices.count == 2 && Set(devices).count == 1 && devices.first != nil)
        }
    }

    // MARK: Stored state

    @Test("A flow keeps only the known parameters of its URL, each once")
    func keepsKnownParameters() async throws {
        try await TestServer.run { server in
            let junk = "&junk=\(String(repeating: "x", count: 20_000))&\(String(repeating: "y", count: 5000))"
            let query = "realm=/&authIndexType=service&authIndexValue=Login&ForceAuth=true"
            let page = try await PageBrowser(server).get("/am/XUI/?\(query)\(junk)&realm=/&locale=de&suspendedI=x")
            let id = try #require(page.formAction?.components(separatedBy: "flow=").last)
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

    @Test("A flow without an answer ends after ten minutes, and one with an answer does not")
    func unansweredFlowEndsSoon() async throws {
        try await TestServer.run { server in
            let (browser, other) = (PageBrowser(server), PageBrowser(server))
            let (page, answered) = (try await browser.get(Self.choice), try await other.get(Self.choice))
            _ = try await other.signIn(answered)
            server.clock.advance(by: 599)
            #expect(try await browser.get(try #require(page.formAction)).heading == "Sign In")
            server.clock.advance(by: 1)
            #expect(try await browser.get(try #require(page.formAction)).status == 404)
            #expect(try await other.get(try #require(answered.formAction)).status != 404)
        }
    }

    @Test("A browser has at most 16 flows besides the new one")
    func limitsFlowsOfBrowser() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            for _ in 0..<40 { _ = try await browser.get(Self.xui) }
            let count = try await server.devServer.context.store.read { tx in try tx.flows.page(after: nil, 100).count }
            #expect(count == 17)
        }
    }
}

@Suite("The cap on unfinished login flows of an address", .postgresServer, .timeLimit(.minutes(5)))
struct LoginFlowLimiterTests {
    @Test("An address starts at most 1,000 flows at once, in every store, and a login makes room", arguments: StateKind.available)
    func capsFlowsOfAddress(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server({ $0.port = 0 }) { server in
                let store = server.devServer.context.store
                try await store.write { tx in for _ in 0..<999 { try tx.flowLimiter.take("127.0.0.1") } }
                try await server.serve { port in
                    func start() async throws -> String {
                        let connection = try RawHTTPConnection(port: port)
                        connection.send("GET /am/XUI/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        defer { connection.vanish() }
                        return await connection.read { _ in false }
                    }
                    #expect(try await start().hasPrefix("HTTP/1.1 303"))
                    let refused = try await start()
                    #expect(refused.hasPrefix("HTTP/1.1 429") && refused.lowercased().contains("retry-after: 1"), "\(refused)")
                    try await store.write { tx in
                        // Another address is not affected.
                        try tx.flowLimiter.take("192.0.2.1")
                        try tx.flowLimiter.giveBack("127.0.0.1")
                    }
                    #expect(try await start().hasPrefix("HTTP/1.1 303"))
                    server.clock.advance(by: 600)
                    try await store.write { tx in for _ in 0..<1000 { try tx.flowLimiter.take("127.0.0.1") } }
                }
            }
        }
    }
}
