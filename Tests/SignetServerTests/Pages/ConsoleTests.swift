import Foundation
import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("The console")
struct ConsoleTests {
    /// A browser that came with the link.
    private func open(_ desk: TestDesk) async throws -> (PageBrowser, Reply) {
        let browser = PageBrowser(desk)
        let link = desk.server.consoleLink().replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
        let page = try await browser.get(link)
        #expect(page.status == 200 && page.heading == "Console")
        return (browser, page)
    }

    @Test("A link opens it once; without one it stays closed")
    func link() async throws {
        try await TestDesk.run { desk in
            #expect(try await PageBrowser(desk).get("/am/console").status == 403)
            #expect(try await PageBrowser(desk).get("/am/console/open?token=x").status == 403)
            let link = desk.server.consoleLink().replacingOccurrences(of: "http://127.0.0.1:8080", with: "")
            let opened = try await PageBrowser(desk).send(.get, link)
            #expect(opened.status == 303)
            #expect(opened.cookies.contains { $0.contains("Path=/am/console; HttpOnly; SameSite=Strict") })
            #expect(try await PageBrowser(desk).get(link).status == 403)
        }
    }

    @Test("It shows users, devices, sessions, messages and requests, and no secret")
    func shows() async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            let session = try await desk.session(name: "noa", password: "staple")
            let (_, push) = try await desk.waitingLogin("PushNumberLogin", phone: phone)
            _ = try await desk.send(.post, "/am/json/sessions/\(session)?_action=validate")
            _ = try await desk.send(.post, "/am/json/s%65ssions/\(session)?_action=validate")
            let (_, page) = try await open(desk)
            for text in [
                "noa", "push: Test phone", "<td>\(try #require(push.number))</td>", "/am/json/sessions/...", "Everything",
            ] {
                #expect(page.text.contains(text), "\(text)")
            }
            let phoneSecret = String(decoding: phone.secret.bytes, as: UTF8.self)
            for secret in [session, TestDesk.password, phoneSecret, push.sealed, "_action"] {
                #expect(!page.text.contains(secret))
            }
        }
    }

    @Test("It moves the clock of everything, and back")
    func clock() async throws {
        try await TestDesk.run { desk in
            let (browser, page) = try await open(desk)
            let session = try await desk.session()
            _ = try await browser.post("/am/console/clock", page.hiddenFields.merging(["seconds": "7201"]) { $1 })
            let valid = "/am/json/sessions?_action=validate&tokenId=\(session)"
            #expect(try await desk.send(.post, valid).json["valid"] == .bool(false))
            #expect(desk.server.desk.clock.now.timeIntervalSince(desk.clock.now) == 7201)
            let again = try await browser.post("/am/console/clock/reset", page.hiddenFields)
            #expect(again.text.contains("the machine&#39;s"))
            #expect(desk.server.desk.clock.now == desk.clock.now)
            for seconds in ["x", "1e99", "nan", "inf", ""] {
                let reply = try await browser.post("/am/console/clock", page.hiddenFields.merging(["seconds": seconds]) { $1 })
                #expect(reply.status == 400)
            }
            #expect(desk.server.desk.clock.now == desk.clock.now)
        }
    }

    @Test("It ends a session")
    func session() async throws {
        try await TestDesk.run { desk in
            let session = try await desk.session()
            let (browser, page) = try await open(desk)
            let key = BearerKey(session).text
            #expect(page.text.contains(key))
            _ = try await browser.post("/am/console/session", page.hiddenFields.merging(["key": key]) { $1 })
            let valid = try await desk.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)")
            #expect(valid.json["valid"] == .bool(false))
        }
    }

    @Test("A form of another browser is refused", arguments: ["clock", "clock/reset", "session", "link"])
    func foreignForm(path: String) async throws {
        try await TestDesk.run { desk in
            let (browser, _) = try await open(desk)
            let (_, other) = try await open(desk)
            let fields = other.hiddenFields.merging(["seconds": "60"]) { $1 }
            #expect(try await browser.post("/am/console/\(path)", fields).status == 403)
            #expect(try await browser.post("/am/console/\(path)", ["seconds": "60"]).status == 403)
            #expect(try await PageBrowser(desk).post("/am/console/\(path)", fields).status == 403)
            #expect(desk.server.desk.clock.offset == 0)
        }
    }

    @Test("The journal keeps the newest requests, and counts all")
    func journal() {
        let journal = Journal()
        for number in 1...2500 {
            journal.add(.get, "/am/\(number)", .ok, at: Date(timeIntervalSince1970: 0), took: .milliseconds(1))
        }
        #expect(journal.count == 2500)
        #expect(journal.entries.count == Journal.size)
        #expect(journal.entries.last?.path == "/am/2500" && journal.entries.last?.number == 2500)
        #expect(journal.entries.first?.number == 2001)
    }
}
