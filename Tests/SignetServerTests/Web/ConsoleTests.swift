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

    @Test("The console shows users, devices, sessions, messages and requests without any secret")
    func consoleOmitsSecrets() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let session = try await server.session(name: "noa", password: "staple")
            let (_, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
            _ = try await server.send(.post, "/am/json/sessions/\(session)?_action=validate")
            _ = try await server.send(.post, "/am/json/s%65ssions/\(session)?_action=validate")
            let (_, page) = try await open(server)
            for text in [
                "noa", "push: Test phone", "<td>\(try #require(push.number))</td>", "/am/json/sessions/...", "Everything",
            ] {
                #expect(page.text.contains(text), "\(text)")
            }
            let phoneSecret = String(decoding: phone.secret.bytes, as: UTF8.self)
            for secret in [session, TestServer.password, phoneSecret, push.sealed, "_action"] {
                #expect(!page.text.contains(secret))
            }
        }
    }

    @Test("The console moves the clock of the server forward and back")
    func consoleMovesClock() async throws {
        try await TestServer.run { server in
            let (browser, page) = try await open(server)
            let session = try await server.session()
            _ = try await browser.post("/am/console/clock", page.hiddenFields.merging(["seconds": "7201"]) { $1 })
            let valid = "/am/json/sessions?_action=validate&tokenId=\(session)"
            #expect(try await server.send(.post, valid).json["valid"] == .bool(false))
            #expect(server.devServer.context.clock.now.timeIntervalSince(server.clock.now) == 7201)
            let again = try await browser.post("/am/console/clock/reset", page.hiddenFields)
            #expect(again.text.contains("the machine&#39;s"))
            #expect(server.devServer.context.clock.now == server.clock.now)
            for seconds in ["x", "1e99", "nan", "inf", ""] {
                let reply = try await browser.post("/am/console/clock", page.hiddenFields.merging(["seconds": seconds]) { $1 })
                #expect(reply.status == 400)
            }
            #expect(server.devServer.context.clock.now == server.clock.now)
        }
    }

    @Test("A table is shown in pages with its total, and a page number above the last shows the last page")
    func pagesTables() async throws {
        let configuration = ServerConfiguration.sample { configuration in
            configuration.users += (1...117).map { User(name: "person-\($0 + 1000)", password: Secret("x".utf8)) }
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session()
            let (browser, first) = try await open(server)
            func names(_ page: Reply) -> [String] { page.text.captures("<td>(person-[0-9]+)</td>").map { $0[0] } }
            func address(_ page: Reply, _ label: String) throws -> String {
                try #require(page.text.captures("<a href=\"([^\"]*)\" aria-label=\"\(label): Users\"").first?[0].unescaped)
            }
            // The sample configuration has three users.
            #expect(first.text.contains("1 to 50 of 120") && !first.text.contains("Back: Users"))
            let second = try await browser.get(try address(first, "More"))
            #expect(second.text.contains("51 to 100 of 120"))
            let third = try await browser.get(try address(second, "More"))
            #expect(third.text.contains("101 to 120 of 120") && !third.text.contains("More: Users"))
            let seen = names(first) + names(second) + names(third)
            #expect(Set(seen).count == 117 && seen.count == 117)
            #expect(names(try await browser.get("/am/console?users=99")) == names(third))
            #expect(names(try await browser.get(try address(third, "Back"))) == names(second))
            for odd in ["0", "-3", "x", "9223372036854775807"] {
                #expect(try await browser.get("/am/console?users=\(odd)").status == 200)
            }
            // An action on a page leads back to that page.
            let action = try #require(third.text.captures("action=\"([^\"]*/session[^\"]*)\"").first?[0].unescaped)
            #expect(action == "/am/console/session?users=3")
            let key = TokenHash(session).text
            let after = try await browser.post(action, third.hiddenFields.merging(["key": key]) { $1 })
            #expect(names(after) == names(third) && !after.text.contains(key))
        }
    }

    @Test("The console counts messages and log entries beyond those that a page shows")
    func countsBeyondPage() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            for _ in 0..<60 { _ = try await server.waitingLogin(phone: phone) }
            for number in 0..<60 { _ = try await server.send(.get, "/am/nothing/\(number)") }
            let (browser, page) = try await open(server)
            #expect(page.text.contains("1 to 50 of 60"))
            let entries = server.devServer.context.requestLog.entries.count
            #expect(page.text.contains("1 to 50 of \(entries)") && page.text.contains("/am/nothing/59"))
            let older = try await browser.get("/am/console?pushes=2&requestLog=2")
            #expect(older.text.contains("51 to 60 of 60") && older.text.contains("51 to 100 of \(entries)"))
            #expect(!older.text.contains("/am/nothing/59") && older.text.contains("/am/nothing/9<"))
        }
    }

    @Test("The console does not link to a journey that only other journeys use")
    func omitsInnerJourneyLinks() async throws {
        try await TestServer.run { server in
            let (_, page) = try await open(server)
            #expect(page.text.contains("authIndexValue=PushLogin&") || page.text.contains("authIndexValue=PushLogin&amp;"))
            #expect(!page.text.contains("authIndexValue=PushAnswer"))
        }
    }

    @Test("The console lists the journeys of each realm with links to that realm")
    func listsJourneysOfRealms() async throws {
        let journeys = """
            Members:
              realms: [/alpha]
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: success}}
            """
        try await TestServer.run(try .sample(journeys: journeys)) { server in
            let (browser, page) = try await open(server)
            let links = page.text.captures("<a href=\"([^\"]*authIndexValue=[^\"]*)\">").compactMap { $0[0].unescaped }
            let memberLinks = links.filter { $0.contains("Members") }
            #expect(links.count == 3 && memberLinks.count == 1)
            let members = try #require(memberLinks.first)
            let asked = try await browser.get(members)
            #expect(asked.status == 200 && asked.text.contains("IDToken1"))
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

    @Test("The console ends a session")
    func consoleEndsSession() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let (browser, page) = try await open(server)
            let key = TokenHash(session).text
            #expect(page.text.contains(key))
            _ = try await browser.post("/am/console/session", page.hiddenFields.merging(["key": key]) { $1 })
            let valid = try await server.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)")
            #expect(valid.json["valid"] == .bool(false))
        }
    }

    @Test("The console refuses a form of another browser", arguments: ["clock", "clock/reset", "session", "link"])
    func consoleRejectsForeignForm(path: String) async throws {
        try await TestServer.run { server in
            let (browser, _) = try await open(server)
            let (_, other) = try await open(server)
            let fields = other.hiddenFields.merging(["seconds": "60"]) { $1 }
            #expect(try await browser.post("/am/console/\(path)", fields).status == 403)
            #expect(try await browser.post("/am/console/\(path)", ["seconds": "60"]).status == 403)
            #expect(try await PageBrowser(server).post("/am/console/\(path)", fields).status == 403)
            #expect(server.devServer.context.clock.offset == 0)
        }
    }

    @Test("The console enables and disables faults and reports the errors of an invalid fault")
    func consoleEnablesFaults() async throws {
        try await TestServer.run { server in
            let (browser, page) = try await open(server)
            let fault = ["kind": "status", "route": "accessToken", "times": "1", "value": "500"]
            let shown = try await browser.post("/am/console/fault", page.hiddenFields.merging(fault) { $1 })
            #expect(shown.text.contains("<td>accessToken</td>") && shown.text.contains("<td>status 500</td>"))
            #expect(try await server.exchange("x").status == 500)
            #expect(try await server.exchange("x").status == 400)
            try server.devServer.faults.enable(FaultRule(.html, name: "portal"))
            let requestLog = try await browser.get("/am/console")
            #expect(requestLog.text.contains("portal"))
            _ = try await browser.post("/am/console/fault/disable", page.hiddenFields.merging(["name": "portal"]) { $1 })
            #expect(server.devServer.faults.entries.isEmpty)
            for bad in [
                ["kind": "x"], ["kind": "status", "value": "200"], ["kind": "status", "times": "x"],
                ["kind": "html", "route": "x"], ["kind": "wrong-state", "value": "5"], ["kind": "html", "value": "5"],
            ] {
                let fields = page.hiddenFields.merging(bad) { $1 }
                #expect(try await browser.post("/am/console/fault", fields).status == 400)
            }
        }
    }

    @Test("The console shows the value of a fault")
    func consoleShowsFaultValue() async throws {
        try await TestServer.run { server in
            for (number, kind) in [FaultKind.latency(.milliseconds(50)), .cut(after: 7), .cut(), .wrongState].enumerated() {
                try server.devServer.faults.enable(FaultRule(kind, name: "f\(number)", at: number == 3 ? "authorize" : ""))
            }
            let (_, page) = try await open(server)
            for text in ["latency, 50\u{A0}ms", "cut after 7 bytes", "cut", "wrong-state"] {
                #expect(page.text.contains("<td>\(text)</td>"), "\(text)")
            }
        }
    }

    @Test("A second fault of one kind gets its own name, and both are active")
    func consoleNamesSecondFault() async throws {
        try await TestServer.run { server in
            let (browser, page) = try await open(server)
            let routes = ["accessToken", "authenticate", "authenticate", "", "", "/json/authenticate"]
            for route in routes {
                let fault = ["kind": "status", "route": route, "value": "500"]
                _ = try await browser.post("/am/console/fault", page.hiddenFields.merging(fault) { $1 })
            }
            let rules = server.devServer.faults.entries.map(\.rule)
            #expect(rules.map(\.route.text) == routes)
            #expect(
                rules.map(\.name)
                    == ["status", "status-authenticate", "status-authenticate-2", "status-2", "status-3", "status-4"])
        }
    }

    @Test("The console stops the clock and starts it again")
    func consoleStopsClock() async throws {
        try await TestServer.run { server in
            let (browser, page) = try await open(server)
            _ = try await browser.post("/am/console/clock/stop", page.hiddenFields)
            server.clock.advance(by: 60)
            #expect(server.devServer.clock.isStopped && server.devServer.clock.offset == -60)
            _ = try await browser.post("/am/console/clock/resume", page.hiddenFields)
            server.clock.advance(by: 60)
            #expect(!server.devServer.clock.isStopped && server.devServer.clock.offset == -60)
        }
    }

    @Test("The console shows whether a message is on the stream, queued for SNS, sent to SNS or not delivered")
    func consoleShowsDelivery() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            let (browser, page) = try await open(server)
            #expect(page.text.contains("<th scope=\"col\">Delivery</th>") && page.text.contains("<td>stream</td>"))
            let deliveries: [(state: PushDispatch.State, text: String)] = [
                (.waiting, "queued for SNS"), (.sent("sns-1"), "sent to SNS"), (.failed("gone"), "not delivered: gone"),
            ]
            for delivery in deliveries {
                try await server.devServer.context.store.write { tx in
                    var dispatch = PushDispatch(push, text: "Hello", endpoint: "endpoint", token: "token", until: push.deadline)
                    dispatch.state = delivery.state
                    tx.dispatches.store(dispatch)
                }
                let changed = try await browser.get("/am/console")
                #expect(changed.text.contains("<td>\(delivery.text)</td>"), "\(delivery.text)")
            }
        }
    }

    @Test("The console shows the requests, the results of push messages and the applied faults")
    func consoleShowsLogEntries() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            try server.devServer.faults.enable(FaultRule(.html, name: "portal", at: "health"))
            _ = try await server.send(.get, "/am/health", headers: [:])
            let (_, page) = try await open(server)
            for text in ["push made", push.messageID, "<td>portal</td>", "/am/health"] {
                #expect(page.text.contains(text), "\(text)")
            }
        }
    }
}
