import FRAuth
import Foundation
import SignetCore
import SignetTesting
import Testing

import struct SignetJourney.WebAuthnAssertion
import struct SignetJourney.WebAuthnAttestation
import struct SignetJourney.WebAuthnAuthentication
import protocol SignetJourney.WebAuthnAuthenticator
import struct SignetJourney.WebAuthnRegistration

@Suite("Passkey callbacks of FRAuth")
struct PasskeyCallbackTests {
    /// The members of a request in the form of AM 7.0.
    private static let login: [String: JSONValue] = [
        "_type": .string("WebAuthn"), "challenge": .string("AAAA"), "timeout": .string("6000"),
        "userVerification": .string("discouraged"), "relyingPartyId": .string(#"rpId: "example.test","#),
        "allowCredentials": .string(
            #"allowCredentials: [{ "type": "public-key", "id": new Int8Array([-87, 55]).buffer }]"#),
    ]
    /// The members of a request in the form of AM 7.1.
    private static let newLogin: [String: JSONValue] = login.merging([
        "_action": .string("webauthn_authentication"), "_relyingPartyId": .string("example.test"),
        "_allowCredentials": .array([
            .object(["type": .string("public-key"), "id": .array([.integer(-87), .integer(55)])])
        ]),
    ]) { $1 }
    private static let creation: [String: JSONValue] = [
        "_type": .string("WebAuthn"), "challenge": .string("AAAA"), "timeout": .string("60000"),
        "relyingPartyName": .string("Example"), "relyingPartyId": .string(#"id: "example.test","#),
        "attestationPreference": .string("none"), "displayName": .string("Demo"), "userName": .string("demo"),
        "userId": .string("dQ=="), "excludeCredentials": .string(""),
        "authenticatorSelection": .string(#"{"userVerification":"preferred","authenticatorAttachment":"platform"}"#),
        "pubKeyCredParams": .string(#"[ { "type": "public-key", "alg": -7 }, { "type": "public-key", "alg": -257 } ]"#),
    ]
    private static let newCreation: [String: JSONValue] = creation.merging([
        "_action": .string("webauthn_registration"), "_relyingPartyId": .string("example.test"),
        "_excludeCredentials": .array([]),
        "_pubKeyCredParams": .array([.object(["type": .string("public-key"), "alg": .integer(-7)])]),
        "_authenticatorSelection": .object(["userVerification": .string("required"), "requireResidentKey": .bool(true)]),
    ]) { $1 }

    private func json(_ members: [String: JSONValue]) throws -> [String: Any] {
        try callbackJSON("MetadataCallback", output: ["data": .object(members)], inputs: [])
    }

    @Test("A login request of each form is read")
    func readsLogin() throws {
        for members in [Self.login, Self.newLogin] {
            let callback = try WebAuthnAuthenticationCallback(json: json(members))
            #expect(callback._type == "WebAuthn" && callback.challenge == "AAAA" && callback.relyingPartyId == "example.test")
            #expect(callback.userVerification == .discouraged && callback.timeout == 6000 && !callback.supportsJsonResponse)
            #expect(callback.allowCredentials == [[0xA9, 55]] && callback.type == "WebAuthnAuthenticationCallback")
        }
        let json = try json(Self.newLogin.merging(["supportsJsonResponse": .bool(true)]) { $1 })
        #expect(try WebAuthnAuthenticationCallback(json: json).supportsJsonResponse)
    }

    /// A member that is replaced, or removed by nil, and the reason for the refusal.
    typealias Defect = (isNewer: Bool, member: String, value: JSONValue?, reason: String)

    @Test(
        "A login request that is incomplete or can't be read is refused with the reason",
        arguments: [
            (false, "userVerification", .string("invalid"), "Missing userVerification"),
            (false, "timeout", nil, "Missing timeout"), (false, "_type", nil, "Missing _type"),
            (false, "challenge", nil, "Missing challenge"), (false, "relyingPartyId", nil, "Missing relyingPartyId"),
            (false, "relyingPartyId", .string("example.test"), "Invalid relying party identifier"),
            (false, "allowCredentials", nil, "Missing allowCredentials"),
            (
                false, "allowCredentials", .string("[{ id: new Int8Array([999, 55]).buffer }]"),
                "Invalid allowCredentials byte"
            ),
            (true, "_allowCredentials", nil, "Missing allowCredentials"),
            (true, "_relyingPartyId", nil, "Missing relyingPartyId"),
        ] as [Defect])
    func refusesDefectiveLogin(defect: Defect) throws {
        var members = defect.isNewer ? Self.newLogin : Self.login
        members[defect.member] = defect.value
        let reason = try refusal(of: WebAuthnAuthenticationCallback.self, json(members))
        #expect(reason == defect.reason)
    }

    @Test("A registration request of each form is read")
    func readsRegistration() throws {
        let older = try WebAuthnRegistrationCallback(json: json(Self.creation))
        #expect(older._type == "WebAuthn" && older.relyingPartyName == "Example" && older.relyingPartyId == "example.test")
        #expect(older.attestationPreference == .none && older.displayName == "Demo" && older.userName == "demo")
        #expect(older.userId == "dQ==" && older.timeout == 60_000 && older.excludeCredentials.isEmpty)
        #expect(older.pubKeyCredAlg == [-7, -257] && older.authenticatorAttachment == .platform && !older.requireResidentKey)
        let newer = try WebAuthnRegistrationCallback(json: json(Self.newCreation))
        #expect(newer.userVerification == .required && newer.requireResidentKey && newer.authenticatorAttachment == .unspecified)
        #expect(newer.pubKeyCredParams.first?["type"] as? String == "public-key" && !newer.supportsJsonResponse)
        let json = try json(Self.newCreation.merging(["supportsJsonResponse": .bool(true)]) { $1 })
        #expect(try WebAuthnRegistrationCallback(json: json).supportsJsonResponse)
    }

    @Test("The passkeys that a user has are read in the form of AM 7.0, which has no brackets, and in that of AM 7.1")
    func readsExcludedPasskeys() throws {
        let id = { (bytes: String) in #"{ "type": "public-key", "id": new Int8Array([\#(bytes)]).buffer }"# }
        let older = Self.creation.merging(["excludeCredentials": .string("\(id("-8, -75")),\(id("-37, 41"))")]) { $1 }
        #expect(try WebAuthnRegistrationCallback(json: json(older)).excludeCredentials == [[0xF8, 0xB5], [0xDB, 41]])
        let listed = JSONValue.array([
            .object(["type": .string("public-key"), "id": .array([.integer(-37), .integer(41)])])
        ])
        let newer = Self.newCreation.merging(["_excludeCredentials": listed]) { $1 }
        #expect(try WebAuthnRegistrationCallback(json: json(newer)).excludeCredentials == [[0xDB, 41]])
    }

    @Test(
        "A registration request that is incomplete or can't be read is refused with the reason",
        arguments: [
            (false, "attestationPreference", nil, "Missing attestationPreference"),
            (false, "relyingPartyName", nil, "Missing relyingPartyName"), (false, "displayName", nil, "Missing displayName"),
            (false, "userName", nil, "Missing userName"), (false, "userId", nil, "Missing userId"),
            (false, "_type", nil, "Missing or invalid _type"), (false, "timeout", nil, "Missing timeout"),
            (false, "challenge", nil, "Missing challenge"), (false, "relyingPartyId", nil, "Missing relyingPartyId"),
            (false, "relyingPartyId", .string("example.test"), "Invalid relying party identifier"),
            (false, "authenticatorSelection", nil, "Missing authenticatorSelection"),
            (false, "pubKeyCredParams", nil, "Missing pubKeyCredParams"),
            (
                false, "pubKeyCredParams", .string(#"[{ "type": "public-key", "alg": 7 }]"#),
                "Invalid pubKeyCredParams format"
            ),
            (
                false, "excludeCredentials", .string("{ id: new Int8Array([999, 55]).buffer }"),
                "Invalid excludeCredentials byte"
            ),
            (
                false, "authenticatorSelection", .string(#"{"authenticatorAttachment":"cross-platform"}"#),
                "Unsupported Authenticator Attachment type"
            ),
            (true, "_authenticatorSelection", nil, "Missing authenticatorSelection"),
            (
                true, "_authenticatorSelection", .object(["authenticatorAttachment": .string("cross-platform")]),
                "Unsupported Authenticator Attachment type"
            ),
            (true, "_relyingPartyId", nil, "Missing relyingPartyId"),
            (true, "_pubKeyCredParams", .string("[]"), "Invalid pubKeyCredParams format"),
            (
                true, "_pubKeyCredParams", .array([.object(["type": .string("public-key"), "alg": .integer(257)])]),
                "Invalid pubKeyCredParams format"
            ),
        ] as [Defect])
    func refusesDefectiveRegistration(defect: Defect) throws {
        var members = defect.isNewer ? Self.newCreation : Self.creation
        members[defect.member] = defect.value
        let reason = try refusal(of: WebAuthnRegistrationCallback.self, json(members))
        #expect(reason == defect.reason)
    }

    // MARK: Answers

    /// An authenticator that makes passkeys, and whose user refuses logins.
    private struct Passkeys: WebAuthnAuthenticator {
        func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
            #expect(request.relyingPartyID == "changed.test" && request.userVerification == .discouraged)
            return WebAuthnAttestation(clientDataJSON: Array("{}".utf8), attestationObject: [1], credentialID: [0, 0, 0])
        }
        func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
            throw SignetJourneyError.refused
        }
    }

    private enum SignetJourneyError: Error { case refused }

    private final class Consent: PlatformAuthenticatorRegistrationDelegate {
        let result: WebAuthnUserConsentResult
        init(_ result: WebAuthnUserConsentResult) { self.result = result }
        func excludeCredentialDescriptorConsent(consentCallback: @escaping WebAuthnUserConsentCallback) {}
        func createNewCredentialConsent(
            keyName: String, rpName: String, rpId: String?, userName: String, userDisplayName: String,
            consentCallback: @escaping WebAuthnUserConsentCallback
        ) {
            #expect(rpName == "Example" && rpId == "changed.test" && userName == "demo" && userDisplayName == "Demo")
            consentCallback(result)
        }
    }

    private func step(_ members: [String: JSONValue]) -> String {
        let metadata = JSONValue.object([
            "type": .string("MetadataCallback"),
            "output": .array([.object(["name": .string("data"), "value": .object(members)])]),
        ])
        return JSON.text(of: metadata)
            + #",{"type":"HiddenValueCallback","output":[{"name":"id","value":"webAuthnOutcome"}],"input":[{"name":"IDToken2","value":""}]}"#
    }

    /// Registers with closures and returns what was reported and what was sent.
    private func register(
        _ authenticator: (any WebAuthnAuthenticator)?, _ delegate: Consent?
    ) async throws -> (reported: String, sent: [JSONValue]) {
        let journey = try ScriptedSteps(step(Self.newCreation))
        let node = try await journey.start()
        let callback = try #require(node.callbacks.first as? WebAuthnRegistrationCallback)
        callback.relyingPartyId = "changed.test"
        callback.userVerification = .discouraged
        callback.authenticator = authenticator
        callback.delegate = delegate
        let reported = await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
            callback.register(
                node: node, onSuccess: { done.resume(returning: $0) },
                onError: { done.resume(returning: "\(($0 as NSError).code)") })
        }
        return (reported, inputs(of: try await journey.finish(node)))
    }

    @Test("A passkey is created with closures, after the delegate's consent, with the values that the app changed")
    func createsPasskeyWithClosures() async throws {
        for delegate in [nil, Consent(.allow)] {
            let (reported, sent) = try await register(Passkeys(), delegate)
            #expect(reported == "{}::1::AAAA" && sent == [.string("{}::1::AAAA")])
        }
        let (refused, sent) = try await register(Passkeys(), Consent(.reject))
        #expect(refused == "1600007" && sent == [.string("ERROR::NotAllowedError:")])
    }

    @Test("Without an authenticator, the closures get the error and the server learns about it")
    func reportsMissingAuthenticator() async throws {
        let (reported, sent) = try await register(nil, Consent(.allow))
        #expect(reported == "1600008" && sent == [.string("unsupported")])
        let callback = try WebAuthnAuthenticationCallback(json: json(Self.newLogin))
        callback.authenticator = Passkeys()
        let code = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
            callback.authenticate(
                onSuccess: { _ in done.resume(returning: 0) }, onError: { done.resume(returning: ($0 as NSError).code) })
        }
        #expect(code == 1_600_099)
    }

    @Test("A request for a security key reaches the app as metadata, and the app answers it through the node")
    func handsOverSecurityKeyRequest() async throws {
        let selection: [String: JSONValue] = [
            "_authenticatorSelection": .object([
                "authenticatorAttachment": .string("cross-platform"), "userVerification": .string("discouraged"),
            ]),
            "_relyingPartyId": .string("changed.test"),
        ]
        let journey = try ScriptedSteps(step(Self.newCreation.merging(selection) { $1 }))
        let node = try await journey.start()
        #expect(node.callbacks.first is MetadataCallback && !(node.callbacks.first is WebAuthnCallback))
        _ = try await node.answer { try await $0.answerWebAuthn(with: Passkeys()) }
        #expect(inputs(of: try await journey.finish(node)) == [.string("{}::1::AAAA")])
    }

    @Test("The SDK itself holds no passkeys")
    func holdsNoPasskeys() {
        FRWebAuthn.deleteCredentials(by: "example.test")
        #expect(FRWebAuthn.loadAllCredentials(by: "example.test").isEmpty)
    }

    @Test(
        "WebAuthnError has the ForgeRock SDK's domain, codes and outcomes",
        arguments: [
            (WebAuthnError.badData, 1_600_001, "ERROR::DataError:"),
            (WebAuthnError.badOperation, 1_600_002, "ERROR::UnknownError:"),
            (WebAuthnError.invalidState, 1_600_003, "ERROR::InvalidStateError:"),
            (WebAuthnError.constraint, 1_600_004, "ERROR::ConstraintError:"),
            (WebAuthnError.cancelled, 1_600_005, "ERROR::UnknownError:"),
            (WebAuthnError.timeout, 1_600_006, "ERROR::TimeoutError:"),
            (WebAuthnError.notAllowed, 1_600_007, "ERROR::NotAllowedError:"),
            (WebAuthnError.unsupported, 1_600_008, "unsupported"), (WebAuthnError.unknown, 1_600_099, "ERROR::UnknownError:"),
        ] as [(@Sendable ((any Error)?, String?) -> WebAuthnError, Int, String)])
    func numbersWebAuthnErrors(make: @Sendable ((any Error)?, String?) -> WebAuthnError, code: Int, outcome: String) {
        let error = make(nil, nil)
        #expect(WebAuthnError.errorDomain == "com.forgerock.ios.frauth.webauthn")
        #expect(error.code == code && (error as NSError).code == code && error.parseErrorCode() == code)
        #expect(error.convertToWebAuthnOutcome() == outcome && error.platformError() == nil && error.message() == nil)
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
        let detailed = make(Unexpected(), "why")
        #expect(detailed.message() == "why" && detailed.platformError() is Unexpected)
        #expect(detailed.localizedDescription.hasSuffix("why"))
    }
}
