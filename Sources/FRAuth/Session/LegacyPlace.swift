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

    /// A store whose items can be read and saved for as long as `gate` is open; without one always.
    /// - Throws: `StoreError` when the place for the lock file is not known or not safe.
    func store(_ gate: Gate = .always) throws(StoreError) -> SessionStore {
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

/// Whether what runs with some settings may use what is stored. It opens when it is known that the session is of these settings, and closes
/// when the SDK is started with others that end it: a journey of the old server neither puts its session where the new server's belongs,
/// nor is it given that one.
final class Gate: Sendable {
    private enum State {
        case beginning, open, closed
    }

    private let state: Mutex<State>

    init() { state = Mutex(.beginning) }

    private init(_ state: State) { self.state = Mutex(state) }

    /// One that is open.
    static let always = Gate(.open)

    /// Why nothing is done for settings that were replaced.
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

/// A storage that reads and saves for as long as its gate is open, and removes in any case.
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
