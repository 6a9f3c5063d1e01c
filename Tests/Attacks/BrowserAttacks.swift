#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import TestSupport
import Testing

/// Attacks on a user's browser: planted cookies, requests of other sites, markup in names.
@Suite("Attacks: browsers", .timeLimit(.minutes(10)))
struct BrowserAttacks {
    /// The time at which the attacker asks for the session of the login that the victim completes with a planted cookie.
    enum CookieTime: CaseIterable {
        case betweenFormAndPage, afterLogin
    }

    @Test(
        "An attacker whose cookie the victim's browser has gets no session of the login that the victim completes",
        arguments: CookieTime.allCases)
    func plantsCookie(time: CookieTime) async throws {
        try await AttackedServer.with { server in
            var attacker = AttackedBrowser(server: server)
            let begun = try await attacker.send("GET", "/XUI/?realm=/")
            let flow = try attacker.formTarget(of: begun)
            // Another port of this host, a sibling domain or plain http can set the cookie; the victim opens the attacker's address.
            var victim = AttackedBrowser(server: server, cookies: attacker.cookies)
            let page = try await victim.open(flow)
            let sent = try await victim.submit(page, ["IDToken1": AttackedServer.victim, "IDToken2": AttackedServer.password])
            if time == .afterLogin { _ = try await victim.follow(sent) }
            for target in [flow, flow.replacing("/XUI/?", with: "/XUI/wait?"), flow] {
                _ = try await attacker.open(target)
                #expect(attacker.session == nil)
            }
            if time == .betweenFormAndPage { _ = try await victim.follow(sent) }
            #expect(victim.session != nil)
        }
    }

    @Test("A session of a login flow is handed out once")
    func asksTwiceForSession() async throws {
        try await AttackedServer.with { server in
            var browser = AttackedBrowser(server: server)
            let page = try await browser.open("/XUI/?realm=/")
            let sent = try await browser.submit(page, ["IDToken1": AttackedServer.victim, "IDToken2": AttackedServer.password])
            let flow = try browser.formTarget(of: page)
            _ = try await browser.follow(sent)
            #expect(browser.session != nil)
            browser.cookies["iPlanetDirectoryPro"] = nil
            _ = try await browser.open(flow)
            #expect(browser.session == nil)
        }
    }

    @Test("Every login at a page begins with a cookie of its own")
    func keepsBrowserCookie() async throws {
        try await AttackedServer.with { server in
            var browser = AttackedBrowser(server: server)
            _ = try await browser.send("GET", "/XUI/?realm=/")
            let first = browser.cookies
            _ = try await browser.send("GET", "/XUI/?realm=/")
            let values = browser.cookies.filter { $0.key.hasPrefix("signet-login-") }.map(\.value)
            #expect(first.keys.allSatisfy(browser.cookies.keys.contains))
            #expect(values.count == 2 && Set(values).count == 2)
        }
    }

    /// The headers by which a browser marks a request of another origin, without a preflight request.
    private static let foreign: [[(String, String)]] = [
        [("Origin", "https://evil.test")], [("Origin", "null")], [("Origin", "http://127.0.0.1:1")],
        [("Origin", "http://localhost")],
        [("Origin", "https://evil.test"), ("Sec-Fetch-Site", "cross-site")],
        [("Origin", "http://localhost:3000"), ("Sec-Fetch-Site", "same-site")],
        [("Origin", "https://evil.test"), ("Content-Type", "text/plain")],
    ]

    @Test("A page of another site can neither log a user out nor log a browser in, by a POST request without a preflight")
    func sendsCrossOriginRequest() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            for headers in Self.foreign {
                let cookie = [("Cookie", "iPlanetDirectoryPro=\(session)")]
                let logout = try await server.send(
                    "POST", "/json/realms/root/sessions?_action=logout",
                    cookie + headers + [("Accept-API-Version", "resource=2.1")])
                #expect((400..<500).contains(logout.status), "\(headers)")
                let login = try await server.send(
                    "POST", "\(AttackedServer.authenticate)?authIndexType=service&authIndexValue=Login", headers)
                #expect((400..<500).contains(login.status) && login.headers["Set-Cookie"] == nil, "\(headers)")
            }
            #expect(try await server.isValid(session: session))
            #expect(try await server.start("Login", [("Origin", "http://127.0.0.1:\(server.port)")]).step != nil)
        }
    }

    @Test("A configured origin, and a program that sends no Origin, still log in")
    func logsInFromConfiguredOrigin() async throws {
        try await AttackedServer.with(settings: #"{corsOrigins: ["http://localhost:3000"]}"#) { server in
            let program = try await server.signIn()
            #expect(program.session != nil)
            let page = try await server.start("Login", [("Origin", "http://localhost:3000"), ("Sec-Fetch-Site", "same-site")])
            #expect(page.step != nil)
            #expect(try await server.start("Login", [("Origin", "http://localhost:3001")]).status == 403)
        }
    }

    @Test("The session cookie is SameSite and HttpOnly, in answers to programs too")
    func leaksCookieToOtherSites() async throws {
        try await AttackedServer.with { server in
            let cookies = try await server.signIn().response.headers.all("Set-Cookie")
            let own = cookies.first { $0.hasPrefix("iPlanetDirectoryPro=") }
            let session = try #require(own)
            #expect(session.contains("SameSite=Lax") && session.contains("HttpOnly"))
        }
    }

    @Test("Markup in a request, a name or a claim is text on every page, and no page allows inline scripts")
    func injectsMarkup() async throws {
        let markup = #"<script>alert(1)</script>"><img src=x onerror=alert(1)>'"#
        try await AttackedServer.with { server in
            let name = #"eve <script>alert(1)"><img src=x onerror=alert(1)>'"#
            try await server.admin(
                "POST", "users", JSON.text(of: .object(["name": .string(name), "password": .string(AttackedServer.password)])))
            let encoded = FormCoding.encode([("x", markup)])
            var pages: [HTTPResponse] = []
            for target in [
                "/XUI/?realm=/&\(encoded)", "/XUI/?flow=\(encoded.dropFirst(2))", "/XUI/?realm=\(encoded.dropFirst(2))",
                "/XUI/?goto=\(encoded.dropFirst(2))", "/XUI/?service=\(encoded.dropFirst(2))",
                "/XUI/?suspendedId=\(encoded.dropFirst(2))",
                "/\(encoded.dropFirst(2))", "\(AttackedServer.oauth)/device/user?user_code=\(encoded.dropFirst(2))",
                "/console/\(encoded)",
                "\(AttackedServer.oauth)/authorize?client_id=\(encoded.dropFirst(2))&response_type=code",
            ] {
                var browser = AttackedBrowser(server: server)
                pages.append(try await browser.open(target))
            }
            var browser = AttackedBrowser(server: server)
            let page = try await browser.open("/XUI/?realm=/")
            pages.append(
                try await browser.follow(try await browser.submit(page, ["IDToken1": name, "IDToken2": AttackedServer.password])))
            for page in pages {
                #expect(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"), "\(page.text.prefix(400))")
                guard page.headers["Content-Type"]?.contains("html") == true else { continue }
                let policy = page.headers["Content-Security-Policy"] ?? ""
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "\(policy)")
                #expect(page.headers["Cross-Origin-Opener-Policy"] == "same-origin")
            }
        }
    }
}
#endif
