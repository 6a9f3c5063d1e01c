import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Outcomes of device nodes")
struct DeviceOutcomeTests {
    // Failure nodes with different messages, so that a test can tell the outcomes apart.
    private static let none = "none: {type: FailureNode, reason: lockedOut}"
    private static let other = "other: {type: FailureNode, reason: policyFailure}"
    private static let (isNone, isOther) = ("User Locked Out.", "Policy validation failed")
    private static let login = "login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}"

    private func statement(_ callback: JourneyCallback, _ key: TestKey, _ server: TestServer, isNew: Bool) throws -> JSONValue {
        let now = Int64(server.clock.now.timeIntervalSince1970)
        return .string(
            try key.sign(
                [
                    "sub": .string("id=mira,ou=user,ou=am-config"), "challenge": try #require(callback.output("challenge")),
                    "exp": .integer(now + 60), "iat": .integer(now), "iss": "org.example.app",
                ], header: isNew ? ["jwk": key.jwk] : [:]))
    }

    @Test("Signing succeeds with a bound key, and has AM's outcomes for a missing device and an unknown key")
    func signingHasOutcomesOfAM() async throws {
        let verifier =
            "{type: DeviceSigningVerifierNode, outcomes: {success: success, noDeviceRegistered: none, keyNotFound: other, default: failure}}"
        let journeys = """
            Bind:
              nodes:
                \(Self.login)
                next: {type: DeviceBindingNode, maxSavedDevices: 1, outcomes: {success: success, exceedDeviceLimit: none, default: failure}}
                \(Self.none)
            Sign:
              nodes:
                \(Self.login)
                next: \(verifier)
                \(Self.none)
                \(Self.other)
            Unnamed:
              nodes:
                next: \(verifier)
                \(Self.none)
                \(Self.other)
            """
        try await TestServer.run(journeys: journeys) { (server: TestServer) async throws in
            let key = TestKey.apple()
            func sign(_ journey: String, _ key: TestKey) async throws -> Reply {
                var step = try await journey == "Sign" ? server.logIn(journey).step : server.start(journey).step
                let jws = try statement(step.callbacks[0], key, server, isNew: false)
                try step.fill("DeviceSigningVerifierCallback", "jws", jws)
                return try await server.next(step)
            }
            func bind(_ key: TestKey) async throws -> Reply {
                var step = try await server.logIn("Bind").step
                try step.fill("DeviceBindingCallback", "jws", try statement(step.callbacks[0], key, server, isNew: true))
                return try await server.next(step)
            }
            #expect(try await server.logIn("Sign").message == Self.isNone)
            #expect(try await sign("Unnamed", key).message == Self.isNone)
            #expect(try await bind(key).isLoggedIn)
            #expect(try await sign("Sign", key).isLoggedIn)
            #expect(try await sign("Sign", .apple()).message == Self.isOther)
            #expect(try await sign("Unnamed", key).isLoggedIn)
            #expect(try await sign("Unnamed", .apple()).message == Self.isOther)
            #expect(try await server.logIn("Bind").message == Self.isNone, "the device limit is 1")
        }
    }

    @Test(
        "A client error is an outcome if the node names it, and otherwise a failure",
        arguments: [
            ("", "Timeout", isNone), ("", "Unsupported", "Login failure"), ("", "Invented", "Login failure"),
            ("clientErrorOutcomes: [Timeout, Invented]", "Invented", "Login failure"),
            ("clientErrorOutcomes: [Timeout, Invented]", "Timeout", isNone), ("", "success", "Login failure"),
        ])
    func mapsClientErrorsToOutcomes(property: String, error: String, message: String) async throws {
        let journeys = """
            Bind:
              nodes:
                \(Self.login)
                next:
                  type: DeviceBindingNode
                  \(property)
                  outcomes: {success: success, Timeout: none, default: failure}
                \(Self.none)
            """
        try await TestServer.run(journeys: journeys) { server in
            var step = try await server.logIn("Bind").step
            try step.fill("DeviceBindingCallback", "clientError", .string(error))
            #expect(try await server.next(step).message == message)
        }
    }

    @Test("A configuration cannot let the client choose an outcome that the node determines")
    func reservesOutcomesOfServer() {
        let file = """
            journeys:
              J:
                nodes:
                  bind: {type: DeviceBindingNode, clientErrorOutcomes: [success, Abort], outcomes: {default: failure}}
            """
        #expect {
            _ = try ServerConfiguration(yaml: file)
        } throws: {
            "\($0)".contains("4:60: journey `J`, node `bind`: `success` is an outcome that a client must not choose")
        }
    }

    @Test(
        "The passkey limit applies where passkeys are stored, and the storage node makes the recovery codes",
        arguments: [true, false])
    func limitsPasskeysWhereStored(makesCodes: Bool) async throws {
        let journeys = """
            Register:
              nodes:
                \(Self.login)
                next:
                  type: WebAuthnRegistrationNode
                  maxSavedDevices: 1
                  postponeDeviceProfileStorage: true
                  outcomes: {success: store, default: failure}
                store:
                  type: WebAuthnDeviceStorageNode
                  maxSavedDevices: 1
                  generateRecoveryCodes: \(makesCodes)
                  outcomes: {success: codes, exceedDeviceLimit: none, default: failure}
                codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}
                \(Self.none)
            Direct:
              nodes:
                \(Self.login)
                next:
                  {type: WebAuthnRegistrationNode, maxSavedDevices: 1, outcomes: {success: success, exceedDeviceLimit: none, default: failure}}
                \(Self.none)
            """
        try await TestServer.run(journeys: journeys) { server in
            func register() async throws -> Reply {
                var step = try await server.logIn("Register").step
                let authenticator = TestAuthenticator()
                step.fill(
                    "HiddenValueCallback", .string(try authenticator.registration(challenge: try WebAuthnTests.challenge(step))))
                return try await server.next(step)
            }
            let first = try await register()
            #expect(first.isLoggedIn != makesCodes)
            if makesCodes { #expect(try await server.next(try first.step).isLoggedIn) }
            #expect(try await register().message == Self.isNone)
            #expect(try await server.logIn("Direct").message == Self.isNone)
        }
    }
}
