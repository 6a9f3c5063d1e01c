import Crypto
public import SignetCore
public import SignetStorage

/// A store for the tokens, the session and the cookies of one server.
///
/// Each of the three has its own `Storage`, so an app can replace each of them, for example with its own class with three
/// methods. When several processes share the data, they also need a lock file for exclusive access.
public final class SessionStore: Sendable {
    private let items: Items
    private let lease: SessionLease?

    /// The storages, with exclusive access for one task at a time.
    private actor Items {
        let tokens: any Storage<AccessToken>
        let session: any Storage<SSOToken>
        let cookies: any Storage<CookieJar>
        nonisolated let fileLock: FileLock?
        nonisolated let taskLock = AsyncLock()
        /// The number of changes when the store has no lock file that counts them.
        nonisolated let changes = Mutex<Int64>(0)

        init(
            _ tokens: sending any Storage<AccessToken>, _ session: sending any Storage<SSOToken>,
            _ cookies: sending any Storage<CookieJar>, _ fileLock: FileLock?
        ) {
            self.tokens = tokens
            self.session = session
            self.cookies = cookies
            self.fileLock = fileLock
        }
    }

    /// Creates a store with storages of the app.
    ///
    /// The app must not use them elsewhere afterwards.
    /// - Parameters:
    ///   - tokens: The storage for the tokens.
    ///   - session: The storage for the session.
    ///   - cookies: The storage for the cookies.
    ///   - lockFile: The path of a lock file for exclusive access by processes that share the storages. All of them must use the
    ///     same path, in a directory that only this user can access. A missing file is created. Nil when no other process uses
    ///     the storages.
    /// - Throws: `StoreError` when the lock file can't be opened.
    public init(
        tokens: sending any Storage<AccessToken>, session: sending any Storage<SSOToken>,
        cookies: sending any Storage<CookieJar>, lockFile: String? = nil
    ) throws(StoreError) {
        let fileLock: FileLock? = if let lockFile { try FileLock(path: lockFile) } else { nil }
        items = Items(tokens, session, cookies, fileLock)
        lease = nil
    }

    private init(_ items: Items, _ lease: SessionLease?) {
        self.items = items
        self.lease = lease
    }

    /// Returns a store of the same items that reads and saves only while the lease is valid.
    ///
    /// It can always remove items. With nil, it isn't limited.
    package func leased(_ lease: SessionLease?) -> SessionStore { SessionStore(items, lease) }

    /// Creates a store in memory, which is lost when the process ends.
    public static func memory() throws(StoreError) -> SessionStore {
        try SessionStore(
            tokens: MemorySlot<AccessToken>(), session: MemorySlot<SSOToken>(), cookies: MemorySlot<CookieJar>())
    }

    /// Creates a store in the user's vault.
    ///
    /// The vault's key protector holds the key that seals the data.
    /// - Parameters:
    ///   - account: A name of the app, for example `com.example.app`. Stores with the same name share their data.
    ///   - keychain: The user's vault.
    ///   - lockFile: The path of the lock file, as for the initializer; nil for a file beside the user's vault that all processes
    ///     with this account use.
    /// - Returns: A store whose items in the vault have names that begin with `account`.
    /// - Throws: `StoreError` when the directory for the lock file is unknown or unsafe.
    public static func keychain(
        account: String, in keychain: VaultProvider = .default, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        let path = if let lockFile { lockFile } else { try Self.lockFile(for: account) }
        return try SessionStore(
            tokens: KeychainStorage<AccessToken>(account: "\(account)/tokens", in: keychain),
            session: KeychainStorage<SSOToken>(account: "\(account)/session", in: keychain),
            cookies: KeychainStorage<CookieJar>(account: "\(account)/cookies", in: keychain),
            lockFile: path)
    }

    /// Returns the path of a lock file beside the user's vault.
    ///
    /// The file name is a hash of the account, so the account may contain any character.
    package static func lockFile(for account: String) throws(StoreError) -> String {
        let digest = Hexadecimal.text(of: Array(SHA256.hash(data: Array(account.utf8))).prefix(8))
        return try VaultDirectory.default().path + "/session-\(digest).lock"
    }
}

/// The permission to read and save the items of a session store, until it is revoked.
///
/// A client whose settings were replaced by those of another server loses it, so that work that is still in progress neither
/// reads nor overwrites the new session.
package final class SessionLease: Sendable {
    private let revoked = Latch()

    package init() {}

    /// True when the permission was revoked.
    package var isRevoked: Bool { revoked.isSet }

    /// Revokes the permission.
    ///
    /// It cannot be granted again.
    package func revoke() { revoked.set() }

    /// Checks the permission.
    /// - Throws: ``StoreError/Code/invalid`` when it was revoked.
    package func check() throws(StoreError) {
        guard isRevoked else { return }
        throw StoreError(.invalid, "use the session", "the SDK was started with other settings meanwhile: begin the login again")
    }
}

/// The stored session and the stored tokens.
package struct StoredSession: Sendable, Hashable {
    package let session: SSOToken?
    package let token: AccessToken?
    /// The record of a refused refresh, after which the user must log in again; nil when no refresh was refused.
    package let refused: AccessToken?

    /// Creates the content of a store.
    /// - Parameters:
    ///   - session: The stored session; an empty one counts as missing.
    ///   - token: The stored token, or the record of a refused refresh.
    package init(session: SSOToken? = nil, token: AccessToken? = nil) {
        self.session = session?.nonEmpty
        (self.token, refused) = token?.refusal == nil ? (token, nil) : (nil, token)
    }

    package var isEmpty: Bool { session == nil && token == nil && refused == nil }

    /// True when a user is logged in.
    package var hasUser: Bool { refused == nil && (session != nil || ownToken != nil) }

    /// The token, unless it came from a session other than the stored one.
    ///
    /// Apps that share a session log one another out.
    package var ownToken: AccessToken? { token.flatMap { $0.session == session.map(SessionIdentity.init) ? $0 : nil } }
}

extension SSOToken {
    /// The session; nil for an empty token, which no server accepts.
    fileprivate var nonEmpty: SSOToken? { value.count > 0 ? self : nil }
}

// MARK: Stored items

extension SessionStore {
    /// Returns the stored session and tokens.
    package func contents() async throws(StoreError) -> StoredSession {
        let token = try await record()
        return StoredSession(session: try await session(), token: token)
    }

    /// Returns the stored access token, even when it has expired; nil when none is stored.
    package func token() async throws(StoreError) -> AccessToken? { StoredSession(token: try await record()).token }

    /// Returns the stored access token, or the record of a refused refresh.
    package func record() async throws(StoreError) -> AccessToken? {
        try await access("read the tokens") { try await $0.tokens.get() }
    }

    /// Stores an access token.
    package func save(_ token: AccessToken) async throws(StoreError) {
        try await access("save the tokens", changes: true) { try await $0.tokens.save(item: token) }
    }

    /// Removes the access token.
    package func removeToken() async throws(StoreError) {
        try await access("remove the tokens", isRemoval: true, changes: true) { try await $0.tokens.delete() }
    }

    /// Returns the stored session; nil when none, or an empty one, is stored.
    package func session() async throws(StoreError) -> SSOToken? {
        try await access("read the session") { try await $0.session.get() }?.nonEmpty
    }

    /// Stores a session.
    package func save(_ session: SSOToken) async throws(StoreError) {
        try await access("save the session", changes: true) { try await $0.session.save(item: session) }
    }

    /// Removes the session.
    package func removeSession() async throws(StoreError) {
        try await access("remove the session", isRemoval: true, changes: true) { try await $0.session.delete() }
    }

    /// Returns the cookies; an empty jar when none are stored.
    package func cookies() async throws(StoreError) -> CookieJar {
        try await access("read the cookies") { try await $0.cookies.get() } ?? CookieJar()
    }

    /// Stores the cookies.
    package func save(_ cookies: CookieJar) async throws(StoreError) {
        try await access("save the cookies") { try await $0.cookies.save(item: cookies) }
    }

    /// Removes the cookies.
    package func removeCookies() async throws(StoreError) {
        try await access("remove the cookies", isRemoval: true) { try await $0.cookies.delete() }
    }

    /// A number that changes with the stored token and session, as far as this is known without reading them.
    ///
    /// Compare it only with an earlier value of the same store.
    package var generation: Int64 { items.fileLock?.generation ?? items.changes.withLock { $0 } }

    private func incrementGeneration() {
        if let fileLock = items.fileLock { fileLock.incrementGeneration() } else { items.changes.withLock { $0 += 1 } }
    }

    /// Runs `body` while no other task or process uses this store.
    ///
    /// Waits for other processes up to `timeout`.
    /// - Throws: ``StoreError/Code/busy`` when another process held the lock for that long; the error of `body`.
    func withLock<Value>(timeout: Duration = .seconds(120), _ body: () async throws -> Value) async throws -> Value {
        if let fileLock = items.fileLock { return try await fileLock.withLock(timeout: timeout, body) }
        await items.taskLock.lock()
        defer { items.taskLock.unlock() }
        return try await body()
    }

    /// Runs an operation of a storage and converts its errors.
    ///
    /// An app's storage may throw any error, and the error may contain the data, so only its type is reported.
    private func access<Value: Sendable>(
        _ operation: String, isRemoval: Bool = false, changes: Bool = false,
        _ body: @Sendable (isolated Items) async throws -> Value
    ) async throws(StoreError) -> Value {
        defer { if changes { incrementGeneration() } }
        if !isRemoval { try lease?.check() }
        do {
            return try await body(items)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.failed, operation, "the app's storage failed with \(type(of: error))")
        }
    }
}

extension SessionStore {
    /// Creates a store in the user's vault for one app and one server.
    ///
    /// Profiles with the same server, realm and client ID use the same store, even when they write the address or the realm
    /// differently. All other profiles use other stores.
    /// - Parameters:
    ///   - account: A name of the app.
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - keychain: The user's vault.
    ///   - lockFile: The lock file, as for ``keychain(account:in:lockFile:)``.
    /// - Returns: A store whose account is `account` with a digest of the server, the realm and the client ID.
    /// - Throws: `StoreError` when the directory for the lock file is unknown or unsafe.
    public static func keychain(
        account: String, for profile: ServerProfile, in keychain: VaultProvider = .default, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        try .keychain(account: "\(account)/\(name(for: profile))", in: keychain, lockFile: lockFile)
    }

    /// Returns the part of an account that identifies the server, the realm and the client ID of a profile.
    package static func name(for profile: ServerProfile) -> String {
        name(for: [profile.url.normalizedURL, profile.realm.description, profile.client?.clientID ?? ""])
    }

    /// Returns the part of an account that identifies a server and a client by these values.
    package static func name(for identity: [String]) -> String {
        // The values are encoded as an array, so that different values have different encodings.
        let digest = SHA256.hash(data: JSON.encode(.array(identity.map { .string($0) })))
        return Hexadecimal.text(of: Array(digest).prefix(16))
    }
}
