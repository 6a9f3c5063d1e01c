import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Passkeys of a vault at the development server")
struct PasskeyServerTests {
    /// Journeys in each of AM's three forms, with the requirement for user verification and an algorithm.
    private static func configuration(_ algorithm: String, form: String, verification: String) throws -> ServerConfiguration {
        let settings = "userVerificationRequirement: \(verification), outcomes: {success: success, default: failure}\(form)"
        return try ServerConfiguration(
            yaml: """
                users:
                  - {name: demo, password: password}
                \(ServerConfiguration.loginJourney)
                  Register:
                    nodes:
                      login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
                      next: {type: WebAuthnRegistrationNode, acceptedSigningAlgorithms: [\(algorithm)], generateRecoveryCodes: false, \(settings)}
                  Named:
                    nodes:
                      login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
                      next: {type: WebAuthnAuthenticationNode, \(settings)}
                  Nameless:
                    nodes:
                      next: {type: WebAuthnAuthenticationNode, requiresResidentKey: true, \(settings)}
                """)
    }

    private struct Client {
        let journey: Journey
        let vault: Vault
        let origin: WebAuthnOrigin

        func passkeys(_ user: PasskeyUser = PasskeyUser(), verified: Bool = false) -> VaultPasskeys {
            VaultPasskeys(vault, origin: origin, consent: user, verification: verified ? ScriptedPresence() : nil)
        }

        /// Runs a journey to its end, and enters name and password where they are asked.
        func run(_ name: String, with authenticator: (any WebAuthnAuthenticator)?) async throws -> JourneyState {
            var state = try await journey.start(name)
            while case .step(var step) = state {
                if WebAuthnRequest(step) != nil {
                    try await step.answerWebAuthn(with: authenticator, deviceName: "Vault")
                } else {
                    try step.fill(name: "demo", password: Secret("password".utf8))
                }
                state = try await journey.next(step)
            }
            return state
        }

        /// Returns the code of the error with which a journey ends; nil for a session.
        func error(_ name: String, with authenticator: (any WebAuthnAuthenticator)?) async throws -> JourneyError.Code? {
            do {
                _ = try await run(name, with: authenticator).token
                return nil
            } catch let error as JourneyError {
                return error.code
            }
        }
    }

    private func withClient(
        _ algorithm: String = "ES256", form: String = "", verification: String = "PREFERRED",
        _ body: (Client) async throws -> Void
    ) async throws {
        let configuration = try Self.configuration(algorithm, form: form, verification: verification)
        try await TestServer.live(configuration) { server in
            let profile = try ServerProfile(url: server.url)
            try await TemporaryDirectory.with { directory in
                let vault = try Vault.create(in: MemoryStore(), protector: KeyFile.create(path: directory.file("key")))
                try await body(
                    Client(
                        journey: Journey(profile, transport: server.transport), vault: vault,
                        origin: WebAuthnOrigin(profile.url)))
            }
        }
    }

    @Test(
        "A passkey in the vault logs its user in, with and without a name, in each form of the request",
        arguments: ["ES256", "EdDSA"], ["", ", legacyMetadata: true", ", asScript: true"])
    func logsIn(algorithm: String, form: String) async throws {
        try await withClient(algorithm, form: form) { client in
            _ = try await client.run("Register", with: client.passkeys()).token
            _ = try await client.run("Named", with: client.passkeys()).token
            _ = try await client.run("Nameless", with: client.passkeys()).token
            let passkeys = try await PasskeyStore(client.vault).entries().map { try $0.passkey.get() }
            #expect(passkeys.map(\.signatureCount) == [2] && passkeys[0].algorithm.name == algorithm)
            #expect(passkeys[0].relyingPartyID == "localhost" && passkeys[0].userName == "demo")
        }
    }

    @Test("A server that requires user verification accepts a verified user, and refuses an authenticator that has none")
    func requiresVerification() async throws {
        try await withClient(verification: "REQUIRED") { client in
            let unverified = try await client.error("Register", with: client.passkeys())
            #expect(unverified == .loginFailed)
            #expect(try await PasskeyStore(client.vault).entries().isEmpty)
            _ = try await client.run("Register", with: client.passkeys(verified: true)).token
            _ = try await client.run("Nameless", with: client.passkeys(verified: true)).token
            let later = try await client.error("Nameless", with: client.passkeys())
            #expect(later == .loginFailed)
        }
    }

    @Test("A second registration is refused, because the server excludes the passkey of the vault")
    func refusesSecondRegistration() async throws {
        try await withClient { client in
            _ = try await client.run("Register", with: client.passkeys()).token
            let again = try await client.error("Register", with: client.passkeys())
            #expect(again == .loginFailed)
            #expect(try await PasskeyStore(client.vault).entries().count == 1)
        }
    }

    @Test("A user that says no, an empty vault and a removed passkey create no session")
    func refusesWithoutPasskey() async throws {
        try await withClient { client in
            let empty = try await client.error("Nameless", with: client.passkeys())
            #expect(empty == .loginFailed)
            _ = try await client.run("Register", with: client.passkeys()).token
            let declined = try await client.error("Nameless", with: client.passkeys(PasskeyUser(allows: false)))
            #expect(declined == .loginFailed)
            let id = try #require(try await PasskeyStore(client.vault).entries().first?.id)
            try await PasskeyStore(client.vault).remove(id)
            let removed = try await client.error("Named", with: client.passkeys())
            #expect(removed == .loginFailed)
        }
    }

    @Test("A copy of a passkey that falls behind is refused: its counter is not above the last one")
    func detectsCopy() async throws {
        try await withClient { client in
            _ = try await client.run("Register", with: client.passkeys()).token
            let id = try #require(try await PasskeyStore(client.vault).entries().first?.id)
            let key = RecordKey(.item, "signet", "passkey", Base64.encode(id, as: .url))
            let stored = try client.vault.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
            let copy = try #require(stored)
            _ = try await client.run("Nameless", with: client.passkeys()).token
            try client.vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(copy, key) }
            let behind = try await client.error("Nameless", with: client.passkeys())
            #expect(behind == .loginFailed)
        }
    }
}
