import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "An app's page at another origin", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserAppTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    /// Journeys that register a device of each kind with recovery codes and show them, and those of a passkey without a name.
    private static let journeys =
        ServerConfiguration.loginJourney + """
              Codes-oath:
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
                  register: {type: OathRegistrationNode, outcomes: {successOutcome: codes, failureOutcome: failure}}
                  codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
              Codes-push:
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
                  register: {type: PushRegistrationNode, outcomes: {successOutcome: codes, default: failure}}
                  codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
              Codes-webauthn:
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
                  register: {type: WebAuthnRegistrationNode, outcomes: {success: codes, default: failure}}
                  codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
              Resident:
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
                  register:
                    type: WebAuthnRegistrationNode
                    requiresResidentKey: true
                    generateRecoveryCodes: false
                    outcomes: {success: success, default: failure}
              Nameless:
                nodes:
                  sign: {type: WebAuthnAuthenticationNode, requiresResidentKey: true, outcomes: {success: success, default: failure}}
            """

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

        /// The address at which a page checks the session.
        func check(_ responseType: String) -> String {
            "\(server)/oauth2/authorize?response_type=\(responseType)&client_id=app&scope=openid&prompt=none"
        }
    }

    /// Runs `body` with the app's page in a new browser, and a server that admits the page's origin.
    private func withApp(_ body: (Addresses, ChromiumPage) async throws -> Void) async throws {
        let app = try RawServer { connection in
            guard connection.request() != nil else { return }
            connection.answer("200 OK", headers: ["Content-Type: text/html"], AppPageScript.page)
        }
        defer { app.stop() }
        let trees = try ServerConfiguration(yaml: Self.journeys).journeys.trees.filter { $0.name != "Login" }
        let origin = "http://localhost:\(app.port)"
        let configuration = ServerConfiguration {
            $0.journeys = Journeys(Journeys.starter.trees + trees)
            $0.users = [User(name: "demo", password: Secret(PageServer.password.utf8))]
            $0.clients = [RegisteredClient(id: "app", redirectURIs: ["\(origin)/callback"])]
            $0.corsOrigins = [origin]
            $0.webAuthnOrigins = [origin]
            $0.pollInterval = .milliseconds(300)
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

    /// Adds an authenticator to the browser that confirms every request.
    private func addAuthenticator(to page: ChromiumPage) async throws {
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
    }

    @Test("F1: A page of an app learns in a hidden frame that a login is needed, logs in by redirect, and exchanges the code")
    func logsInByRedirect() async throws {
        try await withApp { addresses, page in
            let answer = try await page.evaluate(
                """
                sdk.authorize('\(addresses.authorize("&prompt=none"))').then((address) => {
                  const { origin, pathname, searchParams } = new URL(address);
                  return { redirect: origin + pathname, ...Object.fromEntries(searchParams) };
                })
                """)
            #expect(answer["redirect"] == .string(addresses.redirect) && answer["state"] == "s1" && answer["code"] == nil)
            #expect(answer["error"] == "interaction_required")
            #expect(answer["error_description"] == "The request requires some interaction that is not allowed.")
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

    @Test("A page of an app gets tokens without a redirect, renews them, reads userinfo, and ends the session")
    func usesTokensInPageOfApp() async throws {
        try await withApp { addresses, page in
            #expect(try await logIn("Login", addresses, page)["tokenId"] != nil)
            let done = try await page.evaluate(
                """
                (async (am) => {
                  const answer = await sdk.authorize('\(addresses.authorize("&prompt=none"))');
                  const tokens = await sdk.exchange(am, answer, '\(Self.verifier)', '\(addresses.redirect)');
                  const user = await sdk.user(am, tokens.access_token);
                  const renewed = await sdk.renew(am, tokens.refresh_token);
                  const statuses = await sdk.logout(am, { ...tokens, ...renewed });
                  const after = await sdk.user(am, renewed.access_token);
                  return { tokens, user, renewed, statuses, after, session: await sdk.session(am) };
                })('\(addresses.server)')
                """)
            #expect(done["user"]?["httpStatus"] == .integer(200) && done["user"]?["sub"] == "demo")
            #expect(done["renewed"]?["access_token"] != done["tokens"]?["access_token"])
            #expect(done["statuses"] == .array([.integer(200), .integer(204)]))
            #expect(done["after"]?["httpStatus"] == .integer(401) && done["session"]?["httpStatus"] == .integer(401))
        }
    }

    @Test("F4: A page of an app checks a session by fetch with response_type=none, and in a hidden frame with id_token")
    func checksSession() async throws {
        try await withApp { addresses, page in
            let none = "sdk.check('\(addresses.check("none"))')"
            let redirect = "&redirect_uri=\(addresses.redirect.percentEncoded())&nonce=n1&state=s1"
            let idToken = "sdk.authorize('\(addresses.check("id_token"))\(redirect)')"
            #expect(try await page.evaluate(none) == .integer(400))
            let refused = try #require(try await page.evaluate(idToken).string)
            #expect(refused.hasPrefix("\(addresses.redirect)#") && refused.contains("error=interaction_required"))
            #expect(try await logIn("Login", addresses, page)["tokenId"] != nil)
            #expect(try await page.evaluate(none) == .integer(204))
            let address = try #require(try await page.evaluate(idToken).string)
            #expect(address.hasPrefix("\(addresses.redirect)#id_token="))
            let fields = FormCoding.decode(address.drop { $0 != "#" }.dropFirst())
            #expect(fields["state"] == "s1")
            let claims = try #require(SignedToken(fields["id_token"] ?? "")).claims
            #expect(claims["sub"] == "demo" && claims["nonce"] == "n1" && claims["aud"] == "app")
        }
    }

    @Test(
        "F2: A page of an app reads the recovery codes of each kind of device",
        arguments: [
            (DeviceKind.oath, "OATH Device"), (.push, "Push Device"), (.webauthn, "New Security Key"),
        ])
    func readsRecoveryCodesInPageOfApp(kind: DeviceKind, name: String) async throws {
        try await withApp { addresses, page in
            let server = addresses.server
            if kind == .webauthn { try await addAuthenticator(to: page) }
            let first = try await page.evaluate(
                """
                sdk.login('\(server)', 'Codes-\(kind.rawValue)', '\(PageServer.password)').then((step) => { window.step = step; return step })
                """)
            switch kind {
            case .push:
                let step = try JSON.decode(JourneyStep.self, from: JSON.encode(first))
                try await enroll(try #require(step.hiddenValue("mfaDeviceRegistration")))
            case .webauthn: _ = try await page.evaluate("sdk.passkey(step)")
            default: break
            }
            let shown = try await page.evaluate(
                """
                (step.callbacks.some((callback) => callback.type === 'PollingWaitCallback')
                  ? sdk.poll('\(server)', step) : sdk.next('\(server)', '', step)).then(async (step) => {
                  const shown = sdk.recoveryCodes(step);
                  return { ...shown, end: await sdk.next('\(server)', '', step) };
                })
                """)
            let codes = (shown["codes"]?.array ?? []).compactMap(\.string)
            let lengths = Set(codes.map(\.count))
            #expect(Set(codes).count == RecoveryCodes.count && lengths == [10])
            #expect(shown["name"] == .string(name))
            #expect(shown["end"]?["tokenId"] != nil)
        }
    }

    /// Registers an authenticator in this process, as a user does by scanning the QR code.
    private func enroll(_ uri: String) async throws {
        try await AsyncHTTPTransport().use { transport in
            let authenticator = Authenticator(
                store: AccountRecords(unsealed: MemoryStore()), transport: transport,
                device: PushDevice(token: "token-1", name: "Mira's laptop"))
            _ = try await authenticator.enroll(uri: uri)
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
                  const renamed = await sdk.devices('\(server)', path, 'PUT', { ...device, alias: 'Work' });
                  const removed = await sdk.devices('\(server)', path, 'DELETE');
                  const left = await sdk.devices('\(server)', '?_queryFilter=true', 'GET');
                  return { login, renamed, removed, left: left.result };
                })
                """)
            #expect(done["login"]?["tokenId"] != nil)
            #expect(done["renamed"]?["httpStatus"] == .integer(200) && done["renamed"]?["alias"] == .string("Work"))
            #expect(done["removed"]?["httpStatus"] == .integer(200))
            #expect(done["left"] == .array([]))
        }
    }

    @Test("A page of an app registers and uses a passkey in each of AM's three forms", arguments: ["", "70", "65"])
    func usesPasskey(form: String) async throws {
        try await withApp { addresses, page in
            try await addAuthenticator(to: page)
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

    @Test("F7: A page of an app logs in with a passkey, without a name")
    func usesPasskeyWithoutName() async throws {
        try await withApp { addresses, page in
            let server = addresses.server
            try await addAuthenticator(to: page)
            let registered = try await page.evaluate(
                """
                sdk.login('\(server)', 'Resident', '\(PageServer.password)').then(async (step) => {
                  await sdk.passkey(step);
                  return sdk.next('\(server)', '', step);
                })
                """)
            #expect(registered["tokenId"] != nil)
            // Without its session, the browser knows no name any more.
            try await page.call("Network.clearBrowserCookies")
            let end = try await page.evaluate(
                """
                sdk.next('\(server)', 'Nameless').then(async (step) => {
                  await sdk.passkey(step);
                  const { tokenId } = await sdk.next('\(server)', '', step);
                  return { tokenId, session: await sdk.session('\(server)') };
                })
                """)
            #expect(end["tokenId"] != nil && end["session"]?["username"] == "demo")
        }
    }
}
