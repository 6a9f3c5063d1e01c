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

/// The samples of the document on storage for the OATH module.
enum OathSamples {
    private static func myCustomStorage() -> CredentialStorage { CredentialStorage() }

    static func generateCodeWithOwnStorage(_ uri: String) async throws -> String {
        let customLogger = LogManager.none
        let client = try await OathClient.createClient { config in
            config.storage = myCustomStorage()
            config.enableCredentialCache = false
            config.logger = customLogger
        }
        let credential = try await client.addCredentialFromUri(uri)
        let code = try await client.generateCode(credential.id)
        return "\(credential.issuer) \(code.count)"
    }

    static func addCredential(_ uri: String) async throws -> String {
        let client = try await OathClient.createClient { _ in }
        return try await client.addCredentialFromUri(uri).issuer
    }

    static func credentials() async throws -> String {
        let client = try await OathClient.createClient { _ in }
        return try await client.getCredentials().map { $0.issuer }.joined(separator: " ")
    }
}
