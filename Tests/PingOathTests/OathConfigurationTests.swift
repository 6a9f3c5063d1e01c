import Foundation
import PingOath
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

private actor NoStorage: OathStorage {
    func storeOathCredential(_ credential: OathCredential) async throws {}
    func retrieveOathCredential(credentialId: String) async throws -> OathCredential? { nil }
    func getAllOathCredentials() async throws -> [OathCredential] { [] }
    func removeOathCredential(credentialId: String) async throws -> Bool { false }
    func clearOathCredentials() async throws {}
}

@Suite("OathConfiguration")
struct OathConfigurationTests {
    @Test("A configuration has the defaults of the Ping SDK, built or created")
    func hasDefaults() {
        for config in [OathConfiguration(), OathConfiguration.build { _ in }] {
            #expect(config.storage == nil && config.policyEvaluator == nil && config.accountPolicies == nil)
            #expect(config.encryptionEnabled && !config.enableCredentialCache)
            #expect(config.timeoutMs == 15)
            #expect(config.logger is NoneLogger)
        }
    }

    @Test("Each property can be set and reset, and configurations are independent")
    func propertiesCanBeChanged() {
        let logger = RecordingLogger()
        let config = OathConfiguration.build { config in
            config.storage = NoStorage()
            config.policyEvaluator = MfaPolicyEvaluator.create()
            config.encryptionEnabled = false
            config.timeoutMs = 30
            config.enableCredentialCache = true
            config.logger = logger
        }
        let isNoStorage = config.storage is NoStorage
        #expect(isNoStorage && config.policyEvaluator != nil && !config.encryptionEnabled && config.enableCredentialCache)
        #expect(config.timeoutMs == 30 && config.logger is RecordingLogger)
        for value in [0.5, 0, -5, .leastNormalMagnitude, .greatestFiniteMagnitude] {
            config.timeoutMs = value
            #expect(config.timeoutMs == value, "the value is checked by the client, not by the configuration")
        }
        config.storage = nil
        config.policyEvaluator = nil
        config.logger = LogManager.none
        #expect(config.storage == nil && config.policyEvaluator == nil && config.logger is NoneLogger)
        let other = OathConfiguration()
        #expect(other.timeoutMs == 15 && other.encryptionEnabled)
    }

    @Test("The last storage that is assigned counts, whatever its type")
    func lastStorageCounts() {
        let config = OathConfiguration()
        config.storage = NoStorage()
        config.storage = MemoryStorage<StoredAccounts>()
        #expect(config.storage == nil && config.accountItem != nil && config.accountStore == nil)
        config.storage = AccountRecords(unsealed: MemoryStore())
        #expect(config.storage == nil && config.accountItem == nil && config.accountStore != nil)
        config.storage = NoStorage()
        #expect(config.storage != nil && config.accountItem == nil && config.accountStore == nil)
    }

    @Test("An evaluator of the app takes the place of the default policies, and engine policies that of the evaluator")
    func evaluatorReplacesPolicies() async throws {
        let uri = Sample.totp + "&policies=" + Sample.base64(#"{"biometricAvailable":{}}"#)
        await #expect {
            try await OathClient.createClient { $0.storage = NoStorage() }.addCredentialFromUri(uri)
        } throws: {
            if case OathError.policyViolation(let text, "") = $0 { text.contains("biometricAvailable") } else { false }
        }
        try await OathClient.createClient { config in
            config.storage = NoStorage()
            config.policyEvaluator = MfaPolicyEvaluator.create()
        }.addCredentialFromUri(uri)
        await #expect(throws: OathError.self) {
            try await OathClient.createClient { config in
                config.storage = NoStorage()
                config.policyEvaluator = MfaPolicyEvaluator.create()
                config.accountPolicies = AccountPolicies([BiometricAvailablePolicy()])
            }.addCredentialFromUri(uri)
        }
    }
}
