public import SignetCore

/// A record store that is opened at its first use, once for all callers that share it, and on a thread of its own that may block.
///
/// A failure is not remembered. The next call tries again, for example after the user has unlocked their keyring.
public final class VaultProvider: Sendable {
    /// The user's keychain, in the default directory (``VaultDirectory/default()``).
    ///
    /// The first write creates a missing vault. Until then, reads find nothing. The new vault is sealed by the strongest
    /// key protector that works here: the Secure Enclave; otherwise the TPM, the desktop's keyring if it is unlocked, a systemd
    /// credential, the passphrase that ``askForPassphrase(_:)`` returns. Where none works, it is a key file beside the records, which
    /// is logged as a warning. ``require(_:)`` excludes weaker key protectors.
    ///
    /// An existing vault is opened and never weakened or replaced. On Apple's systems, the vault is in the app's keychain, and
    /// its first use creates it, unless the directory holds a vault. Without a Secure Enclave, a key in another item of the keychain
    /// seals it (``ProtectionLevel/separateKey``), which is logged as a warning.
    public static let `default` = VaultProvider(defaultPreferences) { () throws(StoreError) in
        try DefaultStore.open(in: .default(), defaultPreferences)
    }

    /// The preferences of the default vault, and of a vault that FRAuth shares in a keychain access group.
    package static let defaultPreferences = VaultPreferences()

    private let preferences: VaultPreferences
    private let opener: Opener
    private let state = Mutex(State.closed)
    /// The number of calls that write now.
    private let writes = Counter()

    /// A closure that opens a keychain.
    ///
    /// It runs on a thread that may block, so it can wait for hardware or for the user.
    public typealias Opener = @Sendable () throws(StoreError) -> any RecordStore

    private enum State {
        case closed
        case opening(Task<Result<any RecordStore, StoreError>, Never>)
        case open(any RecordStore)
    }

    /// Creates a keychain that `opener` opens.
    public convenience init(_ opener: @escaping Opener) {
        self.init(VaultPreferences(), opener)
    }

    /// Creates a keychain whose opener follows `preferences`.
    init(_ preferences: VaultPreferences, _ opener: @escaping Opener) {
        self.preferences = preferences
        self.opener = opener
    }

    /// Creates a keychain for the vault in `directory`; the first write creates a missing one, as in ``default``.
    public convenience init(directory: VaultDirectory) {
        let preferences = VaultPreferences()
        self.init(preferences) { () throws(StoreError) in try DefaultStore.openFile(in: directory, preferences) }
    }

    /// Requires that the vault's key is protected at least at this level.
    ///
    ///     VaultProvider.default.require(.hardware)
    ///
    /// From now on, each call of this keychain fails with ``StoreError/Code/protectionTooWeak`` when the vault is protected by less,
    /// or when a first write finds no such key protector on this machine; the error names what is missing and how to get it.
    /// Nothing is created then. The requirement can be raised and never lowered. Call it before the first use.
    ///
    /// The operator can require a level too, with the environment variable `SIGNET_REQUIRE` (``ProtectionLevel``). The higher one
    /// counts.
    public func require(_ level: ProtectionLevel) {
        preferences.require(level)
    }

    /// Sets the closure that asks the user for the passphrase of the vault.
    ///
    /// It is used when no other key protector works: to create the vault, and to open one that is sealed by a passphrase or has a
    /// recovery key. It runs on a thread that may block.
    ///
    /// On Apple's systems it opens a vault in the keychain that has a recovery key, and never creates one: the Secure Enclave or
    /// the keychain always has a key for a new vault.
    /// - Parameter ask: Returns the passphrase, as for ``PassphraseProtector/init(cost:ask:)``.
    public func askForPassphrase(_ ask: @escaping @Sendable () throws(StoreError) -> Secret) {
        preferences.askForPassphrase(ask)
    }

    /// Opens the keychain now with another closure, for example to create a missing vault, or to use a passphrase that the app
    /// asks for.
    ///
    ///     let place = try VaultDirectory.default()
    ///     try await VaultProvider.default.open { () throws(StoreError) in try place.createVault(.keyFile) }
    ///
    /// - Throws: ``StoreError/Code/exists`` when the keychain is open already; the errors of `opener`.
    public func open(_ opener: @escaping Opener) async throws(StoreError) {
        while true {
            let (state, isOurs) = begin(with: opener)
            switch state {
            case .opening(let attempt) where isOurs:
                _ = try await attempt.value.get()
                return
            case .opening(let attempt): _ = await attempt.value
            case .open(let store as FirstUseStore) where !store.isOpen:
                // Nothing was stored or opened with it yet.
                self.state.withLock { if case .open(let known) = $0, known as? FirstUseStore === store { $0 = .closed } }
            case .open, .closed:
                throw StoreError(
                    .exists, "open keychain", "the vault is already open; open it with this method before its first use")
            }
        }
    }

    /// Reads a consistent state of the store.
    ///
    /// A local store is read on the calling thread, because a change of threads takes several times as long as a read. While a
    /// call of this provider writes, reads wait on threads of their own.
    package func read<R: Sendable>(
        _ body: @escaping @Sendable (any RecordReader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let store = try await store()
        if (store as? any QuickReading)?.readsQuickly == true, writes.count == 0 {
            return try store.read(body)
        }
        return try await Blocking.run { () throws(StoreError) in try store.read(body) }
    }

    /// Reads and changes records in one transaction.
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (any RecordWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let store = try await store()
        writes.add()
        defer { writes.add(-1) }
        return try await Blocking.run { () throws(StoreError) in try store.write(body) }
    }

    /// Returns the open store.
    ///
    /// Opens it first if it is closed.
    package func store() async throws(StoreError) -> any RecordStore {
        switch begin(with: opener).state {
        case .open(let store): return store
        case .opening(let attempt): return try await attempt.value.get()
        case .closed: throw StoreError(.failed, "open keychain", "it was not begun")
        }
    }

    /// Starts to open the keychain if it is closed.
    ///
    /// Returns the state after that, and true when this call started the attempt. The attempt is a task of its own, so that the
    /// cancellation of one waiting caller does not affect the others.
    private func begin(with opener: @escaping Opener) -> (state: State, isOurs: Bool) {
        state.withLock { state in
            guard case .closed = state else { return (state, false) }
            // The task has an executor of its own, because a waiting caller may block a thread of Swift's pool.
            state = .opening(Task(executorPreference: Blocking.executor) { await self.finish(opener) })
            return (state, true)
        }
    }

    private func finish(_ opener: @escaping Opener) async -> Result<any RecordStore, StoreError> {
        do throws(StoreError) {
            let preferences = preferences
            let store = try await Blocking.run { () throws(StoreError) -> any RecordStore in
                let store = try opener()
                // A vault without its own check of the level, because the app's opener returned it.
                guard let vault = store as? Vault else { return store }
                return try CheckedVault(vault, VaultRequirement(preferences))
            }
            state.withLock { $0 = .open(store) }
            return .success(store)
        } catch {
            state.withLock { $0 = .closed }
            return .failure(error)
        }
    }
}
