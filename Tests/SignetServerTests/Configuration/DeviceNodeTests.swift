import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Configured nodes for one-time codes and push")
struct CodeNodeTests {
    private static let login = "login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}"
    private static let mira = UserKey(realm: .root, name: "mira")

    @Test("A registration URI has the configured OATH settings, and the verifier node looks ahead as far as configured")
    func registersAndVerifiesConfiguredOATHDevice() async throws {
        let journeys = """
            Register:
              nodes:
                \(Self.login)
                next:
                  type: OathRegistrationNode
                  issuer: Harbor
                  bgColor: "112233"
                  imgUrl: https://example.test/logo.png
                  scanQRCodeMessage: {en: Scan me}
                  algorithm: HOTP
                  totpHashAlgorithm: HMAC_SHA256
                  passwordLength: EIGHT_DIGITS
                  minSharedSecretLength: 64
                  generateRecoveryCodes: false
                  outcomes: {successOutcome: success, failureOutcome: failure}
            Enter:
              nodes:
                \(Self.login)
                next:
                  type: OathTokenVerifierNode
                  hotpWindowSize: 3
                  outcomes: {successOutcome: success, default: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            #expect(try await server.logIn("Enter").message == "Login failure", "nothing is registered yet")
            let step = try await server.logIn("Register").step
            #expect(step.callbacks[0].output("message") == "Scan me")
            let enrollment = try EnrollmentURI.parse(try step.registrationURI)
            let settings = try #require(enrollment.oath)
            #expect(enrollment.account.issuer == "Harbor" && enrollment.backgroundColor?.hasSuffix("112233") == true)
            #expect(enrollment.imageURL == "https://example.test/logo.png")
            #expect(settings.algorithm == .sha256 && settings.digits == .eight && settings.secret.count == 32)
            #expect(try await server.next(step).isLoggedIn)
            func enter(_ counter: UInt64) async throws -> Bool {
                var step = try await server.logIn("Enter").step
                let code = HOTP.code(secret: settings.secret, counter: counter, digits: .eight, algorithm: .sha256)
                step.fill("NameCallback", .string(code))
                return try await server.next(step).isLoggedIn
            }
            #expect(try await !enter(4))
            #expect(try await enter(3))
            #expect(try await enter(7))
        }
    }

    @Test("A recovery code is shown once, works once, and only for the device that it was made for")
    func recoveryCodesBelongToDevice() async throws {
        let journeys = """
            Register:
              nodes:
                \(Self.login)
                next: {type: OathRegistrationNode, outcomes: {successOutcome: codes, failureOutcome: failure}}
                codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: again}}
                again: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
            Enter:
              nodes:
                \(Self.login)
                next:
                  type: OathTokenVerifierNode
                  isRecoveryCodeAllowed: true
                  outcomes: {successOutcome: failure, recoveryCodeOutcome: code, default: failure}
                code: {type: RecoveryCodeCollectorDecisionNode, recoveryCodeType: OATH, outcomes: {true: success, false: failure}}
            EnterPush:
              nodes:
                \(Self.login)
                next: {type: RecoveryCodeCollectorDecisionNode, recoveryCodeType: PUSH, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let shown = try await server.next(try await server.logIn("Register").step).step
            let script = try #require(shown.callbacks[0].output("message")?.string)
            #expect(shown.callbacks[0].output("messageType") == "4" && script.contains("Recovery Codes"))
            let codes = script.matches(of: #/"(\w{10})\\n"/#).map { String($0.output.1) }
            #expect(Set(codes).count == 10)
            #expect(try await server.next(shown).isLoggedIn)

            func enter(_ code: String, _ journey: String = "Enter") async throws -> Bool {
                var step = try await server.logIn(journey).step
                if journey == "Enter" {
                    step.fill("ConfirmationCallback", .integer(1))
                    step = try await server.next(step).step
                }
                step.fill("NameCallback", .string(code))
                return try await server.next(step).isLoggedIn
            }
            #expect(try await !enter(codes[0], "EnterPush"))
            #expect(try await enter(" \(codes[0]) "))
            #expect(try await !enter(codes[0]))
            #expect(try await !enter("AAAAAAAAAA"))
            #expect(try await enter(codes[1]))
            try await server.devServer.context.store.write { tx in
                let id = try tx.devices.oathDevice(of: Self.mira)?.resourceID ?? ""
                _ = try tx.devices.remove(.oath, id, of: Self.mira)
                tx.devices.save(EnrollmentStyle().newOATHDevice(), for: Self.mira)
            }
            #expect(try await !enter(codes[2]))
        }
    }

    @Test(
        "A push registration uses the configured settings, and its recovery codes work for each registered device",
        arguments: [false, true])
    func pushRegistrationUsesConfiguration(isCombined: Bool) async throws {
        let journeys = """
            Register:
              nodes:
                \(Self.login)
                next:
                  type: \(isCombined ? "CombinedMultiFactorRegistrationNode" : "PushRegistrationNode")
                  issuer: Harbor
                  timeout: 30
                  scanQRCodeMessage: Scan me
                  \(isCombined ? "totpTimeInterval: 60" : "")
                  outcomes: {successOutcome: codes, failureOutcome: failure, timeoutOutcome: failure}
                codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
            """
        let configure: (inout ServerConfiguration) -> Void = { $0.pollInterval = .seconds(15) }
        try await TestServer.run(journeys: journeys, configure) { server in
            let late = try await server.poll(try await server.logIn("Register").step).step
            #expect(try await server.poll(late).message == "Login failure", "the registration ends after 30 seconds")

            let step = try await server.logIn("Register").step
            #expect(step.callbacks[0].output("message") == "Scan me")
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            #expect(phone.enrollment.account.issuer == "Harbor")
            let factor: MovingFactor? = isCombined ? OTPPeriod(seconds: 60).map { .time(period: $0) } : nil
            #expect(phone.enrollment.oath?.factor == factor)
            #expect(try await phone.register(at: server).status == 200)
            let shown = try await server.poll(step).step
            #expect(shown.callbacks[0].output("message")?.string?.contains("<em>Push") == true)
            let script = shown.callbacks[0].output("message")?.string ?? ""
            let code = try #require(script.firstMatch(of: #/"(\w{10})\\n"/#)).output.1
            let redeemed = try await server.devServer.context.store.write { tx in
                try [DeviceKind.oath, .push].map { try tx.devices.redeem(String(code), for: $0, of: Self.mira) }
            }
            #expect(redeemed == [isCombined, true])
            #expect(try await server.next(shown).isLoggedIn)
        }
    }

    @Test(
        "A new push registration without recovery codes removes the recovery codes of the old device", arguments: [false, true])
    func newRegistrationRemovesRecoveryCodes(isCombined: Bool) async throws {
        let type = isCombined ? "CombinedMultiFactorRegistrationNode" : "PushRegistrationNode"
        func journey(_ name: String, _ kind: String, then next: String) -> String {
            """
            \(name):
              nodes:
                \(Self.login)
                next: {type: \(kind), generateRecoveryCodes: \(next == "codes"), outcomes: {successOutcome: \(next), default: failure}}

            """
        }
        let codes = "    codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}\n"
        let journeys =
            journey("Codes", "OathRegistrationNode", then: "codes") + codes + journey("PushCodes", type, then: "codes") + codes
            + journey("Again", type, then: "success")
        try await TestServer.run(journeys: journeys) { server in
            func code(_ shown: JourneyStep) throws -> String {
                let script = try #require(shown.callbacks[0].output("message")?.string)
                return String(try #require(script.firstMatch(of: #/"(\w{10})\\n"/#)).output.1)
            }
            var old: [DeviceKind: String] = [:]
            if isCombined {
                let shown = try await server.next(try await server.logIn("Codes").step).step
                old[.oath] = try code(shown)
                #expect(try await server.next(shown).isLoggedIn)
            }
            let registration = try await server.logIn("PushCodes").step
            let phone = try Phone(uri: try registration.registrationURI, uid: "old")
            #expect(try await phone.register(at: server).status == 200)
            let shown = try await server.poll(registration).step
            old[.push] = try code(shown)
            if isCombined { old[.oath] = old[.push] }
            #expect(try await server.next(shown).isLoggedIn)

            // The old codes are removed even before the browser polls for the registration.
            let again = try await server.logIn("Again").step
            #expect(try await Phone(uri: try again.registrationURI, uid: "new").register(at: server).status == 200)
            let redeemed = try await server.devServer.context.store.write { [old] tx in
                try old.map { try tx.devices.redeem($0.value, for: $0.key, of: Self.mira) }
            }
            #expect(redeemed == Array(repeating: false, count: old.count))
            #expect(try await server.poll(again).isLoggedIn)
        }
    }

    @Test(
        "A configuration may name or omit the outcomes that AM's push nodes have and these nodes never reach",
        arguments: [(", SKIPPED: failure", ", EXITED: other"), ("", ""), (", default: failure", ", default: other")])
    func acceptsUnreachableOutcomesOfAM(sender: String, wait: String) async throws {
        let journeys = """
            PushRegistration:
              nodes:
                \(Self.login)
                next: {type: PushRegistrationNode, generateRecoveryCodes: false, outcomes: {successOutcome: success, default: failure}}
            PushLogin:
              nodes:
                \(Self.login)
                next: {type: PushAuthenticationSenderNode, outcomes: {SENT: wait, NOT_REGISTERED: failure\(sender)}}
                wait: {type: PushWaitNode, outcomes: {DONE: verify\(wait)}}
                verify: {type: PushResultVerifierNode, outcomes: {TRUE: success, WAITING: wait, default: failure}}
                \(wait.isEmpty ? "" : "other: {type: ChoiceCollectorNode, choices: [a, b], outcomes: {default: failure}}")
            """
        try await TestServer.run(journeys: journeys) { server in
            let phone = try await server.registeredPhone()
            let login = try await server.waitingLogin(phone: phone)
            #expect(login.step.callbacks.map(\.type) == ["PollingWaitCallback"])
            #expect(try await phone.answer(login.push, at: server).status == 200)
            #expect(try await server.poll(login.step).isLoggedIn)
        }
    }

    @Test("A push message has the configured text and payload, and expires after the configured time")
    func pushMessageUsesConfiguration() async throws {
        let journeys = """
            PushRegistration:
              nodes:
                \(Self.login)
                next: {type: PushRegistrationNode, generateRecoveryCodes: false, outcomes: {successOutcome: success, default: failure}}
            PushLogin:
              nodes:
                \(Self.login)
                next: {type: InputCollectorNode, attribute: amount, outcomes: {outcome: send}}
                send:
                  type: PushAuthenticationSenderNode
                  pushType: CHALLENGE
                  messageTimeout: 20000
                  userMessage: {en: "{{user}} pays at {{issuer}}"}
                  customPayload: [amount, username, nothing]
                  outcomes: {SENT: wait, NOT_REGISTERED: failure}
                wait:
                  type: PushWaitNode
                  secondsToWait: 7
                  challengeMessage: Press {{challenge}}
                  exitMessage: Another way
                  outcomes: {DONE: verify, EXITED: failure}
                verify:
                  type: PushResultVerifierNode
                  outcomes: {TRUE: success, FALSE: failure, EXPIRED: failure, WAITING: wait}
            """
        try await TestServer.run(journeys: journeys) { server in
            let phone = try await server.registeredPhone()
            func wait() async throws -> (step: JourneyStep, push: PushMessageRecord) {
                var step = try await server.logIn("PushLogin").step
                step.fill("TextInputCallback", "42")
                return (try await server.next(step).step, try #require(try await server.inbox(phone.uid).last))
            }
            var login = try await wait()
            let message = try SealedPushMessage(login.push.sealed).open(with: phone.secret)
            #expect(message.text == "mira pays at Signet" && message.timeToLive == 20 && message.contextInfo == nil)
            #expect(message.customPayload == #"{"amount":"42","username":"mira"}"#)
            let number = try #require(login.push.number)
            #expect(
                login.step.callbacks.map(\.type) == [
                    "PollingWaitCallback", "HiddenValueCallback", "ConfirmationCallback",
                ])
            #expect(login.step.callbacks[0].output("message") == .string("Press \(number)"))
            #expect(login.step.waitMilliseconds == 7000)
            #expect(try await phone.answer(login.push, ["challengeResponse": .string(String(number))], at: server).status == 200)
            #expect(try await server.poll(login.step).isLoggedIn)

            login = try await wait()
            login.step.fill("ConfirmationCallback", .integer(0))
            #expect(try await server.next(login.step).message == "Login failure", "the exit ends the login")

            login = try await wait()
            server.clock.advance(by: 15)
            #expect(try await server.next(login.step).step.waitMilliseconds == 5000, "the wait ends with the message's lifetime")

            login = try await wait()
            server.clock.advance(by: 21)
            #expect(try await server.next(login.step).message == "Login failure", "the message expires after 20 seconds")
        }
    }
}

@Suite("Configured nodes for device profiles, device binding and passkeys")
struct DeviceNodeTests {
    private static let login = "login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}"

    private func devices(_ kind: DeviceKind, _ server: TestServer) async throws -> [OtherDevice] {
        try await server.devServer.context.store.read { tx in
            try tx.devices.others(kind, of: UserKey(realm: .root, name: "mira"))
        }
    }

    @Test("A device profile is unknown, then matches within the accepted variance, and expires")
    func matchesDeviceProfile() async throws {
        let journeys = """
            Save:
              nodes:
                \(Self.login)
                next: {type: DeviceProfileCollectorNode, deviceLocation: false, message: Tell me, maximumSize: 1, outcomes: {outcome: save}}
                save: {type: DeviceSaveNode, saveDeviceLocation: false, variableName: nick, outcomes: {outcome: success}}
            Match:
              nodes:
                \(Self.login)
                next: {type: DeviceProfileCollectorNode, outcomes: {outcome: match}}
                match:
                  type: DeviceMatchNode
                  acceptableVariance: 1
                  expiration: 2
                  outcomes: {true: success, false: failure, unknownDevice: unknown}
                unknown: {type: FailureNode, reason: lockedOut}
            """
        try await TestServer.run(journeys: journeys) { server in
            func report(_ journey: String, memory: Int = 1, cpu: Int = 1, id: String = "d-1") async throws -> Reply {
                var step = try await server.logIn(journey).step
                let profile =
                    #"{"identifier":"\#(id)","location":{"latitude":1},"metadata":{"hardware":{"memory":\#(memory),"cpu":\#(cpu)}}}"#
                step.fill("DeviceProfileCallback", .string(profile))
                return try await server.next(step)
            }
            #expect(try await report("Match").message == "User Locked Out.")
            #expect(try await server.logIn("Save").step.callbacks[0].output("location") == .bool(false))
            #expect(try await report("Save").isLoggedIn)
            let saved = try #require(try await devices(.profile, server).first)
            #expect(saved.details["location"] == nil && saved.details["metadata"] != nil && saved.name == "d-1")
            #expect(try await report("Match").isLoggedIn)
            #expect(try await report("Match", memory: 2).isLoggedIn)
            #expect(try await report("Match", memory: 2, cpu: 2).message == "Login failure")
            #expect(try await report("Match", id: "d-2").message == "User Locked Out.")
            server.clock.advance(by: 3 * 86_400)
            #expect(try await report("Match").message == "User Locked Out.")
            // The profile is larger than 1 KiB.
            #expect(try await report("Save", id: String(repeating: "x", count: 1100)).json["authId"] != nil)
        }
    }

    @Test("A device is bound only by the configured apps and stored by the storage node, with the configured texts")
    func bindsDeviceFromConfiguredApps() async throws {
        func journey(_ name: String, storage: String) -> String {
            """
            \(name):
              nodes:
                \(Self.login)
                next:
                  type: DeviceBindingNode
                  authenticationType: BIOMETRIC_ONLY
                  timeout: 30
                  title: {en: T}
                  subtitle: S
                  description: D
                  applicationIds: [org.example.app]
                  postponeDeviceProfileStorage: true
                  outcomes: {success: \(storage), default: failure}

            """
        }
        let store = "    store: {type: DeviceBindingStorageNode, outcomes: {true: success, false: failure}}\n"
        let sign = """
            Sign:
              nodes:
                sign: {type: DeviceSigningVerifierNode, applicationIds: [org.example.app], outcomes: {success: success, default: failure}}
            """
        try await TestServer.run(journeys: journey("Drop", storage: "success") + journey("Bind", storage: "store") + store + sign)
        {
            (server: TestServer) async throws in
            let key = TestKey.apple()
            func statement(_ callback: JourneyCallback, _ app: String, _ header: [String: JSONValue]) throws -> JSONValue {
                let now = Int64(server.clock.now.timeIntervalSince1970)
                return .string(
                    try key.sign(
                        [
                            "sub": .string("id=mira,ou=user,ou=am-config"),
                            "challenge": try #require(callback.output("challenge")), "exp": .integer(now + 60),
                            "iat": .integer(now), "iss": .string(app),
                        ], header: header))
            }
            func bind(_ journey: String, app: String = "org.example.app") async throws -> Reply {
                var step = try await server.logIn(journey).step
                let callback = step.callbacks[0]
                #expect(callback.output("authenticationType") == "BIOMETRIC_ONLY" && callback.output("timeout") == .integer(30))
                let texts = ["title", "subtitle", "description"].map { callback.output($0) }
                #expect(texts == ["T", "S", "D"])
                try step.fill("DeviceBindingCallback", "jws", try statement(callback, app, ["jwk": key.jwk]))
                return try await server.next(step)
            }
            func sign(app: String) async throws -> Reply {
                var step = try await server.start("Sign").step
                try step.fill("DeviceSigningVerifierCallback", "jws", try statement(step.callbacks[0], app, [:]))
                return try await server.next(step)
            }
            #expect(try await bind("Drop").isLoggedIn)
            #expect(try await devices(.binding, server).isEmpty)
            #expect(try await bind("Bind", app: "org.other").message == "Login failure")
            #expect(try await bind("Bind").isLoggedIn)
            #expect(try await devices(.binding, server).count == 1)
            #expect(try await sign(app: "org.other").message == "Login failure")
            #expect(try await sign(app: "org.example.app").isLoggedIn)
        }
    }

    @Test(
        "A passkey is registered and used with the configured relying party, form and recovery codes",
        arguments: ["", "legacyMetadata: true", "asScript: true"])
    func passkeyUsesConfiguration(form: String) async throws {
        let style = """
            userVerificationRequirement: REQUIRED
                  timeout: 30
                  relyingPartyDomain: example.test
                  origins: [android:apk-key-hash:x]
                  \(form)
            """
        let journeys = """
            Register:
              nodes:
                \(Self.login)
                next:
                  type: WebAuthnRegistrationNode
                  \(style)
                  relyingPartyName: Harbor
                  postponeDeviceProfileStorage: true
                  outcomes: {success: store, default: failure}
                store: {type: WebAuthnDeviceStorageNode, outcomes: {success: codes, failure: failure}}
                codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
            LogIn:
              nodes:
                \(Self.login)
                next:
                  type: WebAuthnAuthenticationNode
                  \(style)
                  isRecoveryCodeAllowed: true
                  outcomes: {success: success, recoveryCode: code, default: failure}
                code: {type: RecoveryCodeCollectorDecisionNode, recoveryCodeType: WEB_AUTHN, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            #expect(try await server.logIn("LogIn").message == "Login failure", "the user has no passkey yet")
            var authenticator = TestAuthenticator(party: "example.test", origin: "android:apk-key-hash:x")
            var step = try await server.logIn("Register").step
            let text = JSON.text(of: try JSON.value(of: JSON.encode(step.callbacks[0])))
            for part in ["Harbor", "example.test", "required", "30000"] { #expect(text.contains(part)) }
            step.fill(
                "HiddenValueCallback",
                .string(try authenticator.registration(challenge: try WebAuthnTests.challenge(step), name: "<Key> \"1\"")))
            #expect(try await devices(.webauthn, server).isEmpty)
            let shown = try await server.next(step).step
            #expect(try await devices(.webauthn, server).map(\.name) == ["<Key> \"1\""])
            let script = try #require(shown.callbacks[0].output("message")?.string)
            #expect(!script.contains("<Key>"), "a device's name is escaped in the script")
            let code = try #require(script.firstMatch(of: #/"(\w{10})\\n"/#)).output.1
            #expect(try await server.next(shown).isLoggedIn)

            authenticator.counter = 2
            step = try await server.logIn("LogIn").step
            step.fill(
                "HiddenValueCallback", .string(try authenticator.assertion(challenge: try WebAuthnTests.challenge(step))))
            #expect(try await server.next(step).isLoggedIn)

            step = try await server.logIn("LogIn").step
            step.fill("ConfirmationCallback", .integer(0))
            step = try await server.next(step).step
            step.fill("NameCallback", .string(String(code)))
            #expect(try await server.next(step).isLoggedIn)
        }
    }
}
