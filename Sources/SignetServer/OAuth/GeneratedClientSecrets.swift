import Crypto
public import SignetCore
import SignetStorage

/// Generates the secrets of clients (``RegisteredClient/generatesSecret``).
///
/// They are derived from the server's key, so that all servers of the same state generate the same secrets at every start.
struct GeneratedClientSecrets: Sendable {
    private let key: Secret

    /// Creates a generator.
    /// - Parameter key: The server's key.
    init(key: Secret) { self.key = Sealing.derive("signet server client secrets", from: key) }

    func secret(of client: ClientKey) -> Secret {
        let name = "\(client.realm.description.utf8.count) \(client.realm)\(client.id)"
        let code = HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: key.key)
        return Secret(code.withUnsafeBytes { Base64.encode($0, as: .url) }.utf8)
    }
}

extension ClientRegistry {
    /// Returns the clients with the secrets that the server generates.
    func generatingSecrets(_ secrets: GeneratedClientSecrets) -> ClientRegistry {
        guard all.contains(where: \.generatesSecret) else { return self }
        return ClientRegistry(
            all.map { client in
                guard client.generatesSecret, client.secret == nil, client.keys.isEmpty else { return client }
                var client = client
                client.secret = secrets.secret(of: client.key)
                return client
            })
    }
}

extension DevServer {
    /// Returns the generated secret of a client; see ``RegisteredClient/generatesSecret``.
    /// - Parameters:
    ///   - client: The client's ID.
    ///   - realm: The client's realm, as a path.
    /// - Returns: The secret; nil for an unknown client, and for one whose secret isn't generated.
    /// - Throws: `StoreError` when the server's state cannot be read.
    public func generatedSecret(of client: String, realm: String = "/") async throws -> Secret? {
        try await context.store.read { tx in
            let client = tx.clients[ClientKey(realm: RealmPath(realm), id: client)]
            return client?.generatesSecret == true ? client?.secret : nil
        }
    }
}
