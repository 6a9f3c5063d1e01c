import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Pages for devices, passkeys and recovery codes")
struct DevicePageTests {
    private static let journeys = """
        Create:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: create, false: failure}}
            create: {type: WebAuthnRegistrationNode, outcomes: {success: success, default: failure}}
        Autofill:
          nodes:
            use:
              type: WebAuthnAuthenticationNode
              requiresResidentKey: true
              mediation: CONDITIONAL
              outcomes: {success: success, default: failure}
        Nameless:
          nodes:
            use: {type: WebAuthnAuthenticationNode, requiresResidentKey: true, outcomes: {success: success, default: failure}}
        Codes:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
            register: {type: OathRegistrationNode, outcomes: {successOutcome: codes, failureOutcome: failure}}
            codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
        Verify:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
            register:
              type: OathRegistrationNode
              postponeDeviceProfileStorage: true
              outcomes: {successOutcome: verify, failureOutcome: failure}
            verify:
              type: OathTokenVerifierNode
              prompt: Numéro
              outcomes: {successOutcome: success, failureOutcome: verify, notRegisteredOutcome: failure}
        Mailed:
          nodes:
            page:
              type: PageNode
              nodes: [{type: UsernameCollectorNode}, {type: OneTimePasswordCollectorDecisionNode}]
              outcomes: {true: success, false: failure}
        Trimmed:
          nodes:
            page:
              type: PageNode
              nodes:
                - {type: AttributeCollectorNode, attributesToCollect: [givenName, mail], required: true, validateInputs: true}
                - {type: KbaCreateNode}
              outcomes: {outcome: failure}
        """

    private func open(_ journey: String, _ browser: PageBrowser) async throws -> Reply {
        try await browser.get("/am/XUI/?realm=/&authIndexType=service&authIndexValue=\(journey)")
    }

    @Test("The creation of a passkey and its use have pages of their own")
    func tellsCreationFromUse() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let create = try await browser.signIn(try await open("Create", browser))
            #expect(create.heading == "Create a passkey" && create.text.contains(">Create a passkey</button>"))
            #expect(!create.text.contains("data-autofill"))
            let use = try await open("Nameless", PageBrowser(server))
            #expect(use.heading == "Use a passkey" && use.text.contains("You need no user name."))
            #expect(!use.text.contains("data-autofill"))
        }
    }

    @Test("With conditional mediation the page has a field in which the browser offers passkeys")
    func offersAutofill() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let page = try await open("Autofill", PageBrowser(server))
            #expect(page.text.contains("data-autofill") && page.text.contains("autocomplete=\"username webauthn\""))
            #expect(page.text.contains("&quot;mediation&quot;:&quot;conditional&quot;"))
        }
    }

    @Test("A page with a QR code shows the secret in groups, to be typed")
    func showsSecretToType() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await open("Codes", browser))
            let uri = try #require(page.text.captures("id=\"registration\">([^<]*)<").first?[0].unescaped)
            let secret = try #require(FormCoding.decode(uri.split(separator: "?").last ?? "")["secret"]).replacing("=", with: "")
            let shown = try #require(page.text.captures("id=\"secret\"[^>]*>([^<]*)<").first?[0])
            #expect(shown.replacing(" ", with: "") == secret && shown.prefix(5).last == " ")
            let width = try #require(page.text.captures("viewBox=\"0 0 ([0-9]+) [0-9]+\" width=\"([0-9]+)\"").first)
            #expect((Int(width[1]) ?? 1).isMultiple(of: Int(width[0]) ?? 2), "each module has whole pixels")
        }
    }

    @Test("Recovery codes have buttons to copy and to download them")
    func offersCopyAndDownload() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let page = try await browser.submit(try await browser.signIn(try await open("Codes", browser)), [:])
            #expect(page.heading == "Your recovery codes")
            #expect(page.text.contains("data-copy=\"#codes code\"") && page.text.contains("data-download=\"#codes code\""))
        }
    }

    private static let codeAttributes = "autocomplete=\"one-time-code\" inputmode=\"numeric\""

    @Test("The field for a code of an authenticator is one in each language, and a wrong code is not kept")
    func recognizesCodeByNode() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let page = try await browser.submit(try await browser.signIn(try await open("Verify", browser)), [:])
            #expect(page.heading == "Enter your code" && page.text.contains(">Numéro</label>"))
            #expect(page.text.captures("<input id=\"IDToken1\"([^>]*)>").first?[0].contains(Self.codeAttributes) == true)
            let again = try await browser.submit(page, ["IDToken1": "123 45"])
            #expect(again.heading == page.heading && !again.text.contains("123 45"))
            #expect(again.text.contains("role=\"alert\""))
        }
    }

    @Test("The field for a one-time password of an email is not one for a password")
    func recognizesEmailedCode() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let page = try await open("Mailed", PageBrowser(server))
            let fields = page.text.captures("<input id=\"IDToken[12]\"([^>]*)>").map { $0[0] }
            #expect(fields.count == 2 && fields[0].contains("autocomplete=\"username\""))
            #expect(fields[1].contains(Self.codeAttributes) && !fields[1].contains("password"))
        }
    }

    @Test("Attributes and questions are judged and kept without the white space at their ends")
    func trimsAttributes() async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let browser = PageBrowser(server)
            let page = try await open("Trimmed", browser)
            var fields: [String: String?] = [
                "IDToken1": "  ", "IDToken2": " nora@example.test ", "IDToken3question": " Which ship? ",
                "IDToken3answer": " Argo ",
            ]
            let again = try await browser.submit(page, fields)
            #expect(again.formAction != nil && again.text.contains("value=\"nora@example.test\""))
            fields["IDToken1"] = " Nora "
            let end = try await browser.submit(again, fields)
            #expect(end.heading == "Not signed in" && end.formAction == nil)
        }
    }
}
