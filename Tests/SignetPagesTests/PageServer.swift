import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A development server on a free port, an app that waits for its redirect, and a browser.
struct PageServer: Sendable {
    let url: String
    let devServer: DevServer
    let browser: Chromium
    /// The address at which the app listens.
    let redirectURI: String
    /// The clock of the server; nil when the server uses the machine's clock.
    let clock: ManualClock?

    static let password = "changeit"

    /// A limit on simultaneous browsers, because each consists of half a dozen processes.
    private static let limiter = TaskLimiter(available: 2)

    /// Runs `body` with a page of a new browser.
    /// - Parameters:
    ///   - trees: The journeys in addition to those of the starter file.
    ///   - clock: The clock of the server; nil for the machine's clock.
    ///   - host: The host of the server's address in the browser.
    ///   - body: The code that uses the page.
    /// - Throws: The error that `body` throws, or an error when the server or the browser does not start.
    static func run(
        trees: [JourneyTree] = [], clock: ManualClock? = nil, host: String = "127.0.0.1",
        _ body: (PageServer, ChromiumPage) async throws -> Void
    ) async throws {
        await limiter.enter()
        do {
            try await runNow(trees, clock, host, body)
        } catch {
            await limiter.leave()
            throw error
        }
        await limiter.leave()
    }

    private static func runNow(
        _ trees: [JourneyTree], _ clock: ManualClock?, _ host: String, _ body: (PageServer, ChromiumPage) async throws -> Void
    ) async throws {
        let app = try RawServer { connection in
            guard let request = connection.request() else { return }
            connection.answer("200 OK", headers: ["Content-Type: text/html"], "<h1>The app</h1><p>\(request.line)</p>")
        }
        defer { app.stop() }
        let configuration = ServerConfiguration {
            $0.journeys = Journeys(Journeys.starter.trees + trees)
            $0.users = [
                User(name: "demo", password: Secret(password.utf8), claims: ["email": .string("demo@example.test")]),
                User(name: "<script>alert(1)</script>", password: Secret(password.utf8)),
            ]
            $0.users[0].securityAnswers = ["Which ship?": Secret("Argo".utf8)]
            $0.clients = [
                RegisteredClient(id: "app", redirectURIs: ["http://127.0.0.1/callback"]),
                RegisteredClient(id: "asking", redirectURIs: ["http://127.0.0.1/callback"]) { $0.requiresConsent = true },
            ]
            $0.pollInterval = .milliseconds(300)
        }
        try await TestServer.live(configuration, clock: clock ?? SystemWallClock()) { server in
            try await Chromium.with { browser in
                let pageServer = PageServer(
                    url: server.url.replacing("127.0.0.1", with: host), devServer: server.devServer, browser: browser,
                    redirectURI: "http://127.0.0.1:\(app.port)/callback", clock: clock)
                let page = try await browser.page()
                try await page.setSize(width: 900, height: 900)
                try await body(pageServer, page)
            }
        }
    }

    // MARK: Addresses

    func login(_ journey: String? = nil, _ more: String = "") -> String {
        let choice = journey.map { "&authIndexType=service&authIndexValue=\($0)" } ?? ""
        return "\(url)/XUI/?realm=/\(choice)\(more)"
    }

    func authorize(client: String = "app") -> String {
        let challenge = ProofKey.challenge(for: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        return "\(url)/oauth2/authorize?response_type=code&client_id=\(client)&scope=openid%20profile&state=s1"
            + "&redirect_uri=\(redirectURI.percentEncoded())&code_challenge=\(challenge)&code_challenge_method=S256"
    }

    // MARK: Server state

    /// Starts a device grant and returns the code for the user to allow.
    func userCode() async throws -> String {
        let challenge = ProofKey.challenge(for: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        return try await devServer.context.store.write { tx in
            guard let client = tx.clients[ClientKey(realm: .root, id: "app")] else { return "" }
            return try tx.deviceCodes.begin(client, scopes: ["openid"], challenge: challenge).1.userCode
        }
    }

    func registerPhone(_ authenticator: Authenticator, _ page: ChromiumPage) async throws -> Mechanism {
        try await page.open(login("PushRegistration"))
        try await page.signIn()
        try await page.waitForHeading("Add your device")
        let mechanism = try await authenticator.enroll(uri: try await page.registrationURI).mechanisms[0]
        try await page.waitForHeading("You are signed in")
        return mechanism
    }
}

extension ChromiumPage {
    /// The registration link as text, which the page keeps collapsed.
    var registrationURI: String {
        get async throws {
            let text = try await evaluate("document.getElementById('registration')?.textContent")
            return try #require(text.string)
        }
    }

    /// Fills in and sends the page with fields for name and password.
    func signIn(name: String = "demo", password: String = PageServer.password) async throws {
        try await waitForHeading("Sign In")
        try await fill("[autocomplete=username]", name)
        try await fill("[type=password]", password)
        try await click("button[type=submit]")
    }

    /// Waits until a page of a journey other than `page` has loaded, and returns its number, or nil at the end of the journey.
    func journeyPage(after page: String? = nil) async throws -> String? {
        let shown =
            "document.readyState === 'complete' && document.querySelector('h1') && (document.forms[0]?.dataset.page ?? 'end')"
        let next = try await value(of: "(page => page !== '\(page ?? "")' && page)(\(shown))").string
        return next == "end" ? nil : next
    }

    /// Checks the page wide and narrow, in light and dark mode: it fits into 320 pixels, every control has a name for screen
    /// readers, and all text has enough contrast.
    ///
    /// When `SIGNET_PICTURES` names a folder, a screenshot is written there for a reviewer to look at.
    func look(_ name: String) async throws {
        let folder = ProcessInfo.processInfo.environment["SIGNET_PICTURES"]
        for (width, isDark) in [(900, false), (320, true)] {
            try await setSize(width: width, height: 640)
            try await setDark(isDark)
            let wide = try await evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            #expect(wide == .integer(0), "\(name) is wider than a screen of \(width) pixels")
            let pale = try await evaluate(PageScript.paleTexts)
            #expect(pale == "", "\(name), \(isDark ? "dark" : "light")")
            try await findNoViolations("\(name), \(width) pixels, \(isDark ? "dark" : "light")")
            if let folder {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data(try await picture()).write(to: URL(filePath: "\(folder)/\(name)-\(width)\(isDark ? "-dark" : "").png"))
            }
        }
        try await setSize(width: 900, height: 900)
        try await setDark(false)
        try await listen(name)
    }

    /// Checks the page as a screen reader presents it: one main part with one main heading, or a dialog, and a name for every control.
    func listen(_ page: String) async throws {
        let nodes = try await call("Accessibility.getFullAXTree")["nodes"]?.array ?? []
        let heard = nodes.filter { $0["ignored"] != .bool(true) }.map { node in
            (role: node["role"]?["value"]?.string ?? "", name: node["name"]?["value"]?.string ?? "", node: node)
        }
        let used: Set = [
            "textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox", "radio", "button", "link", "image",
        ]
        for part in heard where used.contains(part.role) && part.name.isEmpty {
            Issue.record("\(page): a \(part.role) without a name: \(part.node)")
        }
        // Behind an open dialog the page is inert, and a screen reader has the dialog only.
        if let dialog = heard.first(where: { ["dialog", "alertdialog"].contains($0.role) }) {
            #expect(!dialog.name.isEmpty, "\(page): a dialog without a name")
            return
        }
        let levels = heard.filter { $0.role == "heading" }.compactMap { part in
            part.node["properties"]?.array?.first { $0["name"] == "level" }?["value"]?["value"]?.lenientInteger
        }
        let leavesNoneOut = zip([0] + levels, levels).allSatisfy { $1 <= $0 + 1 }
        let titleCount = levels.count { $0 == 1 }
        #expect(titleCount == 1 && leavesNoneOut, "\(page): \(levels)")
        let mainCount = heard.count { $0.role == "main" }
        #expect(mainCount == 1, "\(page)")
    }
}

/// Scripts that check pages.
enum PageScript {
    /// The texts whose contrast with their background is less than 4.5 to 1 (WCAG 2.2, 1.4.3), or 3 to 1 for large text, with their
    /// contrast; empty if there are none.
    static let paleTexts = """
        (() => {
          const parts = (text) => (text.match(/[0-9.]+/g) ?? []).map(Number)
          const light = (color) => {
            const [r, g, b] = color.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            return 0.2126 * r + 0.7152 * g + 0.0722 * b
          }
          const ground = (e) => {
            for (; e; e = e.parentElement) {
              const color = parts(getComputedStyle(e).backgroundColor)
              if (color.length === 3 || color[3] > 0) return color.slice(0, 3)
            }
            return [255, 255, 255]
          }
          const pale = []
          const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT)
          while (texts.nextNode()) {
            const e = texts.currentNode.parentElement
            if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest('noscript, datalist')) continue
            const style = getComputedStyle(e)
            const [a, b] = [light(parts(style.color).slice(0, 3)), light(ground(e))].sort((x, y) => y - x)
            const size = parseFloat(style.fontSize)
            const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
            const contrast = (a + 0.05) / (b + 0.05)
            if (contrast < (isLarge ? 3 : 4.5)) pale.push(`${texts.currentNode.data.trim()}: ${contrast.toFixed(2)}`)
          }
          return pale.join()
        })()
        """
}

/// A semaphore that admits a fixed number of tasks at a time.
actor TaskLimiter {
    private var available: Int
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(available: Int) { self.available = available }

    func enter() async {
        if available > 0 { available -= 1 } else { await withCheckedContinuation { queue.append($0) } }
    }

    func leave() {
        if queue.isEmpty { available += 1 } else { queue.removeFirst().resume() }
    }
}
