import SignetCore
import SignetJourney
import SignetStorage
import Synchronization

/// Where the session, the tokens and the last settings of an app are in a keychain. The session is the access group's where there is
/// one, the tokens are always the app's own (protocol/journey.md section 3.1).
struct LegacyPlace: Sendable {
    let keychain: Keychain
    /// The app's name.
    let application: String
    /// The access group; nil for a session of the app's own.
    let group: String?
    /// The lock file; nil for one beside the user's vault.
    let lockFile: String?

    private var own: String { "frauth/app/\(application)" }
    private var shared: String { group.map { "frauth/group/\($0)" } ?? own }

    /// A store that saves for as long as `gate` is open.
    /// - Throws: `StoreError` when the place for the lock file is not known or not safe.
    func store(_ gate: Gate) throws(StoreError) -> SessionStore {
        // Who shares a session takes turns with it.
        let turns = if let lockFile { lockFile } else { try SessionStore.lockFile(for: shared) }
        return try SessionStore(
            tokens: GatedStorage(inner: KeychainStorage(account: "\(own)/tokens", in: keychain), gate: gate),
            session: GatedStorage(inner: KeychainStorage(account: "\(shared)/session", in: keychain), gate: gate),
            cookies: GatedStorage(inner: KeychainStorage(account: "\(shared)/cookies", in: keychain), gate: gate),
            lockFile: turns)
    }

    /// The settings that the SDK was started with last.
    var lastOptions: KeychainStorage<JSONValue> { KeychainStorage(account: "\(own)/options", in: keychain) }
}

/// Whether what runs with some settings may still save: closed when the SDK is started with others that end the session, so that a journey
/// of the old server that comes to its end later does not put its session where the new server's belongs.
final class Gate: Sendable {
    private let isOpen = Mutex(true)

    func close() { isOpen.withLock { $0 = false } }

    func pass() throws(StoreError) {
        guard isOpen.withLock({ $0 }) else {
            throw StoreError(
                .invalid, "save the session", "the SDK was started with other settings meanwhile: begin the login again")
        }
    }
}

/// A storage that saves for as long as its gate is open, and reads and removes in any case.
struct GatedStorage<T: Codable & Sendable>: Storage {
    let inner: KeychainStorage<T>
    let gate: Gate

    func save(item: sending T) async throws {
        try gate.pass()
        try await inner.save(item: item)
    }

    func get() async throws -> T? { try await inner.get() }
    func delete() async throws { try await inner.delete() }
}
