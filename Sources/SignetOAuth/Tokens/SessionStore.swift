import Crypto
public import SignetCore
public import SignetStorage
import Synchronization

/// A store for the tokens, the session and the cookies of one server.
///
/// Each of the three has its own `Storage`, so an app can replace each of them, for example with its own class with three
/// methods. When several processes share the data, they also need a lock file for exclusive access.
public actor SessionStore {
    private let tokenStorage: any Storage<AccessToken>
    private let sessionStorage: any Storage<SSOToken>
    private let cookieStorage: any Storage<CookieJar>
    nonisolated let fileLock: FileLock?
    nonisolated let taskLock = AsyncLock()
    /// The number of changes when the store has no lock file that counts them.
    private nonisolated let changes = Atomic<Int64>(0)

    /// Creates a store with storages of the app. The app must not use them elsewhere afterwards.
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
        tokenStorage = tokens
        sessionStorage = session
        cookieStorage = cookies
        fileLock = if let lockFile { try FileLock(path: lockFile) } else { nil }
    }

    /// Creates a store in memory, which is lost when the process ends.
    public static func memory() throws(StoreError) -> SessionStore {
        try SessionStore(
            tokens: Held<AccessToken>(), session: Held<SSOToken>(), cookies: Held<CookieJar>())
    }

    /// Creates a store in the user's vault. The vault's key protector holds the key that seals the data.
    /// - Parameters:
    ///   - account: A name of the app, for example `com.example.app`. Stores with the same name share their data.
    ///   - keychain: The user's vault.
    ///   - lockFile: The path of the lock file, as for the initializer; nil for a file beside the user's vault that all processes
    ///     with this account use.
    /// - Throws: `StoreError` when the directory for the lock file is unknown or unsafe.
    public static func keychain(
        account: String, in keychain: VaultProvider = .default, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        let place = if let lockFile { lockFile } else { try Self.lockFile(for: account) }
        return try SessionStore(
            tokens: KeychainStorage<AccessToken>(account: "\(account)/tokens", in: keychain),
            session: KeychainStorage<SSOToken>(account: "\(account)/session", in: keychain),
            cookies: KeychainStorage<CookieJar>(account: "\(account)/cookies", in: keychain),
            lockFile: place)
    }

    /// Returns the path of a lock file beside the user's vault. The file name is a hash of the account, so the account may
    /// contain any character.
    package static func lockFile(for account: String) throws(StoreError) -> String {
        let digest = Hexadecimal.text(of: Array(SHA256.hash(data: Array(account.utf8))).prefix(8))
        return try VaultDirectory.default().path + "/session-\(digest).lock"
    }
}

/// A storage in memory. It keeps the item without encoding it, so its secrets stay in `Secret` values.
private final class Held<T: Codable & Sendable>: Storage {
    private var item: T?

    func save(item: sending T) { self.item = item }
    func get() -> T? { item }
    func delete() { item = nil }
}

// MARK: Stored items

extension SessionStore {
    /// Returns the stored access token, even when it has expired; nil when none is stored.
    package func token() async throws(StoreError) -> AccessToken? {
        try await Self.guarding("read the tokens") { try await tokenStorage.get() }
    }

    /// Stores an access token.
    package func save(_ token: AccessToken) async throws(StoreError) {
        defer { incrementGeneration() }
        try await Self.guarding("save the tokens") { try await tokenStorage.save(item: token) }
    }

    /// Removes the access token.
    package func removeToken() async throws(StoreError) {
        defer { incrementGeneration() }
        try await Self.guarding("remove the tokens") { try await tokenStorage.delete() }
    }

    /// Returns the stored session; nil when none is stored.
    package func session() async throws(StoreError) -> SSOToken? {
        try await Self.guarding("read the session") { try await sessionStorage.get() }
    }

    /// Stores a session.
    package func save(_ session: SSOToken) async throws(StoreError) {
        defer { incrementGeneration() }
        try await Self.guarding("save the session") { try await sessionStorage.save(item: session) }
    }

    /// Removes the session.
    package func removeSession() async throws(StoreError) {
        defer { incrementGeneration() }
        try await Self.guarding("remove the session") { try await sessionStorage.delete() }
    }

    /// Returns the cookies; an empty jar when none are stored.
    package func cookies() async throws(StoreError) -> CookieJar {
        try await Self.guarding("read the cookies") { try await cookieStorage.get() } ?? CookieJar()
    }

    /// Stores the cookies.
    package func save(_ cookies: CookieJar) async throws(StoreError) {
        try await Self.guarding("save the cookies") { try await cookieStorage.save(item: cookies) }
    }

    /// Removes the cookies.
    package func removeCookies() async throws(StoreError) {
        try await Self.guarding("remove the cookies") { try await cookieStorage.delete() }
    }

    /// A number that changes with the stored token and session, as far as this is known without reading them. Compare it only
    /// with an earlier value of the same store.
    package nonisolated var generation: Int64 { fileLock?.generation ?? changes.load(ordering: .acquiring) }

    private func incrementGeneration() {
        if let fileLock { fileLock.incrementGeneration() } else { changes.add(1, ordering: .releasing) }
    }

    /// Runs `body` while no other task or process uses this store. Waits for other processes up to `timeout`.
    nonisolated func withLock<Value>(
        timeout: Duration = .seconds(120), _ body: () async -> Value
    ) async throws(StoreError) -> Value {
        if let fileLock { return try await fileLock.withLock(timeout: timeout, body) }
        await taskLock.lock()
        defer { taskLock.unlock() }
        return await body()
    }

    /// Runs an operation of a storage and converts its errors. An app's storage may throw any error, and the error may contain
    /// the data, so only its type is reported.
    private static func guarding<Value>(
        _ operation: String, _ body: () async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await body()
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.failed, operation, "the app's storage failed with \(type(of: error))")
        }
    }
}

extension SessionStore {
    /// Creates a store in the user's vault for one app and one server. Profiles with the same server, realm and client ID use the
    /// same store, even when they write the address or the realm differently. All other profiles use other stores.
    /// - Parameters:
    ///   - account: A name of the app.
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - keychain: The user's vault.
    ///   - lockFile: The lock file, as for ``keychain(account:in:lockFile:)``.
    /// - Throws: `StoreError` when the directory for the lock file is unknown or unsafe.
    public static func keychain(
        account: String, for profile: ServerProfile, in keychain: VaultProvider = .default, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        // The values are encoded as an array, so that different values have different encodings.
        let place: [String] = [profile.url.place, profile.realm.description, profile.client?.clientID ?? ""]
        let digest = SHA256.hash(data: JSON.encode(.array(place.map { .string($0) })))
        let name = Hexadecimal.text(of: Array(digest).prefix(16))
        return try SessionStore.keychain(account: "\(account)/\(name)", in: keychain, lockFile: lockFile)
    }
}
