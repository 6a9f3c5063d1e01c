import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// The one-time-code credentials of an account store, as an ``OathStorage``.
struct AccountCredentials: OathStorage {
    private let credentials: ClientCredentials

    init(_ store: any AccountStore) {
        let authenticator = Authenticator(
            store: store, transport: NoTransport(), device: PushDevice(token: "", name: ""), policies: .none)
        credentials = ClientCredentials(authenticator, kinds: [.totp, .hotp], isCaching: false)
    }

    func storeOathCredential(_ credential: OathCredential) async throws {
        _ = try await credentials.save(credential.id, credential.details) { stored in try credential.mechanism(over: stored) }
    }

    func retrieveOathCredential(credentialId: String) async throws -> OathCredential? {
        try await credentials.one(credentialId).map(OathCredential.init)
    }

    func getAllOathCredentials() async throws -> [OathCredential] { try await credentials.all().map(OathCredential.init) }

    func removeOathCredential(credentialId: String) async throws -> Bool { try await credentials.remove(credentialId) }

    func clearOathCredentials() async throws {
        for credential in try await credentials.all() { _ = try await credentials.remove(credential.mechanism.uid) }
    }
}
