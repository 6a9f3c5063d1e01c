import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Push logins answered by the command line", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserTerminalTests {
    @Test(
        "The command line registers by QR code, approves by number, denies, and is refused when late", arguments: [true, false])
    func commandLineAnswersPushLogins(scripts: Bool) async throws {
        try await Terminal.with { terminal in
            try await PageServer.run { server, page in
                try await page.setScripts(scripts)
                try await page.open(server.login("PushRegistration"))
                try await page.signIn()
                try await page.waitForHeading("Add your device")
                try await terminal.enroll(from: page)
                try await page.waitForHeading("You are signed in")

                try await page.open(server.login("PushNumberLogin", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Choose this number")
                let number = try await page.text(".number")
                let id = try await terminal.nextMessage()
                try await terminal.signet("push", "approve", id, "--number", number)
                try await page.waitForHeading("You are signed in")

                try await page.open(server.login("PushLogin", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Approve on your device")
                try await terminal.signet("push", "deny", try await terminal.nextMessage())
                try await page.waitForHeading("Not signed in")
                #expect(try await page.text("[role=alert]").contains("denied on your device"))

                try await page.click("a.button")
                try await page.signIn()
                try await page.waitForHeading("Approve on your device")
                let late = try await terminal.nextMessage()
                server.devServer.moveClock(by: .seconds(121))
                try await page.waitForHeading("Not signed in")
                #expect(try await terminal.status(of: "push", "approve", late) != 0)
                if scripts { try await page.look("expired") }
            }
        }
    }
}
