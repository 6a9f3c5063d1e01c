import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Login pages in a browser", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserLoginTests {
    @Test("An app sends the browser to authorize, the user signs in, and the app gets a code")
    func signsInForApp() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.authorize())
            try await page.waitForHeading("Sign In")
            try await page.look("login")
            let focused = try await page.value(of: "document.activeElement?.labels?.[0]?.textContent")
            #expect(focused == "User Name")
            #expect(try await page.text(".purpose") == "To go on to app")
            try await page.signIn()
            try await page.waitForHeading("The app")
            let line = try await page.text("p")
            #expect(line.contains("GET /callback?code=") && line.contains("state=s1") && line.contains("iss="))
            // The session is valid for the next request.
            try await page.open(server.authorize())
            try await page.waitForHeading("The app")
        }
    }

    @Test("A browser posts the code to an app with response_mode=form_post, with scripts and without", arguments: [true, false])
    func postsCodeToApp(scripts: Bool) async throws {
        try await PageServer.run { server, page in
            try await page.setScripts(scripts)
            try await page.open(server.authorize() + "&response_mode=form_post")
            try await page.signIn()
            if !scripts {
                try await page.waitForHeading("Back to app")
                try await page.listen("form-post")
                try await page.click("button[type=submit]")
            }
            try await page.waitForHeading("The app")
            #expect(try await page.text("p").contains("POST /callback HTTP/1.1"))
        }
    }

    @Test("The page reports a wrong password, and another attempt still leads to the app")
    func retriesAfterWrongPassword() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.authorize())
            try await page.signIn(password: "guess")
            try await page.waitForHeading("Not signed in")
            #expect(try await page.value(of: "document.activeElement?.getAttribute('role')") == "alert")
            try await page.look("failed")
            try await page.click("a.button")
            try await page.signIn()
            try await page.waitForHeading("The app")
        }
    }

    @Test("A user can sign in and out with the keyboard alone")
    func signsInAndOutByKeyboard() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login())
            try await page.waitForHeading("Sign In")
            // The browser focuses the first field some time after it has loaded the page.
            try await page.wait(for: "document.activeElement?.labels?.length")
            try await page.call("Input.insertText", ["text": "demo"])
            try await page.press("Tab")
            try await page.call("Input.insertText", ["text": .string(PageServer.password)])
            try await page.press("Enter")
            try await page.waitForHeading("You are signed in")
            #expect(try await page.text("dd") == "demo")
            try await page.look("session")
            for _ in 0..<10 where try await page.evaluate("document.activeElement.tagName") != "BUTTON" {
                try await page.press("Tab")
            }
            try await page.press("Enter")
            try await page.waitForHeading("You have signed out")
            let authorize = server.authorize()
            try await page.open(authorize)
            try await page.waitForHeading("Sign In")
        }
    }

    @Test("A user denies or saves the consent that a client requires")
    func deniesAndSavesConsent() async throws {
        try await PageServer.run { server, page in
            for saves in [false, true] {
                try await page.open(server.authorize(client: "asking"))
                if !saves { try await page.signIn() }
                try await page.waitForHeading("Allow asking?")
                if !saves { try await page.look("consent") }
                if saves { try await page.click("[name=save_consent]") }
                try await page.click("button[value=\(saves ? "allow" : "deny")]")
                try await page.waitForHeading("The app")
                #expect(try await page.text("p").contains(saves ? "code=" : "error=access_denied"))
            }
            try await page.open(server.authorize(client: "asking"))
            try await page.waitForHeading("The app")
        }
    }

    @Test("A page sent after the journey timeout reports it, and the user can start again")
    func restartsTimedOutJourney() async throws {
        try await PageServer.run(clock: ManualClock(Date(timeIntervalSince1970: 1_735_689_600))) { server, page in
            try await page.open(server.authorize())
            try await page.waitForHeading("Sign In")
            server.clock?.advance(by: 301)
            try await page.signIn()
            try await page.waitForHeading("Time is up")
            try await page.look("timeout")
            try await page.click("a.button")
            try await page.signIn()
            try await page.waitForHeading("The app")
        }
    }

    @Test("Going back shows the current page of the journey, and a form sent twice counts once")
    func backShowsCurrentPage() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("ChoiceCallback"))
            try await page.waitForHeading("Sign In")
            try await page.fill("[autocomplete=username]", "demo")
            try await page.fill("[type=password]", PageServer.password)
            // This bypasses the script that keeps a form from being sent twice.
            _ = try await page.evaluate("(f => { f.submit(); f.submit(); return 1 })(document.forms[0])")
            try await page.wait(for: "document.querySelector('[type=radio]')")
            try await page.look("choice")
            try await page.click("[type=radio][value='2']")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("You are signed in")
            _ = try await page.evaluate("history.back()")
            try await page.waitForHeading("You are signed in")
        }
    }

    @Test("The page points the user to an email whose link continues the login in the same browser")
    func continuesByEmailLink() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("EmailLogin", "&goto=\(server.authorize().percentEncoded())"))
            try await page.wait(for: "document.querySelector('[autocomplete=username]')")
            try await page.fill("[autocomplete=username]", "demo")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("Look in your mail")
            try await page.look("email")
            let link = try #require(try await server.devServer.emailLinks(to: "demo").last)
            // A program that follows links does not use the link up.
            for _ in 0..<2 {
                try await page.open(link)
                try await page.waitForHeading("Go on signing in")
            }
            try await page.click("button[type=submit]")
            try await page.waitForHeading("The app")
        }
    }

    @Test("A user name that is markup is shown as text on every page")
    func showsMarkupAsText() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login())
            try await page.signIn(name: "<script>alert(1)</script>")
            try await page.waitForHeading("You are signed in")
            #expect(try await page.text("dd") == "<script>alert(1)</script>")
            #expect(try await page.evaluate("document.scripts.length") == .integer(1))
        }
    }
}
