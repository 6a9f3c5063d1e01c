import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The page of a login that waits for a device")
struct PushWaitPageTests {
    private func waiting(_ server: TestServer) async throws -> (phone: Phone, browser: PageBrowser, page: Reply) {
        let phone = try await server.registeredPhone()
        let browser = PageBrowser(server)
        let page = try await browser.signIn(
            try await browser.get("/am/XUI/?realm=/&authIndexType=service&authIndexValue=PushLogin"))
        return (phone, browser, page)
    }

    @Test("The page names the user, shows the time that is left, and offers to send the message again and to cancel")
    func showsTimeLeft() async throws {
        try await TestServer.run { server in
            let (_, browser, page) = try await waiting(server)
            #expect(page.heading == "Approve on your device" && page.text.contains("Approve the sign-in of mira"))
            #expect(page.text.contains("data-left=\"120\"") && page.text.contains(">2:00<"))
            #expect(page.text.contains("name=\"resend\""))
            let cancel = try #require(
                page.text.captures("<a href=\"([^\"]*)\" class=\"button plain\">Cancel</a>").first?[0].unescaped)
            #expect(try await browser.get(cancel).heading == "Sign In")
        }
    }

    @Test("A message that is sent again is a new event of the same message, at most three times, and the page stays")
    func sendsAgain() async throws {
        try await TestServer.run { server in
            let (phone, browser, page) = try await waiting(server)
            let first = try #require(try await server.inbox(phone.uid).last)
            var shown = page
            for number in 1...4 {
                shown = try await browser.submit(shown, ["resend": "true"])
                #expect(shown.heading == page.heading)
                let push = try #require(try await server.inbox(phone.uid).last)
                #expect(push.messageID == first.messageID)
                #expect((push.eventID > first.eventID) && push.resends == min(number, 3))
            }
            #expect(!shown.text.contains("name=\"resend\""))
            #expect(try await server.inbox(phone.uid).count == 1)
            let push = try #require(try await server.inbox(phone.uid).last)
            #expect(try await phone.answer(push, at: server).status == 200)
            server.clock.advance(by: 1)
            #expect(try await browser.get(try #require(page.formAction)).heading == "You are signed in")
        }
    }

    @Test("A denied message and one without an answer have pages of their own", arguments: [true, false])
    func tellsDeniedFromExpired(isDenied: Bool) async throws {
        try await TestServer.run { server in
            let (phone, browser, page) = try await waiting(server)
            if isDenied {
                let push = try #require(try await server.inbox(phone.uid).last)
                #expect(try await phone.answer(push, ["deny": .bool(true)], at: server).status == 200)
                server.clock.advance(by: 1)
            } else {
                server.clock.advance(by: 121)
            }
            let end = try await browser.get(try #require(page.formAction))
            #expect(end.heading == "Not signed in")
            #expect(end.text.contains(isDenied ? "was denied on your device" : "did not answer in time"))
        }
    }

    @Test("A tester approves or denies a message in the place of the device", arguments: [true, false])
    func answersForDevice(isApproved: Bool) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
            let path = "pushes/\(push.messageID.percentEncoded())/answer"
            let body = "{\"approve\": \(isApproved)}"
            #expect(try await server.admin(.post, path, body).json["state"]?.string == (isApproved ? "approved" : "denied"))
            #expect(try await server.admin(.post, path, body).status == 200)
            #expect(try await server.admin(.post, path, "{\"approve\": \(!isApproved)}").status == 409)
            let steps = server.devServer.requestLog.entries.compactMap(\.push).map(\.step)
            #expect(steps.suffix(2) == [isApproved ? .approved : .denied, .refused])
            #expect(try await server.poll(step).isLoggedIn == isApproved)
            #expect(try await server.admin(.post, "pushes/x/answer", body).status == 404)
            #expect(try await server.admin(.post, path, "{}").status == 400)
        }
    }

    @Test("A tester cannot answer a message that has expired")
    func refusesExpiredMessage() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            server.clock.advance(by: 121)
            let path = "pushes/\(push.messageID.percentEncoded())/answer"
            #expect(try await server.admin(.post, path, "{\"approve\": true}").status == 409)
        }
    }
}
