import Synchronization

/// A record store that is opened when it is first needed: once for all who share it, and on a thread where it may block.
///
/// A failure is not remembered. The next call tries again, for example after the user has unlocked their keyring.
public final class Keychain: Sendable {
    /// The user's own, in the usual place (``VaultDirectory/usual()``). It opens a vault that is there and never makes one:
    /// where there is none, every call fails with ``StoreError/Code/noVault`` until somebody has chosen how it is to be sealed.
    public static let standard = Keychain { () throws(StoreError) in try StandardStore.open() }

    private let opener: Opener
    private let state = Mutex(State.closed)

    /// How a keychain is opened. It runs where it may block, to ask hardware or a person.
    public typealias Opener = @Sendable () throws(StoreError) -> any RecordStore

    private enum State {
        case closed
        case opening(Task<Result<any RecordStore, StoreError>, Never>)
        case open(any RecordStore)
    }

    /// A keychain that `opener` opens.
    public init(_ opener: @escaping Opener) {
        self.opener = opener
    }

    /// Opens the keychain now, and in another way: by making the vault that is not there yet, or with a passphrase that only
    /// the app can ask for.
    ///
    ///     let place = try VaultDirectory.usual()
    ///     try await Keychain.standard.open { () throws(StoreError) in try place.createVault(.keyFile) }
    ///
    /// - Throws: ``StoreError/Code/exists`` when the keychain is open already; what `opener` throws.
    public func open(_ opener: @escaping Opener) async throws(StoreError) {
        while true {
            let (state, isOurs) = begin(with: opener)
            switch state {
            case .opening(let attempt) where isOurs:
                _ = try await attempt.value.get()
                return
            case .opening(let attempt): _ = await attempt.value
            case .open, .closed:
                throw StoreError(.exists, "open keychain", "it is open already; open it in this way before it is first used")
            }
        }
    }

    /// Reads a consistent state.
    package func read<R: Sendable>(
        _ body: @escaping @Sendable (any RecordReader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let store = try await store()
        return try await Blocking.run { () throws(StoreError) in try store.read(body) }
    }

    /// Reads and changes, all or nothing.
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (any RecordWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let store = try await store()
        return try await Blocking.run { () throws(StoreError) in try store.write(body) }
    }

    /// The open store: opened now, if it is not yet.
    package func store() async throws(StoreError) -> any RecordStore {
        switch begin(with: opener).state {
        case .open(let store): return store
        case .opening(let attempt): return try await attempt.value.get()
        case .closed: throw StoreError(.failed, "open keychain", "it was not begun")
        }
    }

    /// The state after beginning to open, if nobody has; and whether it was this call that began. The attempt is a task of its
    /// own: who waits for it may be cancelled, the others go on waiting.
    private func begin(with opener: @escaping Opener) -> (state: State, isOurs: Bool) {
        state.withLock { state in
            guard case .closed = state else { return (state, false) }
            // Who waits for it may be blocking a thread of Swift's pool.
            state = .opening(Task(executorPreference: Blocking.executor) { await self.finish(opener) })
            return (state, true)
        }
    }

    private func finish(_ opener: @escaping Opener) async -> Result<any RecordStore, StoreError> {
        do throws(StoreError) {
            let store = try await Blocking.run(opener)
            state.withLock { $0 = .open(store) }
            return .success(store)
        } catch {
            state.withLock { $0 = .closed }
            return .failure(error)
        }
    }
}
