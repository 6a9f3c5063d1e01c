import SignetAuthenticator
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Administration console in a browser", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserConsoleTests {
    private func openConsole(_ server: PageServer, _ page: ChromiumPage, tab: String = "overview") async throws {
        try await page.open(try await server.devServer.consoleLink())
        try await page.waitForHeading("Console")
        try await choose(tab, page)
    }

    private func choose(_ tab: String, _ page: ChromiumPage) async throws {
        _ = try await page.evaluate("location.hash = '\(tab)'")
        try await page.wait(for: "document.querySelector('nav a[aria-current=page]')?.hash === '#\(tab)'")
        try await page.wait(for: "!document.querySelector('main').innerText.includes('Loading')")
    }

    /// Waits until the console's main part contains a text.
    private func waitForText(_ text: String, _ page: ChromiumPage) async throws {
        try await page.wait(for: "document.querySelector('main').innerText.includes(\(JSON.text(of: .string(text))))")
    }

    /// Confirms the question of the open dialog.
    private func confirm(_ page: ChromiumPage) async throws {
        try await page.click("dialog[open] button[value=yes]")
        try await page.wait(for: "!document.querySelector('dialog')")
    }

    @Test("Each tab of the console fits the screen, has named controls and enough contrast, and can be chosen with a key")
    func tabsAreAccessible() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("EmailLogin"))
            try await page.fill("[autocomplete=username]", "demo")
            try await page.press("Enter")
            try await page.waitForHeading("Look in your mail")
            try await page.open(server.login())
            try await page.signIn(password: "wrong")
            try await page.waitForHeading("Not signed in")
            try await page.open(server.login())
            try await page.signIn()
            try await page.waitForHeading("You are signed in")
            try server.devServer.faults.enable(FaultRule(.html, name: "portal", at: "keys"))
            try await openConsole(server, page)
            for (index, tab) in ConsolePage.tabs.map(\.key).enumerated() {
                try await page.press(String(index + 1))
                try await page.wait(for: "document.querySelector('nav a[aria-current=page]')?.hash === '#\(tab)'")
                try await page.wait(for: "document.querySelector('main h2') !== null")
                try await page.look("console-\(tab)")
            }
        }
    }

    @Test("The trace of a login shows its nodes and the reason, with the way through the graph of the journey")
    func showsTraceOfLogin() async throws {
        try await PageServer.run { server, page in
            try await openConsole(server, page, tab: "journeys")
            let other = try await server.browser.page()
            try await other.open(server.login())
            try await other.signIn(password: "wrong")
            try await other.waitForHeading("Not signed in")
            // The list is live.
            try await waitForText("Login: DataStoreDecisionNode: false", page)
            try await page.click("[data-focus='row 1']")
            try await waitForText("the password is wrong", page)
            let visited = try await page.evaluate(
                "[...document.querySelectorAll('.node.visited')].map(e => e.dataset.node).join()")
            #expect(visited == "page,password")
            #expect(try await page.evaluate("document.querySelectorAll('.end.failure.visited').length") == .integer(1))
            try await page.look("console-trace")
            try await page.press("Escape")
            try await page.wait(for: "document.querySelector('.detail').hidden")
        }
    }

    @Test("A browser ends a session and moves the clock in the console, after a confirmation")
    func managesSessionsAndClockInConsole() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login())
            try await page.signIn()
            try await page.waitForHeading("You are signed in")
            try await openConsole(server, page, tab: "sessions")
            try await page.click("[aria-label='End the session of demo']")
            try await page.look("console-dialog")
            try await page.click("dialog[open] button[value=no]")
            try await page.wait(for: "!document.querySelector('dialog')")
            try await page.click("[aria-label='End the session of demo']")
            try await confirm(page)
            try await waitForText("No session is open.", page)

            // A pending login times out when the clock is moved.
            let other = try await server.browser.page()
            try await other.open(server.login())
            try await other.waitForHeading("Sign In")
            try await choose("clock", page)
            _ = try await page.evaluate(
                "[...document.querySelectorAll('main button')].find(e => e.textContent === 'Forward 5 minutes').click()")
            try await waitForText("moved by +300 s", page)
            try await page.fill("[name=seconds]", "30")
            try await page.press("Enter")
            try await waitForText("moved by +330 s", page)
            try await other.signIn()
            try await other.waitForHeading("Time is up")
        }
    }

    @Test("A browser enables a fault in the console, sees it applied in the requests, and disables it")
    func enablesFaultInConsole() async throws {
        try await PageServer.run { server, page in
            try await openConsole(server, page, tab: "faults")
            try await page.wait(for: "document.querySelector('select[name=kind]')")
            _ = try await page.evaluate(
                """
                (() => {
                  const kind = document.querySelector('select[name=kind]')
                  kind.value = 'html'
                  kind.dispatchEvent(new Event('change'))
                })()
                """)
            _ = try await page.evaluate("document.querySelector('select[name=route]').value = 'pages'")
            try await page.fill("[name=times]", "50")
            try await page.click("form[aria-label='Enable a fault'] button[type=submit]")
            try await page.wait(for: "document.querySelector('[aria-label=\"Disable html-pages\"]')")
            let other = try await server.browser.page()
            try await other.open(server.login())
            try await other.waitForHeading("Sign in to the network")
            try await choose("requests", page)
            try await waitForText("html-pages", page)
            try await page.fill("input[type=search]", "nothing like this")
            try await waitForText("Nothing matches the filter.", page)
            try await choose("faults", page)
            try await page.click("[aria-label='Disable html-pages']")
            try await waitForText("No fault is enabled", page)
            try await other.open(server.login())
            try await other.waitForHeading("Sign In")
        }
    }

    @Test("A tester locks a user, sees it in the list, and signs the browser in as another one")
    func managesUsersInConsole() async throws {
        try await PageServer.run { server, page in
            try await openConsole(server, page, tab: "users")
            try await page.click("[data-focus='row / demo']")
            try await page.wait(for: "!document.querySelector('.detail').hidden")
            try await page.look("console-user")
            let click = { (label: String) in
                "[...document.querySelectorAll('.detail button')].find(e => e.textContent === '\(label)').click()"
            }
            _ = try await page.evaluate(click("Sign this browser in"))
            try await page.wait(for: "document.querySelector('#messages').innerText.includes('signed in as demo')")
            _ = try await page.evaluate(click("Lock"))
            try await confirm(page)
            try await page.wait(for: "document.querySelector('tbody').innerText.includes('locked')")
            _ = try await page.evaluate(click("Unlock"))
            try await page.wait(for: "!document.querySelector('tbody').innerText.includes('locked')")
            try await page.open("\(server.url)/XUI/session")
            try await page.waitForHeading("You are signed in")
        }
    }

    @Test("The console shows an email in a frame and follows its link")
    func showsEmailInConsole() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.login("EmailLogin"))
            try await page.fill("[autocomplete=username]", "demo")
            try await page.press("Enter")
            try await page.waitForHeading("Look in your mail")
            try await openConsole(server, page, tab: "emails")
            try await page.click("tbody button")
            try await page.wait(for: "document.querySelector('iframe')")
            try await page.look("console-email")
            let link = try #require(try await page.evaluate("document.querySelector('a[href*=suspendedId]').href").string)
            try await page.open(link)
            try await page.waitForHeading("Go on signing in")
        }
    }
}
