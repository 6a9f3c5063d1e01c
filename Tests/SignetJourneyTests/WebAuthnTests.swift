import SignetCore
import SignetJourney
import Testing

@Suite("Passkeys")
struct WebAuthnTests {
    private func step(_ data: String, script: String? = nil) throws -> JourneyStep {
        var callbacks: [JourneyCallback] = []
        if let script {
            callbacks.append(
                JourneyCallback(
                    type: "TextOutputCallback",
                    output: [.init(name: "message", value: .string(script)), .init(name: "messageType", value: .string("4"))]))
        } else {
            let data = try JSON.value(of: data.utf8)
            callbacks.append(JourneyCallback(type: "MetadataCallback", output: [.init(name: "data", value: data)]))
        }
        callbacks.append(
            JourneyCallback(
                type: "HiddenValueCallback",
                output: [.init(name: "value", value: .string("false")), .init(name: "id", value: .string("webAuthnOutcome"))],
                input: [.init(name: "IDToken2", value: .string("webAuthnOutcome"))]))
        return JourneyStep(authId: "a", callbacks: callbacks)
    }

    private func authentication(_ step: JourneyStep) throws -> WebAuthnAuthentication {
        guard case .authentication(let request)? = WebAuthnRequest(step) else { throw Unexpected() }
        return request
    }

    private func registration(_ step: JourneyStep) throws -> WebAuthnRegistration {
        guard case .registration(let request)? = WebAuthnRequest(step) else { throw Unexpected() }
        return request
    }

    private static let legacyAllow =
        #""allowCredentials":"allowCredentials: [{ \"type\": \"public-key\", \"id\": new Int8Array([1, -2, 3]).buffer }, { \"type\": \"public-key\", \"id\": new Int8Array([-128, 127]).buffer }]""#

    @Test(
        "An authentication request is read in every form that servers use",
        arguments: [
            #"{"_action":"webauthn_authentication","_type":"WebAuthn","challenge":"AAECAw==","timeout":"60000","userVerification":"required","#
                + #""relyingPartyId":"rpId: \"old.example.com\",","_relyingPartyId":"example.com",\#(legacyAllow),"#
                + #""_allowCredentials":[{"type":"public-key","id":[1,-2,3]},{"type":"public-key","id":[-128,127]}]}"#,
            #"{"_action":"webauthn_authentication","challenge":"AAECAw==","timeout":60000,"userVerification":"required","#
                + #""relyingPartyId":"rpId: \"example.com\",",\#(legacyAllow)}"#,
            #"{"_type":"WebAuthn","challenge":"AAECAw==","userVerification":"required","relyingPartyId":"example.com","#
                + #""acceptableCredentials":"[{ id: new Int8Array([1,254,3]).buffer }, { id: new Int8Array([ 128 , 127 ]) }]"}"#,
        ])
    func readsAuthenticationRequests(data: String) throws {
        let request = try authentication(try step(data))
        #expect(request.challenge == [0, 1, 2, 3])
        #expect(request.relyingPartyID == "example.com")
        #expect(request.allowedCredentials == [[1, 254, 3], [128, 127]])
        #expect(request.userVerification == .required)
        #expect(request.timeout == .seconds(60))
        #expect(!request.acceptsJSON)
    }

    /// A step of OpenAM 16's WebAuthn module with its members.
    private func moduleStep(_ text: String, beside type: String = "PasswordCallback") -> JourneyStep {
        JourneyStep(
            authId: "a",
            callbacks: [
                JourneyCallback(
                    type: type, output: [.init(name: "prompt", value: .string("Credentials"))],
                    input: [.init(name: "IDToken1", value: .string(""))]),
                JourneyCallback(
                    type: "TextOutputCallback",
                    output: [.init(name: "message", value: .string(text)), .init(name: "messageType", value: .string("0"))]),
            ])
    }

    private static let moduleOptions =
        #"{"challenge":{"value":"QVFJQzV3"},"timeout":60000,"rpId":"openam.example.org","allowCredentials":[],"userVerification":"preferred"}"#

    /// The options of the page on which a passkey is registered, as recorded (authenticate 994), with fewer algorithms.
    private static let moduleRegistrationOptions =
        #"{"rp":{"id":"openam.example.org","name":"openam.example.org"},"user":{"id":"ZGF2ZQ==","name":"dave","displayName":"dave"},"#
        + #""challenge":{"value":"QVFJQzV3"},"pubKeyCredParams":[{"type":"public-key","alg":-7},{"type":"public-key","alg":-257}],"#
        + #""timeout":60000,"excludeCredentials":[],"#
        + #""authenticatorSelection":{"requireResidentKey":true,"userVerification":"preferred"},"attestation":"none"}"#

    @Test(
        "C4: OpenAM's WebAuthn module is recognized by the JSON next to its PasswordCallback",
        arguments: [moduleOptions, moduleRegistrationOptions])
    func recognizesOpenAMModule(options: String) {
        let step = moduleStep(options)
        let domain = step.webAuthnModuleOptions.flatMap { $0["rpId"] ?? $0["rp"]?["id"] }?.string
        #expect(domain == "openam.example.org")
        #expect(step.asksForPasskey && WebAuthnRequest(step) == nil)
    }

    @Test(
        "A page with a password and another text contains no passkey request",
        arguments: ["", "Welcome", "{", "[]", #"{"message":"challenge"}"#])
    func passwordPageHasNoRequest(text: String) {
        let step = moduleStep(text)
        #expect(step.webAuthnModuleOptions == nil && !step.asksForPasskey)
    }

    @Test("The options without a PasswordCallback are ordinary text")
    func optionsWithoutPasswordAreText() {
        #expect(moduleStep(Self.moduleOptions, beside: "NameCallback").webAuthnModuleOptions == nil)
    }

    @Test("A step with the callback for a passkey's outcome asks for a passkey, even if its request is unreadable")
    func outcomeCallbackAsksForPasskey() throws {
        let step = try step("{}")
        #expect(step.asksForPasskey && WebAuthnRequest(step) == nil)
    }

    @Test("An authentication request without passkeys and a domain leaves both open")
    func readsOpenRequest() throws {
        let request = try authentication(
            try step(
                #"{"_action":"webauthn_authentication","challenge":"AAECAw==","relyingPartyId":"","allowCredentials":"","#
                    + #""_allowCredentials":[],"timeout":"soon","userVerification":"perhaps","supportsJsonResponse":true}"#))
        #expect(request.relyingPartyID == nil)
        #expect(request.allowedCredentials.isEmpty)
        #expect(request.timeout == .seconds(60))
        #expect(request.userVerification == .preferred)
        #expect(request.acceptsJSON)
    }

    private static let modern =
        #"{"_action":"webauthn_registration","_type":"WebAuthn","challenge":"AAECAw==","attestationPreference":"direct","userName":"mira","#
        + #""displayName":"Mira","userId":"bWlyYQ==","relyingPartyName":"Example","authenticatorSelection":"{}","#
        + #""_authenticatorSelection":{"userVerification":"discouraged","requireResidentKey":true,"authenticatorAttachment":"platform"},"#
        + #""pubKeyCredParams":"[ ]","_pubKeyCredParams":[{"type":"public-key","alg":-257},{"type":"public-key","alg":-7}],"#
        + #""timeout":"1500","excludeCredentials":"","_excludeCredentials":[{"type":"public-key","id":[5]}],"#
        + #""relyingPartyId":"id: \"example.com\",","_relyingPartyId":"example.com","supportsJsonResponse":true}"#
    private static let legacy =
        #"{"_type":"WebAuthn","challenge":"AAECAw==","attestationPreference":"direct","userName":"mira","displayName":"Mira","#
        + #""userId":"bWlyYQ==","relyingPartyName":"Example","#
        + #""authenticatorSelection":"{\"userVerification\":\"discouraged\",\"requireResidentKey\":true,\"authenticatorAttachment\":\"platform\"}","#
        + #""pubKeyCredParams":"[ { \"type\": \"public-key\", \"alg\": -257 }, { \"type\": \"public-key\", \"alg\": -7 } ]","timeout":"1500","#
        + #""excludeCredentials":"excludeCredentials: [{ \"type\": \"public-key\", \"id\": new Int8Array([5]).buffer }]","#
        + #""relyingPartyId":"id: \"example.com\",","supportsJsonResponse":true}"#

    @Test("A registration request is read in both forms", arguments: [modern, legacy])
    func readsRegistrationRequests(data: String) throws {
        let request = try registration(try step(data))
        #expect(request.challenge == [0, 1, 2, 3])
        #expect(request.userID == Array("mira".utf8))
        #expect(request.userName == "mira" && request.displayName == "Mira" && request.relyingPartyName == "Example")
        #expect(request.relyingPartyID == "example.com")
        #expect(request.algorithms == [-257, -7])
        #expect(request.attestation == "direct")
        #expect(request.userVerification == .discouraged)
        #expect(request.residentKey == "required")
        #expect(request.attachment == "platform")
        #expect(request.excludedCredentials == [[5]])
        #expect(request.timeout == .milliseconds(1500))
        #expect(request.acceptsJSON)
    }

    @Test("The values in a browser script are read")
    func readsScriptValues() throws {
        let make = """
            var publicKey = { challenge: new Int8Array([0, 1, 2, 3]).buffer,
              rp: { id: "example.com", name: "Example" },
              user: { id: Uint8Array.from("mira", function (c) { return c.charCodeAt(0) }), name: "mira", displayName: "Mira" },
              pubKeyCredParams: [ { "type": "public-key", "alg": -7 }, { "type": "public-key", "alg": -257 } ],
              attestation: "none", timeout: 45000, excludeCredentials: [{ id: new Int8Array([9, -9]).buffer }],
              authenticatorSelection: { userVerification: "required", requireResidentKey: false } };
            """
        let made = try registration(try step("", script: make))
        #expect(made.challenge == [0, 1, 2, 3])
        #expect(made.relyingPartyID == "example.com" && made.relyingPartyName == "Example")
        #expect(made.userID == Array("mira".utf8) && made.userName == "mira" && made.displayName == "Mira")
        #expect(made.algorithms == [-7, -257])
        #expect(made.excludedCredentials == [[9, 247]])
        #expect(made.timeout == .seconds(45))
        #expect(made.userVerification == .required)
        #expect(made.residentKey == nil)
        let sign = """
            var acceptableCredentials = [ { "type": "public-key", "id": new Int8Array([1, -2]).buffer } ];
            var options = { challenge: new Int8Array([4, 5]).buffer, timeout: 30000, userVerification: "preferred",
              rpId: "example.com", allowCredentials: acceptableCredentials };
            """
        let signed = try authentication(try step("", script: sign))
        #expect(signed.challenge == [4, 5])
        #expect(signed.allowedCredentials == [[1, 254]])
        #expect(signed.relyingPartyID == "example.com")
    }

    @Test(
        "Text that is not a request is ignored",
        arguments: [
            "{}", #"{"stage":"x"}"#, #"{"_action":"webauthn_authentication"}"#,
            #"{"_action":"webauthn_authentication","challenge":"%"}"#,
            #"{"_action":"webauthn_registration","challenge":"AA=="}"#,
            #"{"_action":"dance","_type":"WebAuthn","challenge":"AA=="}"#,
            #"{"_type":"PingOneProtect","challenge":"AA=="}"#, "[]", "null",
        ])
    func ignoresOtherText(data: String) throws {
        #expect(WebAuthnRequest(try step(data)) == nil)
    }

    @Test(
        "A list with an unreadable entry makes the whole request unreadable",
        arguments: [
            #""_allowCredentials":[{"type":"public-key","id":[1]},{"type":"public-key"}]"#, #""_allowCredentials":[{"id":"AQ"}]"#,
            #""_allowCredentials":[{"id":[1,999]}]"#, #""_allowCredentials":[{"id":[]}]"#, #""_allowCredentials":"x""#,
            #""_allowCredentials":[7]"#, #""allowCredentials":[1]"#, #""allowCredentials":"allowCredentials: known""#,
            #""allowCredentials":"[{ \"id\": new Int8Array([1]) }, { \"id\": known }]""#,
            #""allowCredentials":"[{ \"id\": new Int8Array([999]) }]""#, #""allowCredentials":"[{ \"id\": new Int8Array([1]) }""#,
        ])
    func refusesListWithUnreadableEntry(list: String) throws {
        let data = #"{"_action":"webauthn_authentication","challenge":"AA==",\#(list)}"#
        #expect(WebAuthnRequest(try step(data)) == nil)
        let made = list.replacing("allowCredentials", with: "excludeCredentials")
        #expect(
            WebAuthnRequest(try step(#"{"_action":"webauthn_registration","challenge":"AA==","userId":"AA==",\#(made)}"#)) == nil)
    }

    @Test(
        "A list with an unreadable entry in a script makes the whole request unreadable",
        arguments: ["known", "[{ id: known }]", "[{ id: [1] }, { id: [999] }]", "[{ id: [1]"])
    func refusesScriptListWithUnreadableEntry(list: String) throws {
        let sign =
            "var acceptableCredentials = \(list); var o = { challenge: new Int8Array([4]), allowCredentials: acceptableCredentials };"
        #expect(WebAuthnRequest(try step("", script: sign)) == nil)
        let make = "challenge: [1], user: { id: 'x' }, pubKeyCredParams: [{ alg: -7 }], excludeCredentials: \(list)"
        #expect(WebAuthnRequest(try step("", script: make)) == nil)
        #expect(WebAuthnRequest(try step("", script: make.replacing(list, with: "[]"))) != nil)
    }

    @Test("A truncated script or another script gives no request and causes no crash")
    func ignoresBrokenScripts() throws {
        let script = #"challenge: new Int8Array([1]), pubKeyCredParams: [{"alg": -7}], user: { id: Uint8Array.from("x") }, rp: {"#
        for length in 0...script.utf8.count { _ = WebAuthnRequest(try step("", script: String(script.prefix(length)))) }
        for script in ["challenge", "challenge:", "challenge: [", "challenge: [999]", "challenge: [[[[", "challenge: []"] {
            #expect(WebAuthnRequest(try step("", script: script)) == nil)
        }
    }

    private static let attestation = WebAuthnAttestation(
        clientDataJSON: Array(#"{"type":"webauthn.create"}"#.utf8), attestationObject: [1, 255, 128], credentialID: [251, 255],
        attachment: "cross-platform")
    private static let assertion = WebAuthnAssertion(
        clientDataJSON: Array(#"{"type":"webauthn.get"}"#.utf8), authenticatorData: [0, 200], signature: [3, 253],
        credentialID: [251, 255], userHandle: Array("mira".utf8))

    @Test(
        "An outcome is written as AM reads it",
        arguments: [
            (.attestation(attestation, deviceName: nil), #"{"type":"webauthn.create"}::1,-1,-128::-_8"#),
            (.attestation(attestation, deviceName: "My::key"), #"{"type":"webauthn.create"}::1,-1,-128::-_8::My:key"#),
            (.assertion(assertion), #"{"type":"webauthn.get"}::0,-56::3,-3::-_8::mira"#),
            (.unsupported, "unsupported"), (.failure(WebAuthnError(.notAllowed, "no")), "ERROR::NotAllowedError:no"),
        ] as [(WebAuthnOutcome, String)])
    func writesOutcomes(outcome: WebAuthnOutcome, text: String) {
        #expect(outcome.text() == text)
    }

    @Test("A JSON outcome states the kind of authenticator if it is known")
    func outcomeStatesAttachment() throws {
        let made = try JSON.value(of: WebAuthnOutcome.attestation(Self.attestation, deviceName: nil).text(json: true).utf8)
        #expect(made["authenticatorAttachment"] == .string("cross-platform"))
        #expect(made["legacyData"] == .string(#"{"type":"webauthn.create"}::1,-1,-128::-_8"#))
        let signed = try JSON.value(of: WebAuthnOutcome.assertion(Self.assertion).text(json: true).utf8)
        #expect(signed["authenticatorAttachment"] == .null)
    }

    private struct Authenticator: WebAuthnAuthenticator {
        var failure: (any Error)?
        func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
            if let failure { throw failure }
            return WebAuthnTests.attestation
        }
        func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
            if let failure { throw failure }
            return WebAuthnTests.assertion
        }
    }

    @Test("A step is answered with the result or the error of the app's authenticator")
    func answersWithAuthenticator() async throws {
        func answer(_ authenticator: Authenticator?) async throws -> String? {
            var step = try step(Self.legacy.replacing(#","supportsJsonResponse":true"#, with: ""))
            try await step.answerWebAuthn(with: authenticator)
            return step.callbacks[1].input?[0].value.string
        }
        #expect(try await answer(Authenticator()) == #"{"type":"webauthn.create"}::1,-1,-128::-_8"#)
        #expect(try await answer(nil) == "unsupported")
        #expect(try await answer(Authenticator(failure: WebAuthnError(.timeout, "slow"))) == "ERROR::TimeoutError:slow")
        #expect(try await answer(Authenticator(failure: Unexpected())) == "ERROR::UnknownError:the authenticator failed")
        await #expect(throws: CancellationError.self) { try await answer(Authenticator(failure: CancellationError())) }
        var other = JourneyStep(authId: "a", callbacks: [])
        await #expect(throws: CallbackError.self) { try await other.answerWebAuthn(with: Authenticator()) }
    }
}
