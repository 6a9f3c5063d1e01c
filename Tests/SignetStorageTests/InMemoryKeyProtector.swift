import SignetCore

@testable import SignetStorage

/// A key protector that keeps its key and its epochs in memory, and can be told to fail.
final class InMemoryKeyProtector: RollbackProtector {
    let name: String
    private let state = Mutex(State())

    private struct State {
        var key = Secret((0..<32).map { _ in UInt8.random(in: 0...255) })
        var epochs: [String: UInt64] = [:]
        var failure: StoreError?
        var unwrapped = 0
        var remembered = 0
        var meanwhile: (@Sendable () throws -> Void)?
        var thereafter: (@Sendable () throws -> Void)?
    }

    init(_ name: String = "memory") { self.name = name }

    /// The error that every call throws from now on.
    var failure: StoreError? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Runs once, before the next read or update of an epoch is answered: the work of another process in between.
    var meanwhile: (@Sendable () throws -> Void)? {
        get { state.withLock { $0.meanwhile } }
        set { state.withLock { $0.meanwhile = newValue } }
    }

    /// Runs once, when the next read of an epoch has been answered.
    var thereafter: (@Sendable () throws -> Void)? {
        get { state.withLock { $0.thereafter } }
        set { state.withLock { $0.thereafter = newValue } }
    }

    /// The number of requests for the key.
    var unwrapped: Int { state.withLock { $0.unwrapped } }
    /// The number of stored epochs.
    var remembered: Int { state.withLock { $0.remembered } }

    /// Gives it another key, as a cleared TPM has.
    func forget() { state.withLock { $0.key = Secret((0..<32).map { _ in UInt8.random(in: 0...255) }) } }

    /// Forgets all epochs, as a key protector that keeps none.
    func forgetEpochs() { state.withLock { $0.epochs = [:] } }

    func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try Sealing.seal(dataKey.bytes, with: try key(), context: context)
    }

    func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let key = try key()
        state.withLock { $0.unwrapped += 1 }
        guard let bytes = Sealing.open(wrapped, with: key, context: context) else {
            throw StoreError(.keyMismatch, "open vault", "\(name) has another key")
        }
        return Secret(bytes)
    }

    func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        _ = try key()
        try letOthersWork(\.meanwhile)
        let epoch = state.withLock { $0.epochs[id] }
        try letOthersWork(\.thereafter)
        return epoch
    }

    func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        _ = try key()
        try letOthersWork(\.meanwhile)
        let isHigher = state.withLock { state in
            state.remembered += 1
            guard epoch >= state.epochs[id] ?? 0 else { return false }
            state.epochs[id] = epoch
            return true
        }
        guard isHigher else { throw StoreError(.rolledBack, "remember epoch", "it is lower than the last") }
    }

    private func letOthersWork(
        _ hook: any WritableKeyPath<State, (@Sendable () throws -> Void)?> & Sendable
    ) throws(StoreError) {
        let work = state.withLock { state in
            defer { state[keyPath: hook] = nil }
            return state[keyPath: hook]
        }
        do {
            try work?()
        } catch {
            throw error as? StoreError ?? StoreError(.failed, "let others work", "\(error)")
        }
    }

    private func key() throws(StoreError) -> Secret {
        let (key, failure) = state.withLock { ($0.key, $0.failure) }
        if let failure { throw failure }
        return key
    }
}
