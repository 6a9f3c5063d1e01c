import SignetAuthenticator
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Administration console in a browser", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserConsoleTests {
    @Test("A browser opens the console by its link, ends a session in it and moves the clock")
    func managesSessionsAndClockInConsole() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("EmailLogin"))
            try await page.wait(for: "document.querySelector('[autocomplete=username]')")
            try await page.fill("[autocomplete=username]", "demo")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("Look in your mail")
            try await page.open(server.login())
            try await page.signIn()
            try await page.waitForHeading("You are signed in")

            try await page.open(try await server.devServer.consoleLink())
            try await page.waitForHeading("Console")
            try await page.look("console")
            try await page.click("[aria-label='End the session of demo']")
            try await page.wait(for: "!document.querySelector('[aria-label^=\"End the session\"]')")
            try await page.open("\(server.url)/XUI/session")
            try await page.waitForHeading("You are not signed in")

            // A pending login times out when the clock is moved.
            let other = try await server.browser.page()
            try await other.open(server.login())
            try await other.waitForHeading("Sign In")
            try await page.open("\(server.url)/console")
            try await page.click("button[value='300']")
            try await page.wait(for: "document.body.innerText.includes('moved by +300')")
            try await page.click("button[value='30']")
            try await page.wait(for: "document.body.innerText.includes('moved by +330')")
            try await other.signIn()
            try await other.waitForHeading("Time is up")

            // The link expires.
            try await page.click("button[value='3600']")
            try await page.wait(for: "document.body.innerText.includes('moved by +3930')")
            try await page.click("a[href*='suspendedId']")
            try await page.waitForHeading("Go on signing in")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("The link is invalid")
        }
    }

    @Test("A browser enables a fault in the console and sees it applied in the request log")
    func enablesFaultInConsole() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.devServer.consoleLink())
            try await page.waitForHeading("Console")
            _ = try await page.evaluate("document.querySelector('#fault-kind').value = 'html'")
            _ = try await page.evaluate("document.querySelector('#fault-route').value = 'pages'")
            try await page.fill("#fault-times", "2")
            try await page.click("form[action$='/console/fault'] button")
            try await page.wait(for: "document.querySelector('[aria-label=\"Disable html\"]')")
            try await page.look("console-fault")
            let other = try await server.browser.page()
            try await other.open(server.login())
            try await other.waitForHeading("Sign in to the network")
            try await page.open("\(server.url)/console")
            try await page.wait(for: "document.querySelector('section[aria-label=\"Request log\"]').innerText.includes('html')")
            try await page.click("[aria-label='Disable html']")
            try await page.wait(for: "document.querySelector('section[aria-label=Faults]').innerText.includes('None')")
            try await other.open(server.login())
            try await other.waitForHeading("Sign In")
        }
    }
}
