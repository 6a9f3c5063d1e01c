import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Account recovery in a browser", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserRecoveryTests {
    @Test("A recovery code from the page replaces the device once", arguments: [true, false])
    func recoveryCodeReplacesDeviceOnce(scripts: Bool) async throws {
        try await PageServer.run { server, page in
            try await page.setScripts(scripts)
            try await page.open(server.login("RecoveryRegistration"))
            try await page.signIn()
            try await page.waitForHeading("Add your device")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("Your recovery codes")
            let codes = try await page.evaluate("[...document.querySelectorAll('.codes code')].map(e => e.textContent)")
            let shown = (codes.array ?? []).compactMap(\.string)
            #expect(Set(shown).count == 10)
            let times = try await page.evaluate("document.body.innerText.split('\(shown.first ?? "")').length - 1")
            #expect(times == .integer(1), "each code is shown once")
            if scripts { try await page.look("recovery-codes") }
            try await page.click("[type=checkbox]")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("You are signed in")

            for isGood in [true, false] {
                try await page.open(server.login("RecoveryLogin", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Enter your code")
                if scripts, isGood { try await page.look("code-or-recovery") }
                // A user without the device skips the page that asks for the code on the device.
                try await page.click("button[value='1']")
                try await page.waitForHeading("Use a recovery code")
                if scripts, isGood { try await page.look("recovery-code") }
                #expect(
                    try await page.evaluate("document.querySelector('[name=IDToken1]').inputMode") == "", "codes have letters")
                try await page.fill("[name=IDToken1]", try #require(shown.first))
                try await page.press("Enter")
                try await page.waitForHeading(isGood ? "You are signed in" : "Not signed in")
            }
        }
    }

    @Test("The link in an email and the answer to a question set a new password in place of a forgotten one")
    func resetsPasswordByEmailAndQuestion() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("ForgottenPassword", "&goto=\(server.authorize().percentEncoded())"))
            try await page.wait(for: "document.querySelector('[autocomplete=username]')")
            try await page.fill("[autocomplete=username]", "demo")
            try await page.press("Enter")
            try await page.waitForHeading("Look in your mail")
            try await page.open(try #require(server.devServer.emailLinks(to: "demo").last))
            try await page.waitForHeading("Go on signing in")
            try await page.look("email-followed")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("Answer your question")
            try await page.fill("[type=password]", "Argo")
            try await page.press("Enter")
            try await page.waitForHeading("Choose a new password")
            try await page.look("new-password")
            try await page.fill("[autocomplete=new-password]", "short")
            try await page.press("Enter")
            try await page.wait(for: "document.querySelector('[role=alert]')")
            try await page.look("new-password-refused")
            try await page.fill("[autocomplete=new-password]", "Another-1")
            try await page.press("Enter")
            try await page.waitForHeading("The app")

            try await page.open(server.login(nil, "&ForceAuth=true"))
            try await page.signIn()
            try await page.waitForHeading("Not signed in")
            try await page.click("a.button")
            try await page.signIn(password: "Another-1")
            try await page.waitForHeading("You are signed in")
        }
    }

    @Test(
        "A registered user sets a new password with the link in an email and the user's own question", arguments: [true, false])
    func resetsPasswordByOwnQuestion(scripts: Bool) async throws {
        try await PageServer.run { server, page in
            try await page.setScripts(scripts)
            try await page.open(server.login("Registration"))
            try await page.waitForHeading("Sign Up")
            let answers = [
                "1": "newcomer", "2": "Secret12", "3": "New", "4": "new@example.test", "5question": "Which ship?",
                "5answer": "Argo",
            ]
            for (name, text) in answers { try await page.fill("#IDToken\(name)", text) }
            try await page.click("[type=checkbox]")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("You are signed in")

            try await page.open(server.login("ForgottenPassword", "&ForceAuth=true"))
            try await page.wait(for: "document.querySelector('[autocomplete=username]')")
            try await page.fill("[autocomplete=username]", "newcomer")
            try await page.press("Enter")
            try await page.waitForHeading("Look in your mail")
            try await page.open(try #require(server.devServer.emailLinks(to: "newcomer").last))
            try await page.waitForHeading("Go on signing in")
            try await page.click("button[type=submit]")
            for answer in ["Beagle", " argo "] {
                try await page.waitForHeading("Answer your question")
                try await page.wait(for: "document.querySelector('[type=password]')?.value === ''")
                let asked = try await page.evaluate("document.querySelector('[type=password]').labels[0].textContent")
                #expect(asked == "Which ship?")
                if scripts { try await page.look("question") }
                let number = try await page.journeyPage()
                try await page.fill("[type=password]", answer)
                try await page.press("Enter")
                _ = try await page.journeyPage(after: number)
            }
            try await page.waitForHeading("Choose a new password")
            try await page.fill("[autocomplete=new-password]", "Another-1")
            try await page.press("Enter")
            try await page.waitForHeading("You are signed in")
            #expect(try await page.text("dd") == "newcomer")
        }
    }
}
