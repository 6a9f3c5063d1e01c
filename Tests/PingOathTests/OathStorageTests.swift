import Foundation
import PingOath
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// A storage of credentials as an app writes it.
private actor AppOathStorage: OathStorage {
    struct Broken: Error {}

    private var credentials: [String: OathCredential] = [:]
    private(set) var calls: [String] = []
    private var failure: (any Error)?

    init(_ credentials: [OathCredential] = []) {
        self.credentials = Dictionary(uniqueKeysWithValues: credentials.map { ($0.id, $0) })
    }

    func fail(with error: (any Error)?) { failure = error }
    func forgetCalls() { calls = [] }

    func storeOathCredential(_ credential: OathCredential) throws {
        calls.append("store \(credential.accountName)")
        if let failure { throw failure }
        credentials[credential.id] = credential
    }

    func retrieveOathCredential(credentialId: String) -> OathCredential? { credentials[credentialId] }

    func getAllOathCredentials() throws -> [OathCredential] {
        if let failure { throw failure }
        return Array(credentials.values)
    }

    func removeOathCredential(credentialId: String) throws -> Bool {
        calls.append("remove")
        return credentials.removeValue(forKey: credentialId) != nil
    }

    func clearOathCredentials() { credentials = [:] }
}

@Suite("Storages of credentials that an app implements")
struct OathStorageTests {
    private func credential(
        _ account: String = "mira", type: OathType = .totp, policies: String? = nil, lockingPolicy: String? = nil,
        isLocked: Bool = false, secret: String = Sample.oathKey
    ) -> OathCredential {
        OathCredential(
            id: "\(account)-\(type.rawValue)", issuer: "Harbor Bank", accountName: account, oathType: type, policies: policies,
            lockingPolicy: lockingPolicy, isLocked: isLocked, secretKey: secret)
    }

    @Test("A client stores, changes and removes single credentials in the app's storage")
    func changesSingleCredentials() async throws {
        let storage = AppOathStorage()
        let client = try await OathClient.createClient { $0.storage = storage }
        let hotp = try await client.addCredentialFromUri(Sample.hotp)
        let other = try await client.saveCredential(credential("otto"))
        await storage.forgetCalls()
        #expect(try await client.generateCode(hotp.id) == "099169")
        #expect(try await client.generateCode(hotp.id) == "802135")
        _ = try await client.generateCode(other.id)
        #expect(await storage.calls == ["store mira", "store mira"], "a code by time changes nothing")
        #expect(await storage.retrieveOathCredential(credentialId: hotp.id)?.counter == 9)

        var renamed = other
        renamed.displayIssuer = "The Bank"
        try await client.saveCredential(renamed)
        #expect(await storage.retrieveOathCredential(credentialId: other.id)?.displayIssuer == "The Bank")
        await storage.forgetCalls()
        #expect(try await client.deleteCredential(other.id))
        #expect(try await !client.deleteCredential(other.id))
        #expect(await storage.calls == ["remove"])
        #expect(try await client.getCredentials().map(\.id) == [hotp.id])
        // Another client finds what the first has stored, with the secret.
        let second = try await OathClient.createClient { $0.storage = storage }
        #expect(try await second.generateCodeWithValidity(hotp.id).counter == 10)
    }

    @Test("A lock by the app stays, and a lock by a policy of the credential ends when the device meets the policy")
    func evaluatesStoredLocks() async throws {
        let isBroken = Toggle()
        let policies = #"{"p":{}}"#
        let storage = AppOathStorage([
            credential("manual", isLocked: true), credential("named", policies: policies, lockingPolicy: "lost", isLocked: true),
            credential("by policy", policies: policies, lockingPolicy: "p", isLocked: true),
        ])
        let client = try await OathClient.createClient { config in
            config.storage = storage
            config.policyEvaluator = MfaPolicyEvaluator.create {
                $0.policies = [BreakableMfaPolicy(name: "p", isBroken: isBroken)]
            }
        }
        func locked() async throws -> [String] {
            try await client.getCredentials().filter(\.isLocked).map(\.accountName).sorted()
        }
        #expect(try await locked() == ["manual", "named"])
        isBroken.turnOn()
        #expect(try await locked() == ["by policy", "manual", "named"])
        await #expect(throws: OathError.credentialLocked("by policy-totp")) { try await client.generateCode("by policy-totp") }
        #expect(await storage.calls.isEmpty, "reading stores nothing")
    }

    @Test("A stored credential that is invalid is left out and stays in the storage")
    func leavesInvalidCredentialsAlone() async throws {
        let logger = RecordingLogger()
        let storage = AppOathStorage([credential("without secret", secret: "!"), credential("broken", policies: "[")])
        let client = try await OathClient.createClient { config in
            config.storage = storage
            config.logger = logger
        }
        try await client.saveCredential(credential())
        #expect(try await client.getCredentials().map(\.accountName) == ["mira"])
        #expect(try await client.deleteCredential("mira-totp"))
        #expect(try await storage.getAllOathCredentials().map(\.accountName).sorted() == ["broken", "without secret"])
        let warnings = logger.lines.filter { $0.level == .warning && $0.text.contains("broken-totp") }
        #expect(!warnings.isEmpty)
    }

    static let failures: [(any Error & Sendable, @Sendable (OathStorageError) -> Bool)] = [
        (OathStorageError.storageCorrupted("a secret text"), { if case .storageCorrupted = $0 { true } else { false } }),
        (OathStorageError.accessDenied("a secret text"), { if case .accessDenied = $0 { true } else { false } }),
        (OathStorageError.storageFailure("a secret text"), { if case .storageFailure = $0 { true } else { false } }),
        (AppOathStorage.Broken(), { if case .storageFailure = $0 { true } else { false } }),
    ]

    @Test("An error of the app's storage is reported by its kind, without its text", arguments: failures)
    func reportsStorageError(error: any Error & Sendable, isExpected: @Sendable (OathStorageError) -> Bool) async throws {
        let storage = AppOathStorage([credential()])
        let client = try await OathClient.createClient { $0.storage = storage }
        await storage.fail(with: error)
        await #expect {
            _ = try await client.getCredentials()
        } throws: {
            ($0 as? OathStorageError).map(isExpected) == true && !"\($0)".contains("secret")
        }
        await storage.fail(with: nil)
        #expect(try await client.getCredentials().count == 1)
    }

    @Test("A counter is never used twice in an app's storage", arguments: [200])
    func usesEachCounterOnce(count: Int) async throws {
        let client = try await OathClient.createClient { config in
            config.storage = AppOathStorage()
            config.timeoutMs = 600
            config.enableCredentialCache = true
        }
        let id = try await client.addCredentialFromUri(Sample.hotp).id
        let counters = try await client.countersOfConcurrentCodes(id, count)
        #expect(counters == Set(8..<8 + count))
    }
}

/// A policy of an app that is met until a test breaks it.
private struct BreakableMfaPolicy: MfaPolicy {
    let name: String
    let isBroken: Toggle
    func evaluate(data: [String: Any]?) async throws -> Bool { !isBroken.isOn }
}
