import Foundation
import SignetCore
import SignetStorage

/// The vault of the agent: unlocked for a limited time, or locked.
///
/// Locking drops the vault with its keys, which are zeroed when the last operation in progress has ended.
final class AgentVault: Sendable {
    /// The directory of the vault.
    let directory: VaultDirectory

    /// The reason for which the vault is locked.
    enum LockReason: String, Sendable {
        /// It was not unlocked yet, or was not used for a time.
        case idle
        /// The session was locked, or the machine sleeps.
        case session
        /// The user locked it: `signet lock`.
        case user
    }

    private struct State {
        var session: Session?
        /// The identity of the vault's file when it was unlocked.
        var file: FileStatus.Identity?
        /// The number of times that the user or the session has locked the vault, unlocked or not.
        var lockCount = 0
        var reason = LockReason.idle
        /// The time of the last operation, or of the unlocking.
        var lastUse = ContinuousClock.now
        var watchers: [AsyncStream<Bool>.Continuation] = []
    }

    private let state = Mutex(State())

    /// The file with the certificate authorities for servers; nil for those of the system.
    private let authorityFile: String?

    /// Opens the vault without a question; nil when it needs the passphrase.
    private let openUnattended: @Sendable (VaultDirectory) -> Session?

    /// Creates a locked vault.
    /// - Parameters:
    ///   - directory: The directory of the vault.
    ///   - authorityFile: The file with the certificate authorities for servers; nil for those of the system.
    ///   - openUnattended: Opens the vault without a question; returns nil when it needs the passphrase.
    init(
        _ directory: VaultDirectory, authorityFile: String?,
        openUnattended: @escaping @Sendable (VaultDirectory) -> Session? = { Session.openUnattended(in: $0) }
    ) {
        self.directory = directory
        self.authorityFile = authorityFile
        self.openUnattended = openUnattended
    }

    /// The reason for which the vault is locked; nil for an unlocked one.
    var lockReason: LockReason? { state.withLock { $0.session == nil ? $0.reason : nil } }

    /// True when the vault is unlocked.
    var isUnlocked: Bool { state.withLock { $0.session != nil } }

    /// The time since the last operation, or since the unlocking.
    var idleTime: Duration { state.withLock { ContinuousClock.now - $0.lastUse } }

    /// Returns the unlocked vault for an operation, and notes the use; nil when it is locked.
    func sessionForUse() -> Session? {
        state.withLock { state in
            if state.session != nil { state.lastUse = .now }
            return state.session
        }
    }

    /// The unlocked vault without noting a use, for work that no user has asked for; nil when it is locked.
    var session: Session? { state.withLock { $0.session } }

    /// Held while the vault is opened, so that clients which ask at the same time wait for one opening.
    private let opening = AsyncLock()
    private let isUnlocking = Mutex(false)

    /// Unlocks the vault without a question, on a thread where this may block.
    ///
    /// It waits while another client opens the vault, and then has nothing to do.
    /// - Returns: False when the vault needs the passphrase. True also when it was locked again meanwhile, and stays so.
    func unlockUnattended() async -> Bool {
        let count = lockCount
        await opening.lock()
        defer { opening.unlock() }
        if isUnlocked || lockCount != count { return true }
        let (directory, open) = (directory, openUnattended)
        guard let opened = try? await Blocking.run({ () throws(StoreError) in open(directory) }) else { return false }
        unlock(opened, since: count)
        return true
    }

    /// Unlocks the vault with a passphrase, on a thread where this may block.
    ///
    /// A vault that was locked again meanwhile stays so.
    /// - Parameter passphrase: The passphrase.
    /// - Throws: `StoreError` for another passphrase; with the code `busy` while another client's passphrase is tried.
    func unlock(with passphrase: Secret) async throws(StoreError) {
        let count = lockCount
        // The derivation of the key takes a lot of memory, so there is one at a time.
        try beginUnlocking()
        defer { endUnlocking() }
        await opening.lock()
        defer { opening.unlock() }
        if isUnlocked || lockCount != count { return }
        let directory = directory
        let session = try await Blocking.run { () throws(StoreError) in try Session.open(directory, withPassphrase: passphrase) }
        unlock(session, since: count)
    }

    /// Begins to derive a key from a passphrase.
    /// - Throws: `StoreError` with the code `busy` while another client's passphrase is tried.
    private func beginUnlocking() throws(StoreError) {
        let isFree = isUnlocking.withLock { isUnlocking in
            defer { isUnlocking = true }
            return !isUnlocking
        }
        guard isFree else { throw StoreError(.busy, "unlock vault", "another passphrase is being tried; try again") }
    }

    /// Ends what ``beginUnlocking()`` has begun.
    private func endUnlocking() { isUnlocking.withLock { $0 = false } }

    /// The number of times that the user or the session has locked the vault so far.
    var lockCount: Int { state.withLock { $0.lockCount } }

    /// Unlocks the vault with a session that was opened for it.
    /// - Parameters:
    ///   - session: The session.
    ///   - count: The ``lockCount`` before the session was opened. The vault stays locked when it was locked since.
    func unlock(_ session: Session, since count: Int) {
        MemoryProtection.lockKeys(of: session.vault)
        var session = session
        session.authorityFile = authorityFile
        let file = identity
        change { [session] state in
            if state.lockCount == count { (state.session, state.file, state.lastUse) = (session, file, .now) }
            return state.session != nil
        }
    }

    /// The identity of the file in the directory of the vault.
    private var identity: FileStatus.Identity? { FileStatus(at: directory.recordsPath, followsLinks: true)?.identity }

    /// Locks the vault when another one is in its directory now, and when another process has rotated its key.
    func lockUnlessCurrent() {
        let (session, file) = state.withLock { ($0.session, $0.file) }
        guard let session else { return }
        guard file == identity else { return lock(.idle) }
        do throws(StoreError) {
            try session.vault.requireCurrent()
        } catch {
            // Other failures, such as a busy database, say nothing about the key. The operation meets and reports them.
            let isOther: Set<StoreError.Code> = [.keyMismatch, .noVault, .rolledBack, .corrupt]
            if isOther.contains(error.code) { lock(.idle) }
        }
    }

    /// Locks the vault.
    ///
    /// Of a locked one, a stronger reason is noted.
    func lock(_ reason: LockReason) {
        change { state in
            if state.session != nil || reason != .idle { state.reason = reason }
            if reason != .idle { state.lockCount += 1 }
            state.session = nil
            return false
        }
    }

    /// Locks the vault, and waits until no operation holds its keys.
    /// - Parameters:
    ///   - reason: The reason.
    ///   - limit: The time to wait.
    func lock(_ reason: LockReason, waiting limit: Duration) async {
        weak let vault = session?.vault
        lock(reason)
        let end = ContinuousClock.now + limit
        while vault != nil, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Returns a stream with the present state and each later one: true for unlocked.
    func states() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            continuation.yield(state.session != nil)
            state.watchers.append(continuation)
        }
        return stream
    }

    private func change(_ change: (inout State) -> Bool) {
        // The session is released outside of the lock, because its release zeroes keys and closes a database.
        let released = state.withLock { state in
            let before = state.session
            let isUnlocked = change(&state)
            for watcher in state.watchers { watcher.yield(isUnlocked) }
            return before
        }
        _ = released
    }

    /// Locks the vault whenever it has not been used for a time, until the task is canceled.
    /// - Parameter limit: The time without an operation after which the vault is locked.
    func lockWhenIdle(for limit: Duration) async {
        while !Task.isCancelled {
            let end = state.withLock { $0.session == nil ? nil : $0.lastUse + limit }
            if let end, end <= .now {
                lock(.idle)
                continue
            }
            try? await Task.sleep(until: end ?? .now + limit, clock: .continuous)
        }
    }
}
