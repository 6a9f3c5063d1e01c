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
    /// The keychain of the session and the cookies, which the apps of the access group share on Apple's systems.
    private let sharedKeychain: VaultProvider

    init(keychain: VaultProvider, application: String, group: String?, lockFile: String?) {
        (self.keychain, self.application, self.group, self.lockFile) = (keychain, application, group, lockFile)
        #if canImport(Security)
        // An app's own keychain, as in a test, has no groups.
        sharedKeychain = group.flatMap { keychain === VaultProvider.default ? .keychain(accessGroup: $0) : nil } ?? keychain
        #else
        sharedKeychain = keychain
        #endif
    }

    private var own: String { "frauth/app/\(application)" }
    private var shared: String { group.map { "frauth/group/\($0)" } ?? own }
    private var tokens: KeychainStorage<SignetCore.AccessToken> { KeychainStorage(account: "\(own)/tokens", in: keychain) }
    private var session: KeychainStorage<SSOToken> { KeychainStorage(account: "\(shared)/session", in: sharedKeychain) }
    private var cookies: KeychainStorage<CookieJar> { KeychainStorage(account: "\(shared)/cookies", in: sharedKeychain) }

    /// The settings that the SDK was last started with.
    var lastOptions: KeychainStorage<JSONValue> { KeychainStorage(account: "\(own)/options", in: keychain) }

    /// Returns a store of the session and the tokens.
    /// - Throws: `StoreError` when the folder for the lock file is unknown or unsafe.
    func store() throws(StoreError) -> SessionStore {
        // Apps that share a session must share its lock file.
        let path = if let lockFile { lockFile } else { try SessionStore.lockFile(for: shared) }
        return try SessionStore(
            tokens: tokens, session: session, cookies: cookies, lockFile: path)
    }

    /// Stores what the ForgeRock SDK has stored for the same app and server, unless there is a session or a token already.
    ///
    /// The items of the ForgeRock SDK stay as they are.
    func takeOver(_ legacy: LegacyTokens, under lease: SessionLease) async throws {
        guard !legacy.isEmpty, try await contents().isEmpty else { return }
        if try await cookies.get() == nil, !legacy.cookies.cookies.isEmpty {
            try await save(legacy.cookies, in: cookies, under: lease)
        }
        if let token = legacy.token { try await save(token, in: tokens, under: lease) }
        if let token = legacy.session { try await save(token, in: session, under: lease) }
    }

    /// Stores the settings that the SDK was started with.
    func save(_ options: JSONValue, under lease: SessionLease) async throws {
        try await save(options, in: lastOptions, under: lease)
    }

    /// Stores an item while the lease is valid.
    private func save<Item>(_ item: Item, in storage: KeychainStorage<Item>, under lease: SessionLease) async throws {
        try lease.check()
        try await storage.save(item: item)
    }

    /// Returns the session and the tokens.
    ///
    /// It reads them through storages that no other task uses, so a blocked thread can wait for it.
    func contents() async throws -> StoredSession {
        StoredSession(session: try await session.get(), token: try await tokens.get())
    }
}
