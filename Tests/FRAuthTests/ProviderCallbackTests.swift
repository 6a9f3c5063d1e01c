import FRAuth
import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite("Callbacks for identity providers, reCAPTCHA, PingOne Protect and app integrity")
struct ProviderCallbackTests {
    private static let provider: [String: JSONValue] = [
        "provider": .string("google"), "clientId": .string("c"), "redirectUri": .string("https://am.example.test/am"),
        "scopes": .array([.string("openid"), .string("email")]), "nonce": .string("n"), "acrValues": .array([]),
        "request": .string(""), "requestUri": .string(""),
    ]

    private func idp(_ change: (inout [String: JSONValue]) -> Void = { _ in }) throws -> [String: Any] {
        var output = Self.provider
        change(&output)
        return try callbackJSON("IdPCallback", output: output, inputs: ["token", "token_type"])
    }

    @Test("IdPCallback exposes the parameters of the provider and enters the token and its type")
    func readsProvider() throws {
        let callback = try IdPCallback(json: idp())
        let client = callback.idpClient
        #expect(client.provider == "google" && client.clientId == "c" && client.redirectUri == "https://am.example.test/am")
        #expect(client.scopes == ["openid", "email"] && client.nonce == "n" && client.acrValues == [])
        #expect(client.request == "" && client.requestUri == "" && !client.acceptsJSON)
        callback.setToken("t")
        callback.setTokenType("authorization_code")
        let inputs = try #require(callback.buildResponse()["input"] as? [[String: String]])
        let values = inputs.map { $0["value"] }
        #expect(values == ["t", "authorization_code"])
    }

    @Test(
        "IdPCallback without a provider, a client or a redirect URI is refused",
        arguments: [
            ("provider", "Missing provider value"), ("clientId", "Missing client_id value"),
            ("redirectUri", "Missing redirect_uri value"),
        ])
    func refusesIncompleteProvider(member: String, reason: String) throws {
        let json = try idp { $0[member] = nil }
        #expect(try refusal(of: IdPCallback.self, json) == reason)
    }

    @Test("A login with a provider fails with the ForgeRock SDK's error when there is no handler for it")
    func reportsMissingHandler() throws {
        for (provider, error) in [
            ("custom", SocialLoginError.missingIdPHandler),
            ("apple-ios", .notSupported("Sign in with Apple needs a handler of the app")),
        ] {
            let callback = try IdPCallback(json: idp { $0["provider"] = .string(provider) })
            var reported: [String] = []
            callback.signIn { token, type, failure in
                reported.append("\(token == nil) \(type == nil) \(failure as? SocialLoginError == error)")
            }
            #expect(reported == ["true true true"])
            #expect(callback.inputValues.isEmpty)
        }
    }

    @Test("IdPClient and IdPValue can be created by an app")
    func createsProviderValues() {
        let plain = IdPClient(
            provider: "p", clientId: "c", redirectUri: "r://", scopes: nil, nonce: nil, acrValues: nil, request: nil,
            requestUri: nil)
        #expect(plain.provider == "p" && plain.clientId == "c" && plain.redirectUri == "r://" && plain.scopes == nil)
        #expect(plain.nonce == nil && plain.acrValues == nil && plain.request == nil && plain.requestUri == nil)
        var full = IdPClient(
            provider: "p", clientId: "c", redirectUri: "r://", scopes: ["a", "b"], nonce: "n", acrValues: ["x"], request: "q",
            requestUri: "u://")
        full.acceptsJSON = true
        #expect(full.scopes == ["a", "b"] && full.nonce == "n" && full.acrValues == ["x"] && full.acceptsJSON)
        #expect(full.request == "q" && full.requestUri == "u://")
        #expect(IdPValue(provider: "p", uiConfig: nil).uiConfig == nil)
        let value = IdPValue(provider: "p", uiConfig: ["logo": "l", "key": "v"])
        #expect(value.provider == "p" && value.uiConfig == ["logo": "l", "key": "v"])
    }

    @Test("SelectIdPCallback exposes the providers with their settings and enters the selected one")
    func selectsProvider() throws {
        let providers = try JSON.value(
            of:
                #"[{"provider":"google","uiConfig":{"buttonDisplayName":"Google","x":"y"}},{"provider":"apple","uiConfig":{}},{"provider":"x"}]"#
                .utf8)
        let json = try callbackJSON("SelectIdPCallback", output: ["providers": providers, "value": .string("")], inputs: [""])
        let callback = try SelectIdPCallback(json: json)
        #expect(callback.providers.map(\.provider) == ["google", "apple", "x"] && callback.getValue() as? String == "")
        #expect(callback.providers[0].uiConfig == ["buttonDisplayName": "Google", "x": "y"])
        #expect(callback.providers[1].uiConfig == [:] && callback.providers[2].uiConfig == nil)
        for provider in callback.providers {
            callback.setProvider(provider: provider)
            let input = try #require((callback.buildResponse()["input"] as? [[String: String]])?.first)
            #expect(input == ["name": "IDToken1", "value": provider.provider])
        }
        let nameless = try callbackJSON(
            "SelectIdPCallback", output: ["providers": .array([.object(["uiConfig": .object([:])])])], inputs: [""])
        #expect(try refusal(of: SelectIdPCallback.self, nameless) == "Missing provider attribute")
    }

    @Test("AppleSignInHandler exists without Apple's login window and has the type of Apple's token")
    func hasAppleHandler() {
        #expect(AppleSignInHandler().tokenType == "id_token")
        #expect(AppleSignInHandler().getProviderButtonView() == nil)
    }

    // MARK: reCAPTCHA Enterprise

    private struct Captcha: RecaptchaClientProvider {
        let answer: Result<String?, RecaptchaError>
        func execute(siteKey: String, action: String, timeout: Double) async throws -> String? {
            #expect(siteKey == "s" && timeout == 15_000)
            return try answer.get()
        }
    }

    private func captcha() throws -> ReCaptchaEnterpriseCallback {
        try ReCaptchaEnterpriseCallback(
            json: callbackJSON(
                "ReCaptchaEnterpriseCallback", output: ["recaptchaSiteKey": .string("s")],
                inputs: ["token", "action", "clientError", "payload"]))
    }

    @Test("A reCAPTCHA Enterprise SDK of the app supplies the token, and its failure reaches the server")
    func entersRecaptchaToken() async throws {
        let callback = try captcha()
        callback.setPayload(["express": false, "n": ["a": 1]])
        try await callback.execute(action: "custom", recaptchaProvider: Captcha(answer: .success("t")))
        #expect(callback.tokenResult == "t" && callback.inputValues[callback.tokenKey] as? String == "t")
        #expect(callback.inputValues[callback.actionKey] as? String == "custom")
        #expect(callback.inputValues[callback.payloadKey] as? String == #"{"express":false,"n":{"a":1}}"#)
        for (provider, text) in [
            (Captcha(answer: .success(nil)), "INVALID_CAPTCHA_TOKEN"), (nil, "UNKNOWN_ERROR"),
            (Captcha(answer: .failure(RecaptchaError(errorCode: 9, errorMessage: "no network"))), "no network"),
        ] {
            let failing = try captcha()
            await #expect(throws: RecaptchaError.self) { try await failing.execute(recaptchaProvider: provider) }
            #expect(failing.inputValues[failing.clientErrorKey] as? String == text && failing.tokenResult.isEmpty)
        }
    }

    // MARK: PingOne Protect

    @Test("PingOne Protect fails without its SDK, and the server learns about it")
    func reportsMissingProtectSDK() throws {
        let start = try PingOneProtectInitializeCallback(
            json: callbackJSON(
                "PingOneProtectInitializeCallback", output: ["envId": .string("e"), "agentTimeout": .integer(200)],
                inputs: ["clientError"]))
        #expect(!start.derivedCallback && start.outputValues["envId"] as? String == "e" && start.agentTimeout == 200)
        #expect(start.behavioralDataCollection && !start.enableTrust && !start.agentIdentification && start.agentPort == nil)
        let evaluation = try PingOneProtectEvaluationCallback(
            json: callbackJSON(
                "PingOneProtectEvaluationCallback", output: ["pauseBehavioralData": .bool(true)],
                inputs: ["signals", "clientError"]))
        var failures: [String] = []
        let completion: ProtectResultCallback = {
            if case .failure(let error) = $0 { failures.append("\(error.domain) \(error.code)") }
        }
        start.start(completion: completion)
        evaluation.getData(completion: completion)
        #expect(failures == ["com.forgerock.ios.PingProtect 1", "com.forgerock.ios.PingProtect 1"])
        #expect((start.inputValues["IDToken1clientError"] as? String)?.isEmpty == false)
        #expect((evaluation.inputValues["IDToken1clientError"] as? String)?.isEmpty == false)
        let metadata = try untyped(
            #"""
            {"type":"MetadataCallback","output":[{"name":"data","value":{"_type":"PingOneProtect","_action":"protect_initialize",
            "envId":"e"}}]}
            """#)
        #expect(ProtectCallback.isDerivedCallback(metadata) && !ProtectCallback.isDerivedCallback([:]))
        let derived = try PingOneProtectInitializeCallback(json: metadata)
        #expect(derived.derivedCallback && derived.envId == "e" && derived.outputNames == ["_action", "_type", "envId"])
    }

    // MARK: App integrity

    private struct Attestation: FRAppAttestation {
        let answer: Result<FRAppIntegrityKeys, any Error>
        func requestIntegrityToken(challenge: String, payload: String?) async throws -> FRAppIntegrityKeys {
            #expect(challenge == "c" && payload == "p")
            return try answer.get()
        }
    }

    private func integrity(challenge: String = "c", attestToken: String = "") throws -> FRAppIntegrityCallback {
        try FRAppIntegrityCallback(
            json: callbackJSON(
                "AppIntegrityCallback", output: ["challenge": .string(challenge), "attestToken": .string(attestToken)],
                inputs: ["clientError", "attestToken", "token", "clientData", "keyId"]))
    }

    @Test("FRAppIntegrityCallback exposes the challenge and enters each part under the server's name")
    func fillsIntegrityInputs() throws {
        let callback = try integrity()
        #expect(callback.challenge == "c" && callback.type == "AppIntegrityCallback" && callback.payload == nil)
        #expect(!callback.isAttestationCompleted())
        callback.setClientError("e")
        callback.setkeyId("k")
        callback.setPayload("p")
        callback.setAssertion("a")
        callback.setAttestation("t")
        callback.setClientData("d")
        #expect(
            callback.inputValues as? [String: String] == [
                "IDToken1keyId": "k", "IDToken1clientData": "d", "IDToken1token": "a", "IDToken1attestToken": "t",
                "IDToken1clientError": "e",
            ])
        #expect(callback.payload == "p")
        #expect(try integrity(attestToken: "k::a").isAttestationCompleted())
    }

    @Test("An attestation service of the app supplies the token, and its failure reaches the server")
    func entersIntegrityToken() async throws {
        let keys = FRAppIntegrityKeys(attestKey: "t", assertKey: "a", keyIdentifier: "k", clientDataHash: "d")
        #expect(keys.appAttestKey == "t" && keys.assertKey == "a" && keys.keyIdentifier == "k" && keys.clientDataHash == "d")
        let callback = try integrity()
        callback.setPayload("p")
        try await callback.requestIntegrityToken(from: Attestation(answer: .success(keys)))
        let values = callback.inputValues.values.compactMap { $0 as? String }
        #expect(values.sorted() == ["a", "d", "k", "t"])
        #expect(callback.appIntegritykeys == keys && callback.isAttestationCompleted())
        let failures: [(any Error, FRDeviceCheckAPIFailure, String)] = [
            (FRDeviceCheckAPIFailure.invalidClientData, .invalidClientData, "ClientDeviceErrors"),
            (Unexpected(), .unknownError, "ClientDeviceErrors"),
            (FRDeviceCheckAPIFailure.featureUnsupported, .featureUnsupported, "Unsupported"),
        ]
        for (failure, thrown, clientError) in failures {
            let failing = try integrity()
            failing.setPayload("p")
            await #expect(throws: thrown) {
                try await failing.requestIntegrityToken(from: Attestation(answer: .failure(failure)))
            }
            #expect(failing.inputValues as? [String: String] == ["IDToken1clientError": clientError])
        }
        let empty = try integrity(challenge: "")
        await #expect(throws: FRDeviceCheckAPIFailure.invalidChallenge) {
            try await empty.requestIntegrityToken(from: Attestation(answer: .success(keys)))
        }
    }

    @Test("Without an attestation service, the request fails as unsupported and the server learns about it")
    func reportsUnsupportedIntegrity() async throws {
        let callback = try integrity()
        await #expect(throws: FRDeviceCheckAPIFailure.featureUnsupported) { try await callback.requestIntegrityToken() }
        #expect(callback.inputValues as? [String: String] == ["IDToken1clientError": "Unsupported"])
        let other = try integrity()
        var reported: [FRDeviceCheckAPIFailure?] = []
        other.requestIntegrityToken { reported.append($0 as? FRDeviceCheckAPIFailure) }
        #expect(reported == [.featureUnsupported])
        #expect(other.inputValues as? [String: String] == ["IDToken1clientError": "Unsupported"])
    }

    // MARK: Errors

    @Test(
        "SocialLoginError has the ForgeRock SDK's domain and codes",
        arguments: [
            (SocialLoginError.notSupported("why"), 1_600_000, "why"), (.unsupportedCredentials("why"), 1_600_001, "why"),
            (.cancelled, 1_600_002, "Operation is cancelled"), (.missingIdPHandler, 1_600_003, "IdPHandler"),
        ])
    func numbersSocialLoginErrors(error: SocialLoginError, code: Int, text: String) {
        #expect(SocialLoginError.errorDomain == "com.forgerock.ios.frauth.sociallogin")
        #expect(error.code == code && error.errorCode == code && error.parseErrorCode() == code)
        #expect((error as NSError).code == code && (error as NSError).domain == SocialLoginError.errorDomain)
        #expect(error.localizedDescription.contains(text))
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
    }
}
