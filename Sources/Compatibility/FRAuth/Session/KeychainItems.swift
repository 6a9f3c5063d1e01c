import SignetCore
import SignetOAuth
import SignetStorage

/// The items of an app in a keychain: its session, its tokens and its last settings.
///
/// The session belongs to the access group if there is one. The tokens always belong to the app alone (protocol/journey.md
/// section 3.1).
struct KeychainItems: Sendable {
    let keychain: VaultProvider
    /// The app's name.
    let application: String
    /// The access group; nil when the session belongs to the app alone.
    let group: String?
    /// The lock file; nil for the default next to the user's vault.
    let lockFile: String?

    private var own: String { "frauth/app/\(application)" }
    private var shared: String { group.map { "frauth/group/\($0)" } ?? own }
    private var tokens: KeychainStorage<SignetCore.AccessToken> { KeychainStorage(account: "\(own)/tokens", in: keychain) }
    private var session: KeychainStorage<SSOToken> { KeychainStorage(account: "\(shared)/session", in: keychain) }

    /// The settings that the SDK was last started with.
    var lastOptions: KeychainStorage<JSONValue> { KeychainStorage(account: "\(own)/options", in: keychain) }

    /// Returns a store of the session and the tokens.
    /// - Throws: `StoreError` when the folder for the lock file is unknown or unsafe.
    func store() throws(StoreError) -> SessionStore {
        // Apps that share a session must share its lock file.
        let path = if let lockFile { lockFile } else { try SessionStore.lockFile(for: shared) }
        return try SessionStore(
            tokens: tokens, session: session, cookies: KeychainStorage(account: "\(shared)/cookies", in: keychain), lockFile: path
        )
    }

    /// Returns the session and the tokens.
    ///
    /// It reads them through storages that no other task uses, so a blocked thread can wait for it.
    func contents() async throws -> StoredSession {
        StoredSession(session: try await session.get(), token: try await tokens.get())
    }
}
