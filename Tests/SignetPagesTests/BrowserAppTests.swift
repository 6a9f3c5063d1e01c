import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "An app's page at another origin", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserAppTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    /// The server and the app as the browser knows them.
    private struct Addresses: Sendable {
        let server: String
        let app: String

        var redirect: String { "\(app)/callback" }

        func authorize(_ more: String = "") -> String {
            let challenge = ProofKey.challenge(for: BrowserAppTests.verifier)
            return "\(server)/oauth2/authorize?response_type=code&client_id=app&scope=openid%20profile&state=s1"
                + "&redirect_uri=\(redirect.percentEncoded())&code_challenge=\(challenge)&code_challenge_method=S256\(more)"
        }
    }

    /// Runs `body` with the app's page in a new browser, and a server that admits the page's origin.
    private func withApp(_ body: (Addresses, ChromiumPage) async throws -> Void) async throws {
        let app = try RawServer { connection in
            guard connection.request() != nil else { return }
            connection.answer("200 OK", headers: ["Content-Type: text/html"], AppPageScript.page)
        }
        defer { app.stop() }
        let origin = "http://localhost:\(app.port)"
        let configuration = ServerConfiguration {
            $0.journeys = Journeys(Journeys.starter.trees + MakingCodes.trees)
            $0.users = [User(name: "demo", password: Secret(PageServer.password.utf8))]
            $0.clients = [RegisteredClient(id: "app", redirectURIs: ["\(origin)/callback"])]
            $0.corsOrigins = [origin]
            $0.webAuthnOrigins = [origin]
        }
        try await TestServer.live(configuration) { server in
            try await Chromium.with { browser in
                let page = try await browser.page()
                try await page.open("\(origin)/")
                try await body(Addresses(server: server.url.replacing("127.0.0.1", with: "localhost"), app: origin), page)
            }
        }
    }

    private func logIn(_ journey: String, _ addresses: Addresses, _ page: ChromiumPage) async throws -> JSONValue {
        try await page.evaluate("sdk.login('\(addresses.server)', '\(journey)', '\(PageServer.password)')")
    }

    @Test("A page of an app logs in by redirect, and exchanges the code with PKCE")
    func logsInByRedirect() async throws {
        try await withApp { addresses, page in
            try await page.open(addresses.authorize())
            try await page.signIn()
            try await page.waitForHeading("The app")
            let tokens = try await page.evaluate(
                "sdk.exchange('\(addresses.server)', location.href, '\(Self.verifier)', '\(addresses.redirect)')")
            #expect(tokens["access_token"]?.string?.isEmpty == false && tokens["id_token"] != nil)
        }
    }

    @Test("A page of an app logs in by fetch, checks the session, and gets tokens from a hidden frame")
    func getsTokensFromHiddenFrame() async throws {
        try await withApp { addresses, page in
            #expect(try await logIn("Login", addresses, page)["tokenId"] != nil)
            let session = try await page.evaluate("sdk.session('\(addresses.server)')")
            #expect(session["httpStatus"] == .integer(200) && session["username"] == .string("demo"))
            let address = try await page.evaluate("sdk.authorize('\(addresses.authorize("&prompt=none"))')")
            let answer = try #require(address.string)
            #expect(answer.hasPrefix("\(addresses.redirect)?") && answer.contains("code="))
            let tokens = try await page.evaluate(
                "sdk.exchange('\(addresses.server)', '\(answer)', '\(Self.verifier)', '\(addresses.redirect)')")
            #expect(tokens["access_token"]?.string?.isEmpty == false)
        }
    }

    @Test("F2: A page of an app reads the recovery codes of each kind of device", arguments: MakingCodes.kinds)
    func readsRecoveryCodes(kind: DeviceKind) async throws {
        try await withApp { addresses, page in
            let password = PageServer.password
            let shown = try await page.evaluate(
                """
                sdk.login('\(addresses.server)', 'Codes-\(kind.rawValue)', '\(password)').then(async (step) => {
                  const shown = sdk.recoveryCodes(step);
                  return { ...shown, end: await sdk.next('\(addresses.server)', '', step) };
                })
                """)
            let codes = (shown["codes"]?.array ?? []).compactMap(\.string)
            let lengths = Set(codes.map(\.count))
            #expect(Set(codes).count == RecoveryCodes.count && lengths == [10])
            #expect(shown["name"] == .string("My \(kind.rawValue)"))
            #expect(shown["end"]?["tokenId"] != nil)
        }
    }

    @Test("A page of an app lists, renames and removes a device profile by its identifier")
    func managesDeviceProfiles() async throws {
        try await withApp { addresses, page in
            let server = addresses.server
            let done = try await page.evaluate(
                """
                sdk.login('\(server)', 'DeviceProfileCallback', '\(PageServer.password)').then(async (step) => {
                  sdk.fill(step, 'DeviceProfileCallback', JSON.stringify({ identifier: '714524572-2799534390', metadata: {} }));
                  const login = await sdk.next('\(server)', '', step);
                  const device = (await sdk.devices('\(server)', '?_queryFilter=true', 'GET')).result[0];
                  const path = '/' + device.identifier;
                  const renamed = await sdk.devices('\(server)', path, 'PUT', { ...device, alias: 'Desk' });
                  const removed = await sdk.devices('\(server)', path, 'DELETE');
                  const left = await sdk.devices('\(server)', '?_queryFilter=true', 'GET');
                  return { login, renamed, removed, left: left.result };
                })
                """)
            #expect(done["login"]?["tokenId"] != nil)
            #expect(done["renamed"]?["httpStatus"] == .integer(200) && done["renamed"]?["alias"] == .string("Desk"))
            #expect(done["removed"]?["httpStatus"] == .integer(200))
            #expect(done["left"] == .array([]))
        }
    }

    @Test("A page of an app registers and uses a passkey in each of AM's three forms", arguments: ["", "70", "65"])
    func usesPasskey(form: String) async throws {
        try await withApp { addresses, page in
            try await page.call("WebAuthn.enable")
            try await page.call(
                "WebAuthn.addVirtualAuthenticator",
                [
                    "options": .object([
                        "protocol": .string("ctap2"), "transport": .string("internal"), "hasResidentKey": .bool(true),
                        "hasUserVerification": .bool(true), "isUserVerified": .bool(true),
                        "automaticPresenceSimulation": .bool(true),
                    ])
                ])
            for journey in ["WebAuthnRegistration\(form)", "WebAuthnLogin\(form)"] {
                let end = try await page.evaluate(
                    """
                    sdk.login('\(addresses.server)', '\(journey)', '\(PageServer.password)').then(async (step) => {
                      await sdk.passkey(step);
                      return sdk.next('\(addresses.server)', '', step);
                    })
                    """)
                #expect(end["tokenId"] != nil, "\(journey)")
            }
        }
    }
}

/// A node that makes recovery codes for a kind of device, as the registration of such a device does.
private struct MakingCodes: Node {
    static let type = NodeType("MakingCodes", "Making Codes", "Makes recovery codes.") { _ in Self(kind: .oath) }
    static let kinds: [DeviceKind] = [.webauthn, .oath, .push]

    /// One journey for each kind, which asks for name and password and shows the codes.
    static var trees: [JourneyTree] {
        kinds.map { kind in
            JourneyTree(
                "Codes-\(kind.rawValue)", entry: "login",
                nodes: [
                    "login": JourneyNode(InnerTreeEvaluatorNode(tree: "Login"), [.isTrue: .node("make"), .isFalse: .failure]),
                    "make": JourneyNode(MakingCodes(kind: kind), [.outcome: .node("show")]),
                    "show": JourneyNode(RecoveryCodeDisplayNode(), [.outcome: .success]),
                ])
        }
    }

    let kind: DeviceKind
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.recoveryCodes = RecoveryCodes.new(for: kind, "My \(kind.rawValue)")
        return .transition(.outcome)
    }
}
