import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Browser logins with a device", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserDeviceTests {
    private struct StopListening: Error {}

    /// Runs `body` with a desktop authenticator in this process.
    private func withAuthenticator(_ body: (Authenticator) async throws -> Void) async throws {
        try await AsyncHTTPTransport().use { transport in
            try await body(
                Authenticator(
                    store: AccountRecords(unsealed: MemoryStore()), transport: transport,
                    device: PushDevice(token: "token-1", name: "Mira's laptop")))
        }
    }

    /// Waits for a message on the push stream.
    private func message(_ authenticator: Authenticator, _ mechanism: Mechanism) async throws -> PushNotification {
        do {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                if case .received = event { throw StopListening() }
            }
        } catch is StopListening {}
        return try #require(try await authenticator.notifications().last)
    }

    @Test("A user chooses the page's number on the device, and the page continues without a click", arguments: [true, false])
    func choosesNumberOnDevice(scripts: Bool) async throws {
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

    @Test("A login that the device denies is denied on the page")
    func showsDenialOfDevice() async throws {
        try await withAuthenticator { authenticator in
            try await PageServer.run { server, page in
                let mechanism = try await server.registerPhone(authenticator, page)
                try await page.open(server.login("PushLogin", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Approve on your device")
                try await page.look("wait")
                _ = try await authenticator.deny(try await message(authenticator, mechanism).id)
                try await page.waitForHeading("Not signed in")
            }
        }
    }

    @Test("The program zbar reads the QR code from a screenshot in light and dark mode, and an authenticator registers with it")
    func registersByQRCodeOnScreen() async throws {
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

    @Test("A user registers an authenticator for one-time codes and signs in with a code")
    func registersOneTimeCode() async throws {
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

    @Test("Recovery codes are shown once, and the user has to confirm that they are stored")
    func recoveryCodesNeedConfirmation() async throws {
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

    @Test("A user registers a passkey and signs in with it in each of AM's three script forms", arguments: ["", "70", "65"])
    func registersAndUsesPasskeyInBrowser(form: String) async throws {
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
                try await page.waitForHeading(journey == "WebAuthnRegistration" ? "Create a passkey" : "Use a passkey")
                if form.isEmpty { try await page.look("passkey-\(journey)") }
                try await page.click("[data-start]")
                try await page.waitForHeading("You are signed in")
            }
        }
    }

    @Test("At an address without passkey support the page reports it and lets the user continue")
    func skipsUnsupportedPasskey() async throws {
        try await PageServer.run { server, page in
            for scripts in [true, false] {
                try await page.setScripts(scripts)
                try await page.open(server.login("WebAuthnRegistration", "&ForceAuth=true"))
                try await page.signIn()
                try await page.waitForHeading("Create a passkey")
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

    @Test("A user signs in with a browser and allows the code of a device without one")
    func allowsDeviceCode() async throws {
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

/// A node that shows callbacks and continues after the answer.
private struct Showing: Node {
    static let type = NodeType("Showing", "Showing", "Shows callbacks.") { _ in Self(callbacks: []) }
    let callbacks: [JourneyCallback]
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        answers == nil ? .prompt(Page(callbacks: callbacks)) : .transition(.outcome)
    }
}
