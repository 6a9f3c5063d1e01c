import Crypto
public import SignetCore
public import SignetStorage
import Synchronization

/// Where the tokens, the session and the cookies of one server are kept.
///
/// Each of the three is in a `Storage` of its own, so that an app can put any of them elsewhere: a store of its own for the
/// tokens is a class with three methods. What several processes share needs a lock file too, so that they take turns.
public actor SessionStore {
    private let tokenStorage: any Storage<AccessToken>
    private let sessionStorage: any Storage<SSOToken>
    private let cookieStorage: any Storage<CookieJar>
    nonisolated let fileLock: FileLock?
    nonisolated let taskLock = AsyncLock()
    /// Counts the changes where there is no lock file to do it.
    private nonisolated let changes = Atomic<Int64>(0)

    /// What is kept in storages of the app's own, which nobody else is to use from now on.
    /// - Parameters:
    ///   - tokens: Where the tokens are kept.
    ///   - session: Where the session is kept.
    ///   - cookies: Where the cookies are kept.
    ///   - lockFile: A file by which processes that use the same places take turns, at a path that is the same for all
    ///     of them, in a directory that is only this user's. It is made if it is not there. Nil when no other process uses them.
    /// - Throws: `StoreError` when the lock file cannot be had.
    public init(
        tokens: sending any Storage<AccessToken>, session: sending any Storage<SSOToken>,
        cookies: sending any Storage<CookieJar>, lockFile: String? = nil
    ) throws(StoreError) {
        tokenStorage = tokens
        sessionStorage = session
        cookieStorage = cookies
        fileLock = if let lockFile { try FileLock(path: lockFile) } else { nil }
    }

    /// What is gone with the process.
    public static func memory() throws(StoreError) -> SessionStore {
        try SessionStore(
            tokens: Held<AccessToken>(), session: Held<SSOToken>(), cookies: Held<CookieJar>())
    }

    /// What is kept in the user's vault, sealed by whatever keeps its key.
    /// - Parameters:
    ///   - account: A name of the app's own, for example `com.example.app`: two of one name are one.
    ///   - keychain: The vault.
    ///   - lockFile: As above; nil for one beside the user's vault, by which all processes that use this account take turns.
    /// - Throws: `StoreError` when the place for the lock file is not known or not safe.
    public static func keychain(
        account: String, in keychain: Keychain = .standard, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        let place = if let lockFile { lockFile } else { try Self.lockFile(for: account) }
        return try SessionStore(
            tokens: KeychainStorage<AccessToken>(account: "\(account)/tokens", in: keychain),
            session: KeychainStorage<SSOToken>(account: "\(account)/session", in: keychain),
            cookies: KeychainStorage<CookieJar>(account: "\(account)/cookies", in: keychain),
            lockFile: place)
    }

    /// Beside the user's vault, under a name that any account can have.
    package static func lockFile(for account: String) throws(StoreError) -> String {
        let digest = Hexadecimal.text(of: Array(SHA256.hash(data: Array(account.utf8))).prefix(8))
        return try VaultDirectory.usual().path + "/session-\(digest).lock"
    }
}

/// An item as it is: what never leaves the process is written in no form, and its secrets stay `Secret`.
private final class Held<T: Codable & Sendable>: Storage {
    private var item: T?

    func save(item: sending T) { self.item = item }
    func get() -> T? { item }
    func delete() { item = nil }
}

// MARK: What is kept

extension SessionStore {
    /// The access token as it is stored; nil when there is none.
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

    /// The session as it is stored; nil when there is none.
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

    /// The cookies; an empty jar when none are stored.
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

    /// The number of changes to what is stored, as far as it can be known without reading it; only ever compared with itself.
    package nonisolated var generation: Int64 { fileLock?.generation ?? changes.load(ordering: .acquiring) }

    private func incrementGeneration() {
        if let fileLock { fileLock.incrementGeneration() } else { changes.add(1, ordering: .releasing) }
    }

    /// Runs `body` while no other task or process that uses this store does. Other processes are waited for until `timeout`.
    nonisolated func withLock<Value>(
        timeout: Duration = .seconds(120), _ body: () async -> Value
    ) async throws(StoreError) -> Value {
        if let fileLock { return try await fileLock.withLock(timeout: timeout, body) }
        await taskLock.lock()
        defer { taskLock.unlock() }
        return await body()
    }

    /// An app's storage may throw anything, and quote what it was given.
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
