import Foundation
import HTTPTypes
import NIOCore
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Administration console")
struct ConsoleTests {
    /// A browser that opened the console with the link.
    private func open(_ server: TestServer) async throws -> (PageBrowser, Reply) {
        let browser = PageBrowser(server)
        let link = try await server.devServer.consoleLink().replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
        let page = try await browser.get(link)
        #expect(page.status == 200 && page.heading == "Console")
        return (browser, page)
    }

    @Test("A link opens the console once, and without a link the console stays closed")
    func linkOpensConsoleOnce() async throws {
        try await TestServer.run { server in
            #expect(try await PageBrowser(server).get("/am/console").status == 403)
            #expect(try await PageBrowser(server).get("/am/console/open?token=x").status == 403)
            let link = try await server.devServer.consoleLink().replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
            let opened = try await PageBrowser(server).send(.get, link)
            #expect(opened.status == 303)
            let hasStrictCookie = opened.cookies.contains { $0.contains("Path=/am/console; HttpOnly; SameSite=Strict") }
            #expect(hasStrictCookie)
            #expect(try await PageBrowser(server).get(link).status == 403)
        }
    }

    @Test("The console's cookie has the prefix __Host- when the link is https, and a cookie without it opens nothing")
    func prefixesCookieOverHTTPS() async throws {
        try await TestServer.run(.sample { $0.tls = .ownAuthority(directory: "d") }) { server in
            let link = try await server.devServer.consoleLink().replacingOccurrences(of: "https://127.0.0.1:8080", with: "")
            let browser = PageBrowser(server)
            let cookie = try #require(try await browser.send(.get, link).cookies.first)
            #expect(cookie.hasPrefix("__Host-signet-console="))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
            #expect(try await browser.get("/am/console").status == 200)
            let value = try #require(browser.cookies["__Host-signet-console"])
            let other = PageBrowser(server, cookies: ["signet-console": value])
            #expect(try await other.get("/am/console").status == 403)
        }
    }

    @Test(
        "The scheme of the console's link, and not that of the public address, decides about the prefix and Secure",
        arguments: [true, false])
    func linkDecidesAboutCookie(isSecure: Bool) async throws {
        let configuration = ServerConfiguration.sample {
            $0.tls = isSecure ? .ownAuthority(directory: "d") : nil
            $0.publicURL = "\(isSecure ? "http" : "https")://login.example.test/am"
        }
        try await TestServer.run(configuration) { server in
            let local = "\(isSecure ? "https" : "http")://127.0.0.1:8080"
            let link = try await server.devServer.consoleLink().replacingOccurrences(of: local, with: "")
            let browser = PageBrowser(server)
            let cookie = try #require(try await browser.send(.get, link).cookies.first)
            #expect(cookie.hasPrefix(isSecure ? "__Host-signet-console=" : "signet-console="))
            #expect(cookie.hasSuffix(isSecure ? "; Path=/; HttpOnly; SameSite=Strict; Secure" : "; SameSite=Strict"))
            #expect(try await browser.get("/am/console").status == 200)
        }
    }

    @Test("The console's page is static: it has the tabs, loads only files of this server, and contains no data")
    func pageIsStatic() async throws {
        try await TestServer.run { server in
            _ = try await server.session(name: "noa", password: "staple")
            let (_, page) = try await open(server)
            for title in [
                "Overview", "Journeys", "Users &amp; devices", "Sessions &amp; tokens", "Push", "Emails", "Requests", "Faults",
                "Clock",
            ] {
                #expect(page.text.contains(">\(title)</a>"), "\(title)")
            }
            #expect(!page.text.contains("noa"))
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && !policy.contains("unsafe"))
            for path in page.text.captures("(?:src|href)=\"(/am/[^\"#]*)\"").map({ $0[0].unescaped }) {
                let asset = try await server.send(.get, path, headers: [:])
                #expect(asset.status == 200 && !asset.text.isEmpty, "\(path)")
            }
        }
    }

    @Test("The modules that the console's script imports are files of the console")
    func modulesExist() async throws {
        try await TestServer.run { server in
            for name in PageAsset.ofConsole.map(\.rawValue) {
                let asset = try await server.send(.get, "/am/console/assets/\(name)", headers: [:])
                #expect(asset.status == 200, "\(name)")
                for module in asset.text.captures("from \"\\./([^\"]*)\"").map({ $0[0] }) {
                    #expect(PageAsset(rawValue: module) != nil, "\(module)")
                }
            }
            #expect(try await server.send(.get, "/am/XUI/console.js", headers: [:]).status == 404)
        }
    }

    @Test("The console's own requests and files are not in the request log")
    func omitsOwnRequests() async throws {
        try await TestServer.run { server in
            let (browser, page) = try await open(server)
            for path in page.text.captures("(?:src|href)=\"(/am/[^\"#]*)\"").map({ $0[0].unescaped }) {
                _ = try await server.send(.get, path, headers: [:])
            }
            _ = try await browser.console(.get, "sessions")
            _ = try await browser.console(.get, "users/nobody")
            #expect(server.devServer.requestLog.entries.isEmpty)
        }
    }

    @Test("The console's requests show users, devices, sessions, messages and requests without any secret")
    func consoleOmitsSecrets() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let session = try await server.session(name: "noa", password: "staple")
            let (_, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
            _ = try await server.send(.post, "/am/json/sessions/\(session)?_action=validate")
            _ = try await server.send(.post, "/am/json/s%65ssions/\(session)?_action=validate")
            let (browser, _) = try await open(server)
            var text = ""
            for resource in [
                "", "users", "sessions", "tokens", "pushes", "emails", "request-log", "logins", "logins/1", "journeys",
            ] {
                let reply = try await browser.console(.get, resource)
                #expect(reply.status == 200, "\(resource)")
                text += reply.text
            }
            for shown in ["noa", "Test phone", "/am/json/sessions/...", "PushNumberLogin"] {
                #expect(text.contains(shown), "\(shown)")
            }
            let phoneSecret = String(decoding: phone.secret.bytes, as: UTF8.self)
            for secret in [session, TestServer.password, phoneSecret, push.sealed] { #expect(!text.contains(secret)) }
        }
    }

    @Test("An answer that has not changed since the last request has no body")
    func answersNotModified() async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            let first = try await browser.console(.get, "users")
            let tag = try #require(first.header("ETag"))
            let again = try await browser.console(.get, "users", more: ["If-None-Match": tag])
            #expect(again.status == 304 && again.text.isEmpty)
            _ = try await browser.console(.post, "users", #"{"name": "kim", "password": "p"}"#)
            let changed = try await browser.console(.get, "users", more: ["If-None-Match": tag])
            #expect(changed.status == 200 && changed.text.contains("kim"))
        }
    }

    @Test("The HTML of an email is a document without scripts that only the console may frame")
    func framesEmail() async throws {
        try await TestServer.run(.sample { $0.users[0].claims["email"] = "mira@example.test" }) { server in
            let step = try await server.start("EmailLogin").step
            var named = step
            named.fill("NameCallback", "mira")
            _ = try await server.next(named)
            let (browser, _) = try await open(server)
            let email = try #require(try await browser.console(.get, "emails").json["emails"]?.array?.first)
            let id = try #require(email["id"]?.string)
            let shown = try await browser.get("/am/console/email/\(id)")
            #expect(shown.status == 200 && shown.header("Content-Type") == "text/html; charset=UTF-8")
            let policy = try #require(shown.header("Content-Security-Policy"))
            #expect(
                policy.contains("default-src 'none'") && policy.contains("sandbox") && policy.contains("frame-ancestors 'self'"))
            #expect(try await browser.get("/am/console/email/x").status == 404)
            #expect(try await PageBrowser(server).get("/am/console/email/\(id)").status == 403)
        }
    }

    @Test(
        "A request with a proxy header does not count as local",
        arguments: ["X-Forwarded-For", "x-forwarded-host", "Forwarded", "Via", "X-Real-IP"])
    func proxiedRequestIsNotLocal(header: String) async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            let cookies = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            let link = try await server.devServer.consoleLink().replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
            for path in ["/am/console", link] {
                #expect(try await server.send(.get, path, headers: ["Cookie": cookies, header: "127.0.0.1"]).status == 404)
            }
            // The link was not used up.
            #expect(try await server.send(.get, link, headers: [:]).status == 303)
        }
    }

    @Test(
        "A client is local when its address is a loopback address of either address family",
        arguments: [
            ("127.0.0.1", true), ("127.8.9.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("::FFFF:127.0.0.1", true),
            ("::ffff:10.0.0.1", false), ("10.0.0.1", false), ("::", false), ("fe80::1", false), ("::127.0.0.1", false),
        ])
    func recognizesLoopbackAddress(address: String, isLocal: Bool) throws {
        #expect(ClientConnection.isLoopback(try SocketAddress(ipAddress: address, port: 1)) == isLocal)
    }

    @Test("A dual-stack socket recognizes a client of this machine as local")
    func dualStackSocketRecognizesLoopback() async throws {
        try await TestServer.run(.sample { ($0.host, $0.port) = ("::", 0) }) { server in
            try await server.serve { port in
                let link = try await server.devServer.consoleLink()
                let token = try #require(link.components(separatedBy: "token=").last)
                for (header, answer) in [("Via: 1.1 proxy\r\n", "HTTP/1.1 404"), ("", "HTTP/1.1 303")] {
                    let connection = try RawHTTPConnection(port: port)
                    connection.send("GET /am/console/open?token=\(token) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(header)\r\n")
                    let reply = await connection.read { $0.contains("\r\n\r\n") }
                    #expect(reply.hasPrefix(answer))
                    connection.vanish()
                }
            }
        }
    }

    @Test("The console ends a session, moves the clock and enables a fault over the administration API")
    func consoleChangesServer() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let (browser, _) = try await open(server)
            let key = TokenHash(session).text
            #expect(try await browser.console(.delete, "sessions/\(key)").status == 200)
            let valid = try await server.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)")
            #expect(valid.json["valid"] == .bool(false))
            #expect(try await browser.console(.post, "clock/advance", #"{"seconds": 60}"#).status == 200)
            #expect(server.devServer.clock.offset == 60)
            let fault = #"{"kind": "status", "route": "accessToken", "times": 1, "status": 500}"#
            #expect(try await browser.console(.post, "faults", fault).status == 201)
            #expect(try await server.exchange("x").status == 500)
            let bad = try await browser.console(.post, "faults", #"{"kind": "x"}"#)
            #expect(bad.status == 400 && bad.message?.isEmpty == false)
        }
    }

    @Test(
        "The console refuses a change without the value of its own page",
        arguments: ["admin/clock/advance", "admin/sessions", "admin/reset", "link"])
    func consoleRejectsForeignForm(path: String) async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            let (other, _) = try await open(server)
            let foreign = try await other.consoleValue()
            for value in [foreign, "x", nil] {
                let reply = try await browser.consoleRequest(.post, "/am/console/\(path)", #"{"seconds": 60}"#, value: value)
                #expect(reply.status == 403)
            }
            let own = try await browser.consoleValue()
            let reply = try await PageBrowser(server).consoleRequest(.post, "/am/console/\(path)", "{}", value: own)
            #expect(reply.status == 403)
            #expect(server.devServer.context.clock.offset == 0)
        }
    }

    @Test("The console's requests are refused for a page of another site, even with the cookie and the value")
    func consoleRejectsOtherSite() async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            for headers in [
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example"],
            ] {
                let reply = try await browser.console(.get, "users", more: headers)
                #expect([403, 404].contains(reply.status), "\(headers)")
            }
            #expect(try await browser.console(.get, "users", more: ["Sec-Fetch-Site": "same-origin"]).status == 200)
        }
    }

    @Test("The console makes a link for another browser, which works once")
    func makesLinkForOtherBrowser() async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            let made = try await browser.consoleRequest(
                .post, "/am/console/link", nil, value: try await browser.consoleValue())
            #expect(made.status == 201)
            let link = try #require(made.json["link"]?.string).replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
            #expect(try await PageBrowser(server).get(link).heading == "Console")
            #expect(try await PageBrowser(server).get(link).status == 403)
        }
    }

    @Test("The console needs no token of the administration API, which stays closed without one")
    func consoleNeedsNoAdminToken() async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            #expect(try await browser.console(.get, "users").status == 200)
            #expect(try await server.send(.get, "/am/admin/users", headers: [:]).status == 404)
            #expect(try await browser.console(.get, "snapshot").status == 404)
        }
    }
}

extension PageBrowser {
    /// Returns the value that the console's page gives its requests.
    func consoleValue() async throws -> String {
        let page = try await get("/am/console")
        return try #require(page.text.captures("<meta name=\"signet-console\" content=\"([^\"]*)\"").first?[0])
    }

    /// Sends a request of the console's scripts to the administration API.
    func console(
        _ method: HTTPRequest.Method, _ resource: String, _ body: String? = nil, more: [String: String] = [:]
    ) async throws -> Reply {
        let path = "/am/console/admin" + (resource.isEmpty ? "" : "/\(resource)")
        return try await consoleRequest(method, path, body, value: try await consoleValue(), more: more)
    }

    /// Sends a request with the cookies and with a value for changes.
    func consoleRequest(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?, value: String?, more: [String: String] = [:]
    ) async throws -> Reply {
        var headers = more
        headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if body != nil { headers["Content-Type"] = "application/json" }
        headers["Signet-Console"] = value
        return try await server.send(method, path, headers: headers, body: body)
    }
}
