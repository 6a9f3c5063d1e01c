import PingLogger
import PingOath

/// A storage of the app for OATH credentials.
actor CredentialStorage: OathStorage {
    private var credentials: [String: OathCredential] = [:]

    func storeOathCredential(_ credential: OathCredential) async throws { credentials[credential.id] = credential }
    func retrieveOathCredential(credentialId: String) async throws -> OathCredential? { credentials[credentialId] }
    func getAllOathCredentials() async throws -> [OathCredential] { Array(credentials.values) }
    func removeOathCredential(credentialId: String) async throws -> Bool { credentials.removeValue(forKey: credentialId) != nil }
    func clearOathCredentials() async throws { credentials = [:] }
}

/// The sample of the document on storage for the OATH module, whose initializer is private in the Ping SDK.
enum OathSamples {
    private static func myCustomStorage() -> CredentialStorage { CredentialStorage() }

    static func generateCode(_ uri: String) async throws -> String {
        let customLogger = LogManager.none
        let config = OathConfiguration.build { config in
            config.storage = myCustomStorage()
            config.enableCredentialCache = false
            config.logger = customLogger
        }
        let client = try await OathClient(configuration: config)
        let credential = try await client.addCredentialFromUri(uri)
        let code = try await client.generateCode(credential.id)
        return "\(credential.issuer) \(code.count)"
    }
}
