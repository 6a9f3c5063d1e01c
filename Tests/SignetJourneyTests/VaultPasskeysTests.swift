import Crypto
import Foundation
import SignetCore
import SignetJourney
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Passkeys in a vault")
struct VaultPasskeysTests {
    private static func withVault(
        in store: any RecordStore = MemoryStore(), _ body: (Vault) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            try await body(Vault.create(in: store, protector: KeyFile.create(path: directory.file("key"))))
        }
    }

    /// Returns the name of the error that `body` throws; nil for another error and for none.
    private static func name<Value>(of body: () async throws -> Value) async -> WebAuthnError.Name? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? WebAuthnError)?.name
        }
    }

    /// Returns the code of the `StoreError` that `body` throws; nil for another error and for none.
    private static func code<Value>(of body: () async throws -> Value) async -> StoreError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    /// An attestation object that was read.
    private struct Attestation {
        let format: String
        let statement: CBOR
        let authData: [UInt8]
        let data: AuthenticatorData

        init(_ bytes: [UInt8]) throws {
            var rest = bytes[...]
            let object = try #require(CBOR.read(&rest))
            try #require(rest.isEmpty)
            guard case .text(let format)? = object[.text("fmt")] else { throw Unexpected() }
            self.format = format
            statement = try #require(object[.text("attStmt")])
            authData = try #require(object[.text("authData")]?.bytes)
            data = try #require(AuthenticatorData(authData))
        }

        var flags: UInt8 { authData[32] }
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    // MARK: Creation

    @Test("A new passkey has the first supported algorithm, the flags UP and AT, and a zero counter", arguments: [-7, -8])
    func createsPasskey(algorithm: Int) async throws {
        try await Self.withVault { vault in
            let user = PasskeyUser()
            let request = try PasskeyRequest.registration(algorithms: [-257, algorithm, -7])
            let made = try await VaultPasskeys(vault, user).register(request)
            #expect(made.attachment == "platform" && made.credentialID.count == 32)
            let attestation = try Attestation(made.attestationObject)
            #expect(attestation.format == "none" && attestation.statement == .map([:]))
            #expect(attestation.flags == 0x41 && attestation.data.counter == 0)
            #expect(Array(attestation.authData.prefix(32)) == Self.hash(Array("example.com".utf8)))
            #expect(Array(attestation.authData[37..<53]) == [UInt8](repeating: 0, count: 16))
            let credential = try #require(attestation.data.credential)
            #expect(credential.id == made.credentialID)
            #expect(credential.key.algorithm == (algorithm == -7 ? "ES256" : "EdDSA"))
            let text = String(decoding: made.clientDataJSON, as: UTF8.self)
            #expect(
                text
                    == #"{"type":"webauthn.create","challenge":"AAECAw","origin":"https://login.example.com","crossOrigin":false}"#
            )
            #expect(user.uses == [.create(request, relyingPartyID: "example.com")])
            let passkeys = try await PasskeyStore(vault).entries().map { try $0.passkey.get() }
            #expect(passkeys.map(\.id) == [made.credentialID] && passkeys.first?.userName == "mira")
        }
    }

    @Test(
        "A requested attestation is a signature of the new passkey itself, and no other one is made",
        arguments: [("direct", "packed"), ("enterprise", "packed"), ("indirect", "none"), ("none", "none"), ("new", "none")])
    func attests(requested: String, format: String) async throws {
        try await Self.withVault { vault in
            for algorithm in [-7, -8] {
                let made = try await VaultPasskeys(vault).register(
                    PasskeyRequest.registration(algorithms: [algorithm], attestation: requested))
                let attestation = try Attestation(made.attestationObject)
                #expect(attestation.format == format)
                guard format == "packed" else { continue }
                #expect(attestation.statement[.text("alg")] == .integer(Int64(algorithm)))
                let signature = try #require(attestation.statement[.text("sig")]?.bytes)
                let signed = attestation.authData + Self.hash(made.clientDataJSON)
                #expect(attestation.data.credential?.key.accepts(webAuthnSignature: signature, of: signed) == true)
            }
        }
    }

    // MARK: Signatures

    @Test("A passkey signs with a counter that grows by one and returns its user", arguments: [-7, -8])
    func signs(algorithm: Int) async throws {
        try await Self.withVault { vault in
            let clock = ManualClock()
            let made = try await VaultPasskeys(vault, clock: clock).register(
                PasskeyRequest.registration(algorithms: [algorithm]))
            let key = try #require(try Attestation(made.attestationObject).data.credential?.key)
            clock.advance(by: 60)
            for count in 1...3 as ClosedRange<UInt32> {
                let signed = try await VaultPasskeys(vault, clock: clock).authenticate(PasskeyRequest.authentication())
                let data = try #require(AuthenticatorData(signed.authenticatorData))
                #expect(data.counter == count && signed.authenticatorData[32] == 0x01 && data.credential == nil)
                let bytes = signed.authenticatorData + Self.hash(signed.clientDataJSON)
                #expect(key.accepts(webAuthnSignature: signed.signature, of: bytes))
                #expect(signed.credentialID == made.credentialID && signed.userHandle == Array("mira".utf8))
                #expect(String(decoding: signed.clientDataJSON, as: UTF8.self).contains(#""type":"webauthn.get""#))
            }
            let stored = try await PasskeyStore(vault).entries().first?.passkey.get()
            #expect(stored?.signatureCount == 3 && stored?.lastUsedAt == clock.now)
        }
    }

    @Test("A signature whose counter cannot be stored is not made")
    func countsBeforeSigning() async throws {
        let store = FaultyStore(MemoryStore())
        try await Self.withVault(in: store) { vault in
            _ = try await VaultPasskeys(vault).register(PasskeyRequest.registration())
            store.inject(StoreFault(.full, at: .commit))
            let code = await Self.code { try await VaultPasskeys(vault).authenticate(PasskeyRequest.authentication()) }
            #expect(code == .full)
        }
    }

    @Test("The user chooses among several passkeys, the newest first, and only the allowed ones are offered")
    func chooses() async throws {
        try await Self.withVault { vault in
            var made: [[UInt8]] = []
            for name in ["mira", "noa", "ola"] {
                let passkey = try await VaultPasskeys(vault).register(PasskeyRequest.registration(userID: name))
                made.append(passkey.credentialID)
            }
            _ = try await VaultPasskeys(vault).register(PasskeyRequest.registration(party: "login.example.com"))
            let user = PasskeyUser { $0.last }
            let signed = try await VaultPasskeys(vault, user).authenticate(PasskeyRequest.authentication())
            let offered = user.choices.map { $0.map(\.userName) }
            #expect(offered == [["ola", "noa", "mira"]])
            #expect(signed.credentialID == made[0] && signed.userHandle == Array("mira".utf8))
            let one = try await VaultPasskeys(vault, user).authenticate(PasskeyRequest.authentication(allowed: [made[1], [1]]))
            #expect(one.credentialID == made[1] && user.choices.count == 1)
            let none = await Self.name {
                try await VaultPasskeys(vault, PasskeyUser { _ in nil }).authenticate(PasskeyRequest.authentication())
            }
            #expect(none == .notAllowed)
        }
    }

    // MARK: User verification

    @Test(
        "The flag UV is set exactly when the user was verified, and a required verification that is missing is an error",
        arguments: [
            (.required, true, 0x05), (.preferred, true, 0x05), (.discouraged, true, 0x01), (.preferred, false, 0x01),
            (.discouraged, false, 0x01), (.required, false, nil),
        ] as [(UserVerification, Bool, UInt8?)])
    func verifiesUser(requirement: UserVerification, canVerify: Bool, flags: UInt8?) async throws {
        try await Self.withVault { vault in
            _ = try await VaultPasskeys(vault).register(PasskeyRequest.registration())
            let passkeys = try VaultPasskeys(vault, verification: canVerify ? ScriptedPresence() : nil)
            let request = try PasskeyRequest.authentication(verification: requirement)
            let new = try PasskeyRequest.registration(verification: requirement)
            guard let flags else {
                let names = [
                    await Self.name { try await passkeys.authenticate(request) },
                    await Self.name { try await passkeys.register(new) },
                ]
                #expect(names == [.constraint, .constraint])
                return
            }
            #expect(try await passkeys.authenticate(request).authenticatorData[32] == flags)
            let made = try await passkeys.register(new)
            #expect(try Attestation(made.attestationObject).flags == flags | 0x40)
        }
    }

    @Test("A user that is not recognized creates no passkey and signs with none", arguments: UserVerification.allCases)
    func refusesUnrecognizedUser(requirement: UserVerification) async throws {
        try await Self.withVault { vault in
            _ = try await VaultPasskeys(vault).register(PasskeyRequest.registration())
            let passkeys = try VaultPasskeys(vault, verification: ScriptedPresence(recognizes: false))
            let signed = await Self.name {
                try await passkeys.authenticate(PasskeyRequest.authentication(verification: requirement))
            }
            let made = await Self.name {
                try await passkeys.register(PasskeyRequest.registration(verification: requirement))
            }
            let isRefused = requirement != .discouraged
            #expect(signed == (isRefused ? .notAllowed : nil) && made == (isRefused ? .notAllowed : nil))
            let entries = try await PasskeyStore(vault).entries()
            let used = entries.filter { (try? $0.passkey.get())?.signatureCount ?? 0 > 0 }
            #expect(entries.count == (isRefused ? 1 : 2) && used.count == (isRefused ? 0 : 1))
        }
    }

    // MARK: Refusals

    /// A request that is refused, and the error.
    struct BadRegistration: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: WebAuthnError.Name
        var origin = PasskeyRequest.origin
        var party: String? = "example.com"
        var userID = "mira"
        var algorithms = [-7]
        var attachment: String?
        var isAllowed = true
    }

    @Test(
        "A registration that the standard excludes creates no passkey",
        arguments: [
            BadRegistration(testDescription: "another domain", error: .security, party: "example.org"),
            BadRegistration(testDescription: "a subdomain", error: .security, party: "a.login.example.com"),
            BadRegistration(testDescription: "the end of a label", error: .security, party: "ample.com"),
            BadRegistration(testDescription: "a top-level domain", error: .security, party: "com"),
            BadRegistration(testDescription: "an empty label", error: .security, party: ".example.com"),
            BadRegistration(testDescription: "plain http", error: .security, origin: "http://plain.example.com", party: nil),
            BadRegistration(testDescription: "an IPv4 address", error: .security, origin: "https://192.0.2.1", party: nil),
            BadRegistration(testDescription: "an IPv6 address", error: .security, origin: "https://[2001:db8::1]", party: nil),
            BadRegistration(testDescription: "only unknown algorithms", error: .notSupported, algorithms: [-257, -35]),
            BadRegistration(testDescription: "a long user handle", error: .data, userID: String(repeating: "x", count: 65)),
            BadRegistration(testDescription: "a security key", error: .notAllowed, attachment: "cross-platform"),
            BadRegistration(testDescription: "a user that says no", error: .notAllowed, isAllowed: false),
        ])
    func refusesRegistration(bad: BadRegistration) async throws {
        try await Self.withVault { vault in
            let passkeys = try VaultPasskeys(vault, PasskeyUser(allows: bad.isAllowed), origin: bad.origin)
            let request = try PasskeyRequest.registration(
                party: bad.party, userID: bad.userID, algorithms: bad.algorithms, attachment: bad.attachment)
            let name = await Self.name { try await passkeys.register(request) }
            #expect(name == bad.error)
            #expect(try await PasskeyStore(vault).entries().isEmpty)
        }
    }

    @Test("An excluded passkey prevents another one, and the server learns of it only with the user's consent")
    func refusesExcluded() async throws {
        try await Self.withVault { vault in
            let made = try await VaultPasskeys(vault).register(PasskeyRequest.registration())
            let again = try PasskeyRequest.registration(excluded: [[9], made.credentialID])
            for (isAllowed, expected) in [(true, WebAuthnError.Name.invalidState), (false, .notAllowed)] {
                let user = PasskeyUser(allows: isAllowed)
                let name = await Self.name { try await VaultPasskeys(vault, user).register(again) }
                #expect(name == expected)
                guard case .reportExisting(let passkey)? = user.uses.first else { throw Unexpected() }
                #expect(passkey.id == made.credentialID && user.uses.count == 1)
            }
            // At another relying party, the ID is that of another passkey.
            let elsewhere = try PasskeyRequest.registration(party: "login.example.com", excluded: [made.credentialID])
            _ = try await VaultPasskeys(vault).register(elsewhere)
            #expect(try await PasskeyStore(vault).entries().count == 2)
        }
    }

    @Test("A passkey signs only for its own relying party, only if it is allowed, and only if the user says so")
    func refusesPasskeySignature() async throws {
        try await Self.withVault { vault in
            let made = try await VaultPasskeys(vault).register(PasskeyRequest.registration())
            let bad: [(String?, [[UInt8]], String, Bool, WebAuthnError.Name)] = [
                ("example.org", [], PasskeyRequest.origin, true, .security),
                ("example.org", [made.credentialID], "https://example.org", true, .notAllowed),
                (nil, [], PasskeyRequest.origin, true, .notAllowed),
                ("example.com", [[1]], PasskeyRequest.origin, true, .notAllowed),
                ("example.com", [], PasskeyRequest.origin, false, .notAllowed),
                ("plain.example.com", [], "http://plain.example.com", true, .security),
            ]
            for (party, allowed, origin, isAllowed, expected) in bad {
                let passkeys = try VaultPasskeys(vault, PasskeyUser(allows: isAllowed), origin: origin)
                let request = try PasskeyRequest.authentication(party: party, allowed: allowed)
                let name = await Self.name { try await passkeys.authenticate(request) }
                #expect(name == expected, "\(party ?? "none") at \(origin)")
            }
            let count = try await PasskeyStore(vault).entries().first?.passkey.get().signatureCount
            #expect(count == 0)
        }
    }

    @Test("A passkey that the user allows too late is removed again")
    func removesLatePasskey() async throws {
        try await Self.withVault { vault in
            let timer = ManualTimer()
            let origin = WebAuthnOrigin(try Endpoint(PasskeyRequest.origin))
            let passkeys = VaultPasskeys(vault, origin: origin, consent: LateUser(timer: timer), timer: timer)
            let name = await Self.name { try await passkeys.register(PasskeyRequest.registration()) }
            #expect(name == .timeout)
            #expect(try await PasskeyStore(vault).entries().isEmpty)
        }
    }

    /// A user that agrees when the time is up.
    private struct LateUser: PasskeyConsent {
        let timer: ManualTimer

        func allows(_ use: PasskeyUse) async throws -> Bool {
            timer.fire()
            // The wait ends when the task is canceled, and the function continues.
            try? await Task.sleep(for: .seconds(3600))
            return true
        }

        func choose(among passkeys: [Passkey]) async throws -> Passkey? { passkeys.first }
    }
}
