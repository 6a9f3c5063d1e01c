import Crypto
package import SignetCore
import SignetStorage

/// Generates passwords for users without one in the configuration.
///
/// They are derived from the server's key, so that all servers of the same state generate the same passwords at every start, and
/// stored changes to such a user stay valid.
struct GeneratedPasswords: Sendable {
    /// The length in bytes: 80 bits, or 16 characters of Base32.
    private static let length = 10

    private let key: Secret

    /// Creates a generator.
    /// - Parameter key: The server's key.
    init(key: Secret) { self.key = Sealing.derive("signet server made-up passwords", from: key) }

    func password(of user: UserKey) -> Secret {
        let mac = HMAC<SHA256>.authenticationCode(for: Array(user.rowName.utf8), using: key.key)
        return Secret(Base32.encode(mac.prefix(Self.length)).lowercased().utf8)
    }
}

extension DevServer {
    /// Returns the generated password of a user; see ``ServerConfiguration/generatesPasswords``.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The user's realm, as a path.
    /// - Returns: The password; nil for an unknown user, and when the user has another password, from the configuration or from a
    ///   later change.
    /// - Throws: `StoreError` when the server's state cannot be read.
    package func generatedPassword(of user: String, realm: String) async throws -> Secret? {
        try await context.store.read(skippingUnreadableRows: true) { tx in
            try tx.directory.generatedPassword(of: UserKey(realm: RealmPath(realm), name: user))
        }
    }
}
