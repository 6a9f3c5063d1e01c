import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage
import Synchronization

/// The location of an app's session, tokens and last settings in a keychain. The session belongs to the access group if there is
/// one. The tokens always belong to the app alone (protocol/journey.md section 3.1).
struct LegacyPlace: Sendable {
    let keychain: VaultProvider
    /// The app's name.
    let application: String
    /// The access group; nil when the session belongs to the app alone.
    let group: String?
    /// The lock file; nil for the default next to the user's vault.
    let lockFile: String?

    private var own: String { "frauth/app/\(application)" }
    private var shared: String { group.map { "frauth/group/\($0)" } ?? own }

    /// Returns a store that reads and saves items only while `gate` is open. The default gate is always open.
    /// - Throws: `StoreError` when the folder for the lock file is unknown or unsafe.
    func store(_ gate: Gate = .always) throws(StoreError) -> SessionStore {
        // Apps that share a session must share its lock file.
        let turns = if let lockFile { lockFile } else { try SessionStore.lockFile(for: shared) }
        return try SessionStore(
            tokens: GatedStorage(inner: KeychainStorage(account: "\(own)/tokens", in: keychain), gate: gate),
            session: GatedStorage(inner: KeychainStorage(account: "\(shared)/session", in: keychain), gate: gate),
            cookies: GatedStorage(inner: KeychainStorage(account: "\(shared)/cookies", in: keychain), gate: gate),
            lockFile: turns)
    }

    /// The settings that the SDK was last started with.
    var lastOptions: KeychainStorage<JSONValue> { KeychainStorage(account: "\(own)/options", in: keychain) }
}

/// A gate that decides if code with certain settings may use the stored data. It opens when the stored session is known to belong
/// to these settings. It closes when the SDK is started with other settings that end the session. A journey of the old server can
/// then neither store its session in place of the new server's, nor read the new one.
final class Gate: Sendable {
    private enum State {
        case beginning, open, closed
    }

    private let state: Mutex<State>

    init() { state = Mutex(.beginning) }

    private init(_ state: State) { self.state = Mutex(state) }

    /// A gate that is always open.
    static let always = Gate(.open)

    /// The error for settings that were replaced.
    static let isClosed = StoreError(
        .invalid, "use the session", "the SDK was started with other settings meanwhile: begin the login again")

    func open() { state.withLock { if $0 == .beginning { $0 = .open } } }
    func close() { state.withLock { $0 = .closed } }

    func pass() throws(StoreError) {
        switch state.withLock({ $0 }) {
        case .open: return
        case .closed: throw Self.isClosed
        case .beginning:
            throw StoreError(.invalid, "use the session", "it is not known yet whether it is one of these settings")
        }
    }
}

/// A storage that reads and saves only while its gate is open. It can always remove.
struct GatedStorage<T: Codable & Sendable>: Storage {
    let inner: KeychainStorage<T>
    let gate: Gate

    func save(item: sending T) async throws {
        try gate.pass()
        try await inner.save(item: item)
    }

    func get() async throws -> T? {
        try gate.pass()
        return try await inner.get()
    }

    func delete() async throws { try await inner.delete() }
}
