import Synchronization

/// A record store that is opened at its first use, once for all callers that share it, and on a thread of its own that may block.
///
/// A failure is not remembered. The next call tries again, for example after the user has unlocked their keyring.
public final class VaultProvider: Sendable {
    /// The user's keychain, in the default directory (``VaultDirectory/default()``).
    ///
    /// It opens an existing vault and never creates one. Without a vault, every call fails with ``StoreError/Code/noVault``.
    /// Create the vault with ``open(_:)`` or `signet init`.
    public static let `default` = VaultProvider { () throws(StoreError) in try StandardStore.open(in: .default()) }

    private let opener: Opener
    private let state = Mutex(State.closed)
    /// The number of calls that write now.
    private let writes = Atomic(0)

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
    public init(_ opener: @escaping Opener) {
        self.opener = opener
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
            case .open, .closed:
                throw StoreError(.exists, "open keychain", "it is open already; open it in this way before it is first used")
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
        if (store as? any QuickReading)?.readsQuickly == true, writes.load(ordering: .relaxed) == 0 {
            return try store.read(body)
        }
        return try await Blocking.run { () throws(StoreError) in try store.read(body) }
    }

    /// Reads and changes records in one transaction.
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (any RecordWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let store = try await store()
        writes.add(1, ordering: .relaxed)
        defer { writes.subtract(1, ordering: .relaxed) }
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
            let store = try await Blocking.run(opener)
            state.withLock { $0 = .open(store) }
            return .success(store)
        } catch {
            state.withLock { $0 = .closed }
            return .failure(error)
        }
    }
}
