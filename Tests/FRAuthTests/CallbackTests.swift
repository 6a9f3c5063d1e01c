import FRAuth
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

import struct SignetJourney.DeviceProfile
import struct SignetJourney.WebAuthnAssertion
import struct SignetJourney.WebAuthnAttestation
import struct SignetJourney.WebAuthnAuthentication
import protocol SignetJourney.WebAuthnAuthenticator
import struct SignetJourney.WebAuthnError
import struct SignetJourney.WebAuthnRegistration

/// Tests of the callback classes: protocol/journey.md sections 2.6 and 2.7.
@Suite("Callback classes of FRAuth")
struct CallbackTests {
    /// Returns a step with these callbacks, and a function that answers it and returns the inputs sent.
    private func node(_ callbacks: String) async throws -> (node: Node, sent: () async throws -> [JSONValue]) {
        let transport = ScriptedTransport { _ in
            HTTPResponse(status: 200, body: Array(#"{"authId":"a","callbacks":[\#(callbacks)]}"#.utf8))
        }
        let service = try AuthService(
            name: "Login", options: FROptions(url: "https://am.example.test/am", realm: "root"), transport: transport)
        guard case .node(let node) = try await service.next(Token.self) else { throw Unexpected() }
        return (
            node,
            {
                _ = try await node.next(Token.self)
                let body = try JSON.value(of: transport.requests.last?.body ?? [])
                return (body["callbacks"]?.array ?? []).flatMap { $0["input"]?.array ?? [] }.map { $0["value"] ?? .null }
            }
        )
    }

    private func input(_ endings: String..., value: String = #""""#) -> String {
        endings.map { #"{"name":"IDToken1\#($0)","value":\#(value)}"# }.joined(separator: ",")
    }

    @Test("ChoiceCallback accepts only a choice that the server offers")
    func acceptsOnlyOfferedChoice() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"ChoiceCallback","output":[{"name":"prompt","value":"p"},{"name":"choices","value":["a","b"]}],
            "input":[\#(input("", value: "0"))]}
            """#)
        let choice = try #require(node.callbacks.first as? ChoiceCallback)
        for wrong in [2, -1, "2", "b", true, 1.5] as [Any] { choice.setValue(wrong) }
        let untyped: SingleValueCallback = choice
        untyped.setValue(7)
        #expect(choice.getValue() as? Int == 0)
        untyped.setValue("1")
        #expect(try await sent() == [.integer(1)])
    }

    @Test(
        "KbaCreateCallback allows the user's own question unless the server forbids it", arguments: ["true", "false", nil])
    func allowsOwnSecurityQuestion(response: String?) async throws {
        let output =
            #"{"name":"predefinedQuestions","value":["Color?"]}"#
            + (response.map { #",{"name":"allowUserDefinedQuestions","value":\#($0)}"# } ?? "")
        let (node, _) = try await node(
            #"{"type":"KbaCreateCallback","output":[\#(output)],"input":[\#(input("question", "answer"))]}"#)
        #expect(try #require(node.callbacks.first as? KbaCreateCallback).allowUserDefinedQuestions == (response != "false"))
    }

    @Test("Callbacks without an entry send back the values that the server proposes")
    func sendsProposedValuesWithoutEntry() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"TextInputCallback","output":[{"name":"prompt","value":"p"},{"name":"defaultText","value":"none"}],"input":[\#(input(""))]},
            {"type":"ChoiceCallback","output":[{"name":"prompt","value":"p"},{"name":"choices","value":["a","b"]},
            {"name":"defaultChoice","value":1}],"input":[{"name":"IDToken2","value":0}]}
            """#)
        #expect((node.callbacks[0] as? TextInputCallback)?.getValue() as? String == "none")
        #expect((node.callbacks[1] as? ChoiceCallback)?.getValue() as? Int == 1)
        #expect(try await sent() == [.string("none"), .integer(1)])
    }

    private struct Provider: IdPHandler {
        let tokenType = "authorization_code"
        let answer: Result<String, Unexpected>
        func signIn(idpClient: IdPClient, completion: @escaping SocialLoginCompletionCallback) {
            #expect(idpClient.provider == "google" && idpClient.clientId == "c")
            switch answer {
            case .success(let token): completion(token, tokenType, nil)
            case .failure(let error): completion(nil, nil, error)
            }
        }
    }

    @Test("IdPCallback enters the result of the app's own handler, and nothing when the handler fails")
    func entersResultOfProviderHandler() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"IdPCallback","output":[{"name":"provider","value":"google"},{"name":"clientId","value":"c"},
            {"name":"redirectUri","value":"r"}],"input":[\#(input("token", "token_type"))]}
            """#)
        let callback = try #require(node.callbacks.first as? IdPCallback)
        await #expect(throws: Unexpected.self) { try await callback.signIn(handler: Provider(answer: .failure(Unexpected()))) }
        await #expect(throws: SocialLoginError.self) { try await callback.signIn(handler: Provider(answer: .success(""))) }
        try await callback.signIn(handler: Provider(answer: .success("code-1")))
        #expect(try await sent() == [.string("code-1"), .string("authorization_code")])
    }

    @Test(
        "The device reports only the properties that the server asks for",
        .enabled(if: FRDevice.currentDevice != nil, "this machine has no id of its own (/etc/machine-id)"))
    func reportsRequestedDeviceProperties() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"DeviceProfileCallback","output":[{"name":"metadata","value":false},{"name":"location","value":true}],
            "input":[\#(input(""))]}
            """#)
        let device = try #require(FRDevice.currentDevice)
        let profile = await device.getProfile()
        #expect(profile.identifier == device.identifier.getIdentifier())
        #expect(FRDevice.currentDevice?.identifier == device.identifier)
        #expect(try #require(node.callbacks.first as? DeviceProfileCallback).execute() == profile)
        #expect(try await sent() == [.string(#"{"identifier":"\#(device.identifier.getIdentifier())"}"#)])
    }

    @Test("SelectIdPCallback accepts only a provider that is offered, and keeps the server's UI settings")
    func acceptsOnlyOfferedProvider() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"SelectIdPCallback","output":[{"name":"providers","value":[{"provider":"google","uiConfig":
            {"buttonDisplayName":"Google"}},{"provider":"localAuthentication"}]}],"input":[{"name":"IDToken1","value":""}]},
            {"type":"IdPCallback","output":[{"name":"provider","value":"google"},{"name":"clientId","value":"c"},
            {"name":"redirectUri","value":"r"},{"name":"scopes","value":["openid"]},{"name":"acceptsJSON","value":true}],
            "input":[{"name":"IDToken2token","value":""},{"name":"IDToken2token_type","value":""}]}
            """#)
        let select = try #require(node.callbacks[0] as? SelectIdPCallback)
        #expect(select.providers.map(\.provider) == ["google", "localAuthentication"])
        #expect(select.providers[0].uiConfig == ["buttonDisplayName": "Google"])
        select.setProvider(provider: select.providers[0])
        select.setValue("nobody")
        let provider = try #require(node.callbacks[1] as? IdPCallback)
        #expect(provider.idpClient.clientId == "c" && provider.idpClient.scopes == ["openid"] && provider.idpClient.acceptsJSON)
        #expect(provider.idpClient.nonce == nil)
        provider.setToken("t")
        provider.setTokenType("id_token")
        #expect(try await sent() == [.string("google"), .string("t"), .string("id_token")])
    }

    @Test("ConsentMappingCallback exposes every property of the consent")
    func exposesWholeConsent() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"ConsentMappingCallback","output":[{"name":"name","value":"n"},{"name":"displayName","value":"d"},
            {"name":"icon","value":"i"},{"name":"accessLevel","value":"l"},{"name":"isRequired","value":true},
            {"name":"message","value":"m"},{"name":"fields","value":["f"]}],"input":[{"name":"IDToken1","value":false}]}
            """#)
        let consent = try #require(node.callbacks[0] as? ConsentMappingCallback)
        #expect(
            [consent.name, consent.displayName, consent.icon, consent.accessLevel, consent.message] == ["n", "d", "i", "l", "m"])
        #expect(consent.isRequired && consent.fields == ["f"])
        consent.setValue(true)
        #expect(try await sent() == [.bool(true)])
    }

    @Test("Device binding callbacks expose the texts to show and the challenge to sign")
    func exposesDeviceBindingTextsAndChallenge() async throws {
        let shown = ["challenge", "title", "subtitle", "description"].map { #"{"name":"\#($0)","value":"\#($0)"}"# }
        let (node, sent) = try await node(
            #"""
            {"type":"DeviceBindingCallback","output":[{"name":"userId","value":"u"},{"name":"username","value":"n"},
            {"name":"authenticationType","value":"APPLICATION_PIN"},{"name":"timeout","value":30},\#(shown.joined(separator: ","))],
            "input":[\#(input("jws", "deviceName", "deviceId", "clientError"))]},
            {"type":"DeviceSigningVerifierCallback","output":[{"name":"userId","value":""},\#(shown.joined(separator: ","))],
            "input":[\#(input("jws", "clientError"))]}
            """#)
        let binding = try #require(node.callbacks[0] as? DeviceBindingCallback)
        #expect(binding.userId == "u" && binding.userName == "n" && binding.timeout == 30)
        #expect(binding.deviceBindingAuthenticationType == .applicationPin)
        #expect(
            [binding.challenge, binding.title, binding.subtitle, binding.promptDescription] == [
                "challenge", "title", "subtitle", "description",
            ])
        binding.setJws("j")
        binding.setDeviceName("d")
        binding.setDeviceId("i")
        let signing = try #require(node.callbacks[1] as? DeviceSigningVerifierCallback)
        #expect(signing.userId == nil && signing.timeout == nil && signing.challenge == "challenge")
        signing.setClientError("Abort")
        #expect(try await sent().compactMap(\.string) == ["j", "d", "i", "", "", "Abort"])
    }

    @Test("DeviceProfileCallback collects only the parts that the server asks for")
    func collectsRequestedDeviceProfile() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"DeviceProfileCallback","output":[{"name":"metadata","value":false},{"name":"location","value":true},
            {"name":"message","value":"m"}],"input":[\#(input(""))]}
            """#)
        let callback = try #require(node.callbacks[0] as? DeviceProfileCallback)
        #expect(!callback.metadataRequired && callback.locationRequired && callback.message == "m")
        callback.setProfile(
            DeviceProfile(identifier: "i", metadata: ["x": .null], location: .init(latitude: 1.5, longitude: 2.5)))
        let text = try #require(try await sent().first?.string)
        #expect(
            try JSON.value(of: text.utf8)
                == JSON.value(of: #"{"identifier":"i","location":{"latitude":1.5,"longitude":2.5}}"#.utf8))
    }

    @Test("App integrity and reCAPTCHA Enterprise callbacks fill the inputs that the server names")
    func fillsIntegrityAndRecaptchaInputs() async throws {
        let (node, sent) = try await node(
            #"""
            {"type":"AppIntegrityCallback","output":[{"name":"challenge","value":"c"},{"name":"attestToken","value":"k::a"}],
            "input":[\#(input("attestToken", "token", "clientData", "keyId", "clientError"))]},
            {"type":"ReCaptchaEnterpriseCallback","output":[{"name":"recaptchaSiteKey","value":"s"}],
            "input":[\#(input("token", "action", "clientError", "payload"))]}
            """#)
        let integrity = try #require(node.callbacks[0] as? FRAppIntegrityCallback)
        #expect(integrity.challenge == "c" && integrity.attestToken == "k::a")
        integrity.setAttestation("1")
        integrity.setAssertion("2")
        integrity.setClientData("3")
        integrity.setkeyId("4")
        let captcha = try #require(node.callbacks[1] as? ReCaptchaEnterpriseCallback)
        captcha.setToken("5")
        captcha.setAction("login")
        captcha.setPayload(["a": 1])
        #expect(try await sent().compactMap(\.string) == ["1", "2", "3", "4", "", "5", "login", "", #"{"a":1}"#])
    }

    @Test("PingOne Protect works as a callback of its own, or as metadata with hidden values")
    func answersProtectInCallbackOrMetadata() async throws {
        let (own, ownSent) = try await node(
            #"""
            {"type":"PingOneProtectInitializeCallback","output":[{"name":"envId","value":"e"},{"name":"lazyMetadata","value":true},
            {"name":"deviceAttributesToIgnore","value":["x"]},{"name":"agentPort","value":9400}],"input":[\#(input("clientError"))]},
            {"type":"PingOneProtectEvaluationCallback","output":[{"name":"pauseBehavioralData","value":true}],
            "input":[\#(input("signals", "clientError"))]}
            """#)
        let start = try #require(own.callbacks[0] as? PingOneProtectInitializeCallback)
        #expect(start.envId == "e" && start.lazyMetadata && start.deviceAttributesToIgnore == ["x"] && start.agentPort == "9400")
        #expect(start.behavioralDataCollection && start.deviceKeyRsyncIntervals == 14 && !start.enableTrust)
        start.setClientError("no")
        let evaluation = try #require(own.callbacks[1] as? PingOneProtectEvaluationCallback)
        #expect(evaluation.pauseBehavioralData)
        evaluation.setSignals("seen")
        #expect(try await ownSent().compactMap(\.string) == ["no", "seen", ""])

        let hidden = ["clientError", "pingone_risk_evaluation_signals"].enumerated().map {
            #"{"type":"HiddenValueCallback","output":[{"name":"id","value":"\#($1)"}],"input":[{"name":"IDToken\#($0)","value":"\#($1)"}]}"#
        }
        let (derived, derivedSent) = try await node(
            #"""
            {"type":"MetadataCallback","output":[{"name":"data","value":{"_type":"PingOneProtect",
            "_action":"protect_risk_evaluation"}}]},\#(hidden.joined(separator: ","))
            """#)
        try #require(derived.callbacks[0] as? PingOneProtectEvaluationCallback).setSignals("seen")
        #expect(try await derivedSent().compactMap(\.string) == ["clientError", "seen"])
    }

    /// An authenticator that registers a passkey, and whose user refuses each login.
    private struct Passkeys: WebAuthnAuthenticator {
        func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
            WebAuthnAttestation(clientDataJSON: Array("{}".utf8), attestationObject: [1, 255], credentialID: [0, 0, 0])
        }
        func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
            throw WebAuthnError(.notAllowed, "no")
        }
    }

    private func passkey(_ data: String) -> String {
        #"""
        {"type":"MetadataCallback","output":[{"name":"data","value":{"_type":"WebAuthn","challenge":"AAAA",
        "_relyingPartyId":"example.test","timeout":"60000",\#(data)}}]},{"type":"HiddenValueCallback",
        "output":[{"name":"id","value":"webAuthnOutcome"}],"input":[{"name":"IDToken2","value":"webAuthnOutcome"}]}
        """#
    }

    @Test("A passkey registration enters its outcome into the step")
    func entersPasskeyRegistration() async throws {
        let (node, sent) = try await node(
            passkey(
                #"""
                "_action":"webauthn_registration","userId":"dQ==","userName":"u","displayName":"d","relyingPartyName":"r",
                "attestationPreference":"none","_pubKeyCredParams":[{"type":"public-key","alg":-7}],
                "_authenticatorSelection":{"requireResidentKey":true,"userVerification":"required"}
                """#))
        let callback = try #require(node.callbacks[0] as? WebAuthnRegistrationCallback)
        #expect(callback.relyingPartyId == "example.test" && callback.relyingPartyName == "r" && callback.userId == "dQ==")
        #expect(callback.userName == "u" && callback.displayName == "d" && callback.challenge == "AAAA")
        #expect(callback.requireResidentKey && callback.userVerification == .required && callback.timeout == 60_000)
        #expect(callback.pubKeyCredAlg == [-7] && callback.attestationPreference == .none && !callback.supportsJsonResponse)
        try await callback.register(node: node, authenticator: Passkeys(), deviceName: "key")
        #expect(try await sent() == [.string("{}::1,-1::AAAA::key")])
    }

    @Test("A passkey login reports a refusal, or a missing authenticator, to the server")
    func reportsPasskeyRefusal() async throws {
        let (node, sent) = try await node(
            passkey(
                #""_action":"webauthn_authentication","userVerification":"preferred","_allowCredentials":[{"type":"public-key","id":[1,-1]}]"#
            ))
        let callback = try #require(node.callbacks[0] as? WebAuthnAuthenticationCallback)
        #expect(callback.allowCredentials == [[1, 255]] && callback.userVerification == .preferred)
        try await callback.authenticate(node: node, authenticator: Passkeys())
        #expect(try await sent() == [.string("ERROR::NotAllowedError:no")])
        try await callback.authenticate(node: node, authenticator: nil)
        #expect(try await sent() == [.string("unsupported")])
    }

    @Test("MetadataCallback keeps metadata that only the app understands")
    func keepsMetadataOfApp() async throws {
        let (node, _) = try await node(
            #"{"type":"MetadataCallback","output":[{"name":"data","value":{"stage":"s","color":"blue"}}]}"#)
        let metadata = try #require(node.callbacks[0] as? MetadataCallback)
        #expect(metadata.data["color"] as? String == "blue" && !(metadata is WebAuthnCallback))
        #expect(node.stage == "s")
    }
}
