import Crypto
package import SignetCore
import SignetStorage

/// Passwords for users to whom the configuration gives none. They are made of the server's key: every server of one state makes the same
/// ones, at every start, so that what was changed of such a user stays.
struct GeneratedPasswords: Sendable {
    /// 80 bits: 16 characters of Base32.
    private static let length = 10

    private let key: Secret

    /// - Parameter key: the server's key.
    init(key: Secret) { self.key = Sealing.derive("signet server made-up passwords", from: key) }

    func password(of user: UserKey) -> Secret {
        let mac = HMAC<SHA256>.authenticationCode(for: Array(user.rowName.utf8), using: key.key)
        return Secret(Base32.encode(mac.prefix(Self.length)).lowercased().utf8)
    }
}

extension DevServer {
    /// The password that was made up for a user (``ServerConfiguration/makesUpPasswords``); nil when they have another one: the
    /// configuration's, or one that they were given since.
    /// - Parameters:
    ///   - user: The user's name.
    ///   - realm: The realm the user lives in, as a path.
    /// - Throws: `StoreError` when the server's state cannot be read.
    package func madeUpPassword(of user: String, realm: String) async throws -> Secret? {
        try await context.survey { state, _ in
            state.directory.madeUpPassword(of: UserKey(realm: RealmPath(realm), name: user))
        }
    }
}
