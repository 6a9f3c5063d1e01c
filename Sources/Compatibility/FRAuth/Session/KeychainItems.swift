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
        let (accessGroup, preferences) = (keychain === VaultProvider.default ? group : nil, VaultProvider.defaultPreferences)
        sharedKeychain = accessGroup.map { VaultProvider.keychain(accessGroup: $0, preferences: preferences) } ?? keychain
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

    /// Stores what the ForgeRock SDK has stored for the same app and server, unless there is another session or token already.
    ///
    /// A call that failed may have stored a part of it. The items of the ForgeRock SDK stay as they are.
    func takeOver(_ legacy: LegacyTokens, under lease: SessionLease) async throws {
        let stored = try await contents()
        let (known, token) = (stored.session?.value, stored.token?.value)
        guard stored.refused == nil, known == nil || known == legacy.session?.value, token == nil || token == legacy.token?.value
        else { return }
        if try await cookies.get() == nil, !legacy.cookies.cookies.isEmpty {
            try await save(legacy.cookies, in: cookies, under: lease)
        }
        // The session comes first: a token that is stored without its session is revoked when it is used.
        if known == nil, let new = legacy.session { try await save(new, in: session, under: lease) }
        if token == nil, let new = legacy.token { try await save(new, in: tokens, under: lease) }
    }

    /// The member of the stored settings that says that ``takeOver(_:under:)`` has not succeeded yet.
    private static let pending = "takeOverPending"

    /// Returns true when stored settings say that ``takeOver(_:under:)`` has not succeeded yet.
    static func isTakeOverPending(_ document: JSONValue) -> Bool { document[pending] != nil }

    /// Stores the settings that the SDK was started with.
    func save(_ options: JSONValue, isTakeOverPending: Bool = false, under lease: SessionLease) async throws {
        var members = options.object ?? [:]
        if isTakeOverPending { members[Self.pending] = .bool(true) }
        try await save(.object(members), in: lastOptions, under: lease)
    }

    /// Stores that nothing remains to be taken over.
    ///
    /// It precedes a removal, and like a removal it needs no valid lease.
    func endTakeOver() async throws {
        guard var members = try await lastOptions.get()?.object, members.removeValue(forKey: Self.pending) != nil else { return }
        try await lastOptions.save(item: .object(members))
    }

    /// Stores an item if the lease is valid.
    ///
    /// The lease may be revoked while the item is being stored. The start that revokes it waits for the work of this one, and then
    /// removes or replaces what this one has stored.
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
