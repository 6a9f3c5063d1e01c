import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Login pages")
struct LoginPageTests {
    static let xui = "/am/XUI/?realm=/"

    @Test("A browser without a session goes from authorize through the login page to the app's address")
    func loginPageLeadsToApp() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(try await server.authorizeAddress())
            #expect(page.status == 200)
            #expect(page.heading == "Sign In")
            let reply = try await browser.signIn(page)
            #expect(reply.status == 303)
            #expect(reply.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
            let code = try #require(try reply.location["code"])
            #expect(try await server.exchange(code).status == 200)
        }
    }

    @Test("Every page has headers against inline scripts, framing, caching, openers and referrers")
    func setsSecurityHeaders() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let login = try await browser.get(Self.xui)
            let session = try await browser.signIn(login)
            let pages = [
                login, session, try await browser.get("\(Self.xui)&authIndexValue=Nothing&ForceAuth=true"),
                try await browser.get("/am/XUI/nothing"), try await browser.get("/am/XUI/?realm=/nowhere"),
                try await browser.get("/am/oauth2/device/user"),
                try await server.authorize(browser.cookies["iPlanetDirectoryPro"], client: "asking"),
            ]
            for page in pages {
                let policy = try #require(page.header("Content-Security-Policy"))
                for part in [
                    "default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'",
                ] {
                    #expect(policy.contains(part))
                }
                #expect(!policy.contains("unsafe"))
                #expect(page.header("X-Content-Type-Options") == "nosniff")
                #expect(page.header("X-Frame-Options") == "DENY")
                #expect(page.header("Referrer-Policy") == "same-origin")
                #expect(page.header("Cross-Origin-Opener-Policy") == "same-origin")
                #expect(page.header("Cache-Control") == "no-store")
                #expect(page.header("Content-Type") == "text/html; charset=UTF-8")
                #expect(page.text.captures("(<script(?! src=)|<style|style=|\\son[a-z]+=)").isEmpty)
                #expect(page.text.captures("(?:src|href)=\"(https?:[^\"]*)\"").isEmpty)
            }
        }
    }

    @Test("Cookies are HttpOnly and SameSite, and Secure when the address is https")
    func setsCookieAttributes() async throws {
        for (publicURL, isSecure) in [(nil, false), ("https://login.example.test/am", true)] {
            try await TestServer.run(.sample { $0.publicURL = publicURL }) { server in
                let start = try await server.send(.get, Self.xui, headers: [:])
                #expect(start.status == 200)
                let browserCookie = start.cookies.first { $0.hasPrefix(isSecure ? "__Host-signet-login-" : "signet-login-") }
                let own = try #require(browserCookie)
                #expect(own.contains("; Path=\(isSecure ? "/" : "/am/XUI"); HttpOnly; SameSite=Lax"))
                #expect(own.hasSuffix("; Secure") == isSecure && !own.contains("Domain"))
                let browser = PageBrowser(server)
                let page = try await browser.get(Self.xui)
                let answer = try await browser.send(
                    .post, try #require(page.formAction),
                    TestServer.form(page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": TestServer.password]) { $1 }))
                #expect(answer.status == 303)
                let sessionCookie = answer.cookies.first { $0.hasPrefix("iPlanetDirectoryPro=") }
                let session = try #require(sessionCookie)
                #expect(session.contains("; HttpOnly") && session.contains("; SameSite=Lax"))
                #expect(session.contains("; Secure") == isSecure)
            }
        }
    }

    @Test(
        "A form with a wrong or missing token is refused",
        arguments: [
            ["csrf": "x"], ["csrf": nil], ["flow": "x"], ["flow": nil], ["page": "2"], ["page": "x"], ["page": nil],
        ] as [[String: String?]])
    func rejectsWrongFormToken(changes: [String: String?]) async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get(Self.xui)
            let fields = page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": TestServer.password]) { $1 }
            let reply = try await browser.post(try #require(page.formAction), fields.merging(changes) { $1 })
            #expect(reply.status == 403)
            #expect(browser.cookies["iPlanetDirectoryPro"] == nil)
            // The form itself is still valid.
            #expect(try await browser.signIn(page).heading == "You are signed in")
        }
    }

    @Test("A journey continues only in the browser that began it")
    func rejectsJourneyOfOtherBrowser() async throws {
        try await TestServer.run { server in
            let (browser, other) = (PageBrowser(server), PageBrowser(server))
            let page = try await browser.get(Self.xui)
            _ = try await other.get(Self.xui)
            let address = try #require(page.formAction)
            #expect(try await other.get(address).status == 404)
            #expect(try await other.signIn(page).status == 403)
            #expect(try await server.send(.get, address, headers: [:]).status == 404)
        }
    }

    @Test(
        "The login page redirects to no address outside the server and the registered ones",
        arguments: [
            "https://evil.example.test/", "//evil.example.test/", "/\\evil.example.test/", "\\\\evil.example.test",
            "http://127.0.0.1:8080.evil.example.test/am/oauth2/authorize",
            "http://127.0.0.1:8080@evil.example.test/am/oauth2/authorize",
            "javascript:alert(1)", "/am/json/authenticate", "/am/XUI/session", "/am/../evil", "/am/oauth2/../../evil/authorize",
            "http://127.0.0.1:8080/am/oauth2/realms/root/realms/nowhere/authorize", "https://web.example.test/cb?x=1&y=2",
            "/am/oauth2/authorize\r\nX: y", "data:text/html,x",
        ])
    func rejectsOpenRedirect(goto: String) async throws {
        try await TestServer.run { server in
            let reply = try await PageBrowser(server).get("\(Self.xui)&goto=\(goto.percentEncoded())")
            #expect(reply.status == 400)
            #expect(reply.header("Location") == nil)
        }
    }

    @Test(
        "The login page redirects to authorize, to device codes and to registered addresses",
        arguments: [
            "http://127.0.0.1:8080/am/oauth2/authorize?client_id=x", "/am/oauth2/realms/root/realms/alpha/authorize?x=y",
            "/am/oauth2/device/user?user_code=AAAA-BBBB", "https://web.example.test/cb?x=1", "https://app.example.test/bye",
            TestServer.redirectURI,
        ])
    func redirectsToKnownAddress(goto: String) async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("\(Self.xui)&goto=\(goto.percentEncoded())")
            #expect(page.heading == "Sign In")
            let end = try await browser.send(
                .post, try #require(page.formAction),
                TestServer.form(page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": TestServer.password]) { $1 }))
            #expect(end.header("Location") == goto.replacingOccurrences(of: "http://127.0.0.1:8080", with: ""))
        }
    }

    @Test("The names of journeys, clients and users are escaped as text")
    func escapesNames() async throws {
        let name = "\"><script>alert('1')</script>&amp;"
        let configuration = ServerConfiguration.sample {
            $0.users.append(User(name: name, password: Secret(TestServer.password.utf8)))
            $0.clients.append(RegisteredClient(id: name, redirectURIs: [TestServer.redirectURI]) { $0.requiresConsent = true })
        }
        try await TestServer.run(configuration) { server in
            let browser = PageBrowser(server)
            let session = try await browser.signIn(try await browser.get(Self.xui), name: name)
            #expect(session.heading == "You are signed in")
            #expect(session.text.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;"))
            let consent = try await server.authorize(browser.cookies["iPlanetDirectoryPro"], client: name)
            let query = "\"'><svg onload=alert(1)>"
            let odd = try await browser.get("\(Self.xui)&authIndexValue=\(query.percentEncoded())&x=\(query)&ForceAuth=true")
            for page in [session, consent, odd] {
                #expect(!page.text.contains("<script>") && !page.text.contains("<svg onload"))
            }
        }
    }

    @Test("A repeated or outdated form changes nothing and leads to the current page")
    func repeatedFormShowsCurrentPage() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=ChoiceCallback")
            let choice = try await browser.signIn(page)
            let again = try await browser.signIn(page, password: "wrong")
            #expect(choice.text.contains("Second factor") && again.text == choice.text)
            #expect(try await browser.submit(choice, ["IDToken1": "1"]).heading == "You are signed in")
            #expect(try await browser.submit(choice, ["IDToken1": "0"]).heading == "You are signed in")
        }
    }

    @Test("One of two simultaneous forms is accepted, and both lead to the next page")
    func acceptsOneOfTwoForms() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=ChoiceCallback")
            let body = TestServer.form(page.hiddenFields.merging(["IDToken1": "mira", "IDToken2": TestServer.password]) { $1 })
            let address = try #require(page.formAction)
            let headers = [
                "Cookie": browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "),
                "Content-Type": "application/x-www-form-urlencoded",
            ]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await server.send(.post, address, headers: headers, body: body).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 303, count: 8))
            // The browser that showed none of the responses sends the form once more.
            #expect(try await browser.signIn(page).text.contains("Second factor"))
            #expect(try await browser.get(address).text.contains("Second factor"))
        }
    }

    @Test("A wait continues when its page is requested after the wait time but not before")
    func waitContinuesInTime() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let browser = PageBrowser(server)
            let start = try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=PushNumberLogin")
            let page = try await browser.signIn(start)
            let push = try #require(try await server.inbox(phone.uid).last)
            let number = try #require(push.number)
            #expect(page.text.contains("<p class=\"number\">\(number)</p>"))
            #expect(page.text.contains("<noscript><meta http-equiv=\"refresh\" content=\"1\"></noscript>"))
            let address = try #require(page.formAction)
            let poll = try #require(page.text.captures("data-poll=\"([^\"]*)\"").first?[0].unescaped)
            // Early requests for the page do not fail the login.
            for _ in 0..<10 { #expect(try await browser.get(address).heading == page.heading) }
            #expect(try await browser.get(poll).json["wait"] == .integer(1000))
            server.clock.advance(by: 1)
            #expect(try await browser.get(poll).json == .object(["page": .integer(2), "wait": .integer(1000)]))
            #expect(try await phone.answer(push, ["challengeResponse": .string(String(number))], at: server).status == 200)
            server.clock.advance(by: 1)
            #expect(try await browser.get(poll).json == .object(["page": .integer(3)]))
            #expect(try await browser.get(address).heading == "You are signed in")
        }
    }

    @Test("An error page has the status of the error and a link to another attempt")
    func showsErrorPages() async throws {
        try await TestServer.run(.sample { $0.users[0].isLocked = true }) { server in
            let browser = PageBrowser(server)
            let wrong = try await browser.signIn(
                try await browser.get("\(Self.xui)&goto=%2Fam%2Foauth2%2Fauthorize"), password: "x")
            #expect(wrong.status == 401 && wrong.heading == "Not signed in")
            let again = try #require(wrong.text.captures("<a href=\"([^\"]*)\"").first?[0].unescaped)
            #expect(wrong.text.contains("The user name or the password is wrong."))
            #expect(again.hasPrefix("\(Self.xui)&goto=%2Fam%2Foauth2%2Fauthorize&again="))
            let repeated = try await browser.get(again)
            #expect(repeated.text.contains("value=\"mira\""))
            let locked = try await browser.signIn(repeated)
            #expect(locked.status == 401 && locked.heading == "Locked")
            let late = try await browser.get(Self.xui)
            server.clock.advance(by: 301)
            let timedOut = try await browser.signIn(late)
            #expect(timedOut.status == 401 && timedOut.heading == "Time is up")
            let unknown = try await browser.get("\(Self.xui)&authIndexValue=Nothing")
            #expect(unknown.status == 400)
            let link = try await browser.get("\(Self.xui)&suspendedId=x")
            let used = try await browser.submit(link, [:])
            #expect(used.status == 401 && used.heading == "The link is invalid")
        }
    }

    @Test("The parameter prompt=login asks for one more login although a session exists")
    func promptLoginAsksOnce() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            _ = try await browser.signIn(try await browser.get(Self.xui))
            let address = try await server.authorizeAddress(["prompt": "login"])
            let page = try await browser.get(address)
            #expect(page.heading == "Sign In")
            server.clock.advance(by: 10)
            #expect(try await browser.signIn(page).header("Location")?.hasPrefix(TestServer.redirectURI) == true)
        }
    }

    @Test("A registration link too long for a QR code is shown as a link with a notice", arguments: [10, 3000])
    func showsLongRegistrationAsLink(length: Int) async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
                next:
                  type: OathRegistrationNode
                  imgUrl: https://example.test/\(String(repeating: "x", count: length)).png
                  outcomes: {successOutcome: success, failureOutcome: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("\(Self.xui)&authIndexType=service&authIndexValue=J"))
            #expect(page.text.contains("<svg") == (length == 10))
            #expect(page.text.contains("longer than a QR code holds") == (length == 3000))
            #expect(page.text.contains("Open on this device"))
        }
    }

    @Test("A logout needs a form of the session")
    func logoutNeedsFormOfSession() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let session = try await browser.signIn(try await browser.get(Self.xui))
            let action = try #require(session.formAction)
            #expect(try await browser.post(action, ["csrf": "x"]).status == 403)
            #expect(try await browser.send(.get, action).status == 405)
            #expect(try await browser.get("/am/XUI/session").heading == "You are signed in")
            #expect(try await browser.submit(session, [:]).heading == "You have signed out")
            #expect(browser.cookies["iPlanetDirectoryPro"] == nil)
        }
    }

    @Test(
        "The page reports a journey that opens no session",
        arguments: ["&authIndexType=service&authIndexValue=PassThrough", "&noSession=true"])
    func reportsJourneyWithoutSession(query: String) async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("\(Self.xui)\(query)"))
            #expect(page.heading == "Done")
            #expect(browser.cookies["iPlanetDirectoryPro"] == nil)
        }
    }

    @Test(
        "The Content-Security-Policy of a page allows form redirects to the requesting app only",
        arguments: [
            ("app", "org.example.app:"), ("web", "https://web.example.test"),
        ])
    func limitsFormTargets(client: String, target: String) async throws {
        try await TestServer.run { server in
            let uri = client == "web" ? "https://web.example.test/cb?x=1" : TestServer.redirectURI
            let page = try await PageBrowser(server).get(
                try await server.authorizeAddress(["client_id": client, "redirect_uri": uri]))
            #expect(page.header("Content-Security-Policy")?.contains("form-action 'self' \(target);") == true)
        }
    }

    @Test(
        "A browser caches the assets of pages under addresses that change with their content",
        arguments: ["app.css", "app.js", "app.svg"])
    func cachesAssetsByContent(name: String) async throws {
        try await TestServer.run { server in
            let page = try await PageBrowser(server).get(Self.xui)
            let address = try #require(page.text.captures("\"(/am/XUI/\(name)\\?v=[^\"]+)\"").first?[0])
            let asset = try await server.send(.get, address, headers: [:])
            #expect(asset.status == 200 && !asset.text.isEmpty)
            #expect(asset.header("Cache-Control") == "public, max-age=31536000, immutable")
            #expect(asset.header("X-Content-Type-Options") == "nosniff")
        }
    }
}

extension TestServer {
    /// The address of an authorization request with `changes` to its parameters.
    func authorizeAddress(_ changes: [String: String?] = [:]) async throws -> String {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": "app", "scope": "openid profile", "redirect_uri": Self.redirectURI,
            "state": "st/&te", "code_challenge": ProofKey.challenge(for: Self.verifier), "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { $1 }
        return "\(Self.oauth)/authorize?\(Self.form(parameters))"
    }
}
