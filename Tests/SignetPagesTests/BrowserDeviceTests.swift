import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

@testable import SignetServer

@Suite(
    "A browser and a device", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserDeviceTests {
    private struct Enough: Error {}

    /// A desktop authenticator in this process.
    private func withAuthenticator(_ body: (Authenticator) async throws -> Void) async throws {
        try await AsyncHTTPTransport().use { transport in
            try await body(
                Authenticator(
                    store: AccountRecords(unsealed: MemoryStore()), transport: transport,
                    device: PushDevice(token: "token-1", name: "Mira's laptop")))
        }
    }

    /// Waits at the desk for a message.
    private func message(_ authenticator: Authenticator, _ mechanism: Mechanism) async throws -> PushNotification {
        do {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                if case .received = event { throw Enough() }
            }
        } catch is Enough {}
        return try #require(try await authenticator.notifications().last)
    }

    @Test("The number on the page is chosen on the device, and the page goes on by itself", arguments: [true, false])
    func number(scripts: Bool) async throws {
        try await withAuthenticator { authenticator in
            try await PageServer.run { server, page in
                try await page.setScripts(scripts)
                let mechanism = try await server.registerPhone(authenticator, page)
                try await page.open(
                    server.login("PushNumberLogin", "&ForceAuth=true&goto=\(server.authorize().percentEncoded())"))
                try await page.signIn()
                try await page.waitForHeading("Choose this number")
                if scripts { try await page.look("number") }
                let number = try #require(Int(try await page.text(".number")))
                #expect(try await page.evaluate("document.querySelector('.wait').getAttribute('aria-live')") == "polite")
                let notification = try await message(authenticator, mechanism)
                _ = try await authenticator.approve(notification.id, number: number)
                try await page.waitForHeading("The app")
            }
        }
    }

    @Test("What the device denies is denied on the page")
    func deny() async throws {
        try await withAuthenticator { authenticator in
            try await PageServer.run { server, page in
                let mechanism = try await server.registerPhone(authenticator, page)
                try await page.open(server.login("PushLogin", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Please wait")
                try await page.look("wait")
                _ = try await authenticator.deny(try await message(authenticator, mechanism).id)
                try await page.waitForHeading("Not signed in")
            }
        }
    }

    @Test("The QR code on the page, read by zbar from a picture of it, registers an authenticator, in light and in dark")
    func picture() async throws {
        for (journey, isDark) in [("CombinedRegistration", true), ("PushRegistration", false)] {
            try await Terminal.with { terminal in
                try await PageServer.run { server, page in
                    try await page.open(server.login(journey))
                    try await page.signIn()
                    try await page.waitForHeading("Add your device")
                    try await page.look("register-\(journey)")
                    try await page.setDark(isDark)
                    try await terminal.enroll(from: page)
                    try await page.waitForHeading("You are signed in")
                    #expect(try await terminal.signet("accounts", "--json").contains("demo"))
                }
            }
        }
    }

    @Test("A one-time code is registered and asked for")
    func code() async throws {
        try await withAuthenticator { authenticator in
            try await PageServer.run { server, page in
                try await page.open(server.login("OATHRegistration"))
                try await page.signIn()
                try await page.waitForHeading("Add your device")
                let mechanism = try await authenticator.enroll(uri: try await page.registrationURI).mechanisms[0]
                try await page.click("button[type=submit]")
                try await page.wait(for: "document.querySelector('[autocomplete=one-time-code]')")
                try await page.look("code")
                try await page.fill("[autocomplete=one-time-code]", "1")
                try await page.click("button[type=submit]")
                try await page.wait(for: "document.querySelector('[autocomplete=one-time-code]')?.value === ''")
                let code = try await authenticator.code(for: mechanism.uid)
                try await page.fill("[autocomplete=one-time-code]", code.digits)
                try await page.click("button[type=submit]")
                try await page.waitForHeading("You are signed in")
            }
        }
    }

    @Test("Recovery codes are shown once, and nobody goes on without saying that they are kept")
    func recoveryCodes() async throws {
        let script =
            "var codes = \"iZmEtxvQ00\\n\" + \"3VPW6o5-gl\\n\" + 'Ab_cdefg12\\n'; var title = \"Your Recovery Codes\"; \"<em>My key</em>\";"
        let tree = JourneyTree(
            "Recovery", entry: "login",
            nodes: [
                "login": JourneyNode(
                    InnerTreeEvaluatorNode(tree: "Login"), [.isTrue: .node("codes"), .isFalse: .failure]),
                "codes": JourneyNode(Showing(callbacks: [.text(script, type: 4), .confirmation("Done")]), [.outcome: .success]),
            ])
        try await PageServer.run(trees: [tree]) { server, page in
            try await page.open(server.login("Recovery"))
            try await page.signIn()
            try await page.waitForHeading("Your recovery codes")
            try await page.look("recovery")
            let codes = try await page.evaluate("[...document.querySelectorAll('.codes code')].map(e => e.textContent).join()")
            #expect(codes == "iZmEtxvQ00,3VPW6o5-gl,Ab_cdefg12")
            try await page.click("button[type=submit]")
            #expect(try await page.evaluate("document.forms[0].checkValidity()") == .bool(false))
            try await page.click("[type=checkbox]")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("You are signed in")
            _ = try await page.evaluate("history.back()")
            try await page.waitForHeading("You are signed in")
        }
    }

    @Test("A passkey is made and used, in each of AM's three forms", arguments: ["", "70", "65"])
    func passkey(form: String) async throws {
        try await PageServer.run(host: "localhost") { server, page in
            try await page.call("WebAuthn.enable")
            try await page.call(
                "WebAuthn.addVirtualAuthenticator",
                [
                    "options": .object([
                        "protocol": "ctap2", "transport": "internal", "hasResidentKey": .bool(true),
                        "hasUserVerification": .bool(true), "isUserVerified": .bool(true),
                        "automaticPresenceSimulation": .bool(true),
                    ])
                ])
            for journey in ["WebAuthnRegistration", "WebAuthnLogin"] {
                try await page.open(server.login("\(journey)\(form)", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Use a passkey")
                if form.isEmpty { try await page.look("passkey-\(journey)") }
                try await page.click("[data-start]")
                try await page.waitForHeading("You are signed in")
            }
        }
    }

    @Test("At an address that passkeys do not work at the page says so, and there is a way on; without scripts as well")
    func noPasskey() async throws {
        try await PageServer.run { server, page in
            for scripts in [true, false] {
                try await page.setScripts(scripts)
                try await page.open(server.login("WebAuthnRegistration", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Use a passkey")
                if scripts {
                    try await page.click("[data-start]")
                    try await page.wait(for: "!document.querySelector('[data-problem]').hidden")
                    try await page.look("passkey-address")
                    try await page.click("[data-skip]")
                } else {
                    try await page.click("noscript button")
                }
                try await page.waitForHeading("Not signed in")
            }
        }
    }

    @Test("A device without a browser shows a code; the person with the browser signs in and allows it")
    func deviceCode() async throws {
        try await PageServer.run { server, page in
            try await page.open("\(server.url)/oauth2/device/user")
            try await page.signIn()
            try await page.waitForHeading("Connect a device")
            try await page.fill("#user_code", "none")
            try await page.click("button[type=submit]")
            try await page.wait(for: "document.querySelector('[role=alert]')")
            try await page.look("device")
            try await page.fill("#user_code", try await server.userCode())
            try await page.press("Enter")
            try await page.waitForHeading("Allow app?")
            try await page.look("device-question")
            try await page.click("button[value=allow]")
            try await page.waitForHeading("Allowed")
        }
    }
}

/// Shows callbacks, and goes on when they were seen.
private struct Showing: Node {
    static let type = NodeType("Showing", "Showing", "Shows callbacks.") { _ in Self(callbacks: []) }
    let callbacks: [JourneyCallback]
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        visit.answers == nil ? .prompt(Page(callbacks: callbacks)) : .transition(.outcome)
    }
}
