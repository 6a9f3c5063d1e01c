import CryptoExtras
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Passkeys for the JavaScript SDKs and for logins without a name")
struct PasskeyTests {
    private static let journeys = """
        Register:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
            next:
              type: WebAuthnRegistrationNode
              requiresResidentKey: true
              acceptedSigningAlgorithms: [RS256, ES256]
              generateRecoveryCodes: false
              outcomes: {success: success, default: failure}
        RegisterES256:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
            next:
              type: WebAuthnRegistrationNode
              acceptedSigningAlgorithms: [ES256]
              generateRecoveryCodes: false
              outcomes: {success: success, default: failure}
        Nameless:
          nodes:
            sign:
              type: WebAuthnAuthenticationNode
              requiresResidentKey: true
              mediation: CONDITIONAL
              outcomes: {success: success, default: failure}
        NamelessScript:
          nodes:
            sign: {type: WebAuthnAuthenticationNode, requiresResidentKey: true, asScript: true, outcomes: {success: success, default: failure}}
        """

    private func answer(_ server: TestServer, _ step: JourneyStep, _ outcome: String) async throws -> Reply {
        var step = step
        step.fill("HiddenValueCallback", .string(outcome))
        return try await server.next(step)
    }

    private func authenticator(_ algorithm: String) throws -> TestAuthenticator {
        var authenticator = TestAuthenticator()
        if algorithm == "RS256" { authenticator.rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        return authenticator
    }

    @Test("F7: A passkey logs its user in without a name, with a key for ES256 or RS256", arguments: ["ES256", "RS256"])
    func logsInWithoutName(algorithm: String) async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            var authenticator = try authenticator(algorithm)
            let registration = try await server.logIn("Register").step
            let options = try #require(registration.callbacks[0].output("data"))
            #expect(options["_authenticatorSelection"]?["requireResidentKey"] == .bool(true))
            let algorithms = options["_pubKeyCredParams"]?.array?.map { $0["alg"] }
            #expect(algorithms == [.integer(-257), .integer(-7)])
            let handle = try #require(options["userId"]?.string)
            let created = try authenticator.registration(challenge: try WebAuthnTests.challenge(registration))
            #expect(try await answer(server, registration, created).isLoggedIn)

            let step = try await server.start("Nameless").step
            let data = try #require(step.callbacks[0].output("data"))
            #expect(data["_allowCredentials"] == .array([]) && data["allowCredentials"] == "")
            #expect(data["mediation"] == "conditional")
            authenticator.counter = 2
            let signed = try authenticator.assertion(challenge: try WebAuthnTests.challenge(step), userHandle: handle)
            let loggedIn = try await answer(server, step, signed)
            #expect(loggedIn.isLoggedIn)

            let script = try await server.start("NamelessScript").step
            let text = try #require(script.callbacks[0].output("message")?.string)
            #expect(!text.contains("acceptableCredentials") && !text.contains("allowCredentials"))
            authenticator.counter = 3
            // Some clients decode the user handle.
            let decoded = try authenticator.assertion(challenge: try WebAuthnTests.challenge(script), userHandle: "mira")
            #expect(try await answer(server, script, decoded).isLoggedIn)
        }
    }

    enum Fault: CaseIterable {
        case otherUser, noHandle, unknownUser, otherKey, otherCredential
    }

    @Test("A passkey without a name logs in none but the user that has it", arguments: Fault.allCases)
    func refusesForeignPasskey(fault: Fault) async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            var authenticator = try authenticator("RS256")
            let registration = try await server.logIn("Register").step
            let created = try authenticator.registration(challenge: try WebAuthnTests.challenge(registration))
            #expect(try await answer(server, registration, created).isLoggedIn)

            authenticator.counter = 2
            var handle = "mira"
            switch fault {
            case .otherUser: handle = "noa"
            case .noHandle: handle = ""
            case .unknownUser: handle = "unknown"
            case .otherKey: authenticator.rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            case .otherCredential: authenticator = try self.authenticator("RS256")
            }
            let step = try await server.start("Nameless").step
            let signed = try authenticator.assertion(challenge: try WebAuthnTests.challenge(step), userHandle: handle)
            #expect(try await answer(server, step, signed).message == "Login failure")
        }
    }

    @Test("A passkey with a key for an algorithm that the node does not accept is refused", arguments: ["ES256", "RS256"])
    func refusesOtherAlgorithm(algorithm: String) async throws {
        try await TestServer.run(journeys: Self.journeys) { server in
            let step = try await server.logIn("RegisterES256").step
            let created = try authenticator(algorithm).registration(challenge: try WebAuthnTests.challenge(step))
            #expect(try await answer(server, step, created).isLoggedIn == (algorithm == "ES256"))
        }
    }

    @Test("F5: The script for AM 6.5 names webAuthnOutcome, and the JavaScript SDK reads all its options")
    func scriptIsReadable() async throws {
        try await TestServer.run { server in
            var ids: [[UInt8]] = []
            for _ in 0..<2 {
                let authenticator = TestAuthenticator()
                ids.append(authenticator.credentialID)
                let step = try await server.logIn("WebAuthnRegistration65").step
                let created = try authenticator.registration(challenge: try WebAuthnTests.challenge(step))
                #expect(try await answer(server, step, created).isLoggedIn)
            }
            let lists = ids.map { "new Int8Array([\($0.map { String($0) }.joined(separator: ", "))])" }

            let step = try await server.logIn("WebAuthnRegistration65").step
            let text = try #require(step.callbacks[0].output("message")?.string)
            #expect(text.contains("webAuthnOutcome") && text.contains("pubKeyCredParams"))
            let keys = text.firstMatch(of: #/pubKeyCredParams"*:\s*\[([\s\S]+\d\s*\})\s*\]/#).map { String($0.output.1) }
            #expect(keys?.trimming(" ") == #"{ "type": "public-key", "alg": -7 }, { "type": "public-key", "alg": -257 }"#)
            let known = text.firstMatch(of: #/excludeCredentials"*:\s*\[([\s\S]+)\s*\]/#).map { String($0.output.1) } ?? ""
            let parts = known.split(separator: "}").map { $0.firstMatch(of: #/new Int8Array\(.+\)/#).map { String($0.output) } }
            #expect(parts == lists)

            let login = try #require(try await server.logIn("WebAuthnLogin65").step.callbacks[0].output("message")?.string)
            #expect(login.contains("webAuthnOutcome") && !login.contains("pubKeyCredParams"))
            let allowed =
                login.firstMatch(of: #/acceptableCredentials"*\s*=\s*\[([\s\S]+)\s*\]/#).map { String($0.output.1) } ?? ""
            let found = allowed.split(separator: "},").map {
                $0.firstMatch(of: #/new Int8Array\([^)]+\)/#).map { String($0.output) }
            }
            #expect(found == lists)
        }
    }
}
