import SignetCore
import SignetStorage
import Synchronization

/// A mechanism, its account, and why that may not be used now.
struct EnrolledMechanism: Sendable {
    let mechanism: Mechanism
    /// Nil where a store has lost it.
    let account: Account?
    var lock: AccountLock?

    /// What the account says of itself.
    var details: CredentialDetails {
        CredentialDetails(account ?? Account(id: mechanism.account, timeAdded: mechanism.timeAdded), lock: lock)
    }
}

/// Reads mechanisms of some kinds for a client, from memory if that is wanted.
struct CredentialReader: Sendable {
    private let authenticator: Authenticator
    private let kinds: Set<Mechanism.KindName>
    private let cache: Cache?

    init(_ authenticator: Authenticator, kinds: Set<Mechanism.KindName>, isCaching: Bool) {
        self.authenticator = authenticator
        self.kinds = kinds
        cache = isCaching ? Cache() : nil
    }

    /// All of them, the oldest first.
    func all() async throws(StoreError) -> [EnrolledMechanism] {
        if let kept = cache?.content { return await judged(kept) }
        let age = cache?.age
        let found = try await authenticator.accounts().flatMap { enrolled in
            enrolled.mechanisms.map { EnrolledMechanism(mechanism: $0, account: enrolled.account, lock: enrolled.lock) }
        }
        let ours = found.filter { kinds.contains($0.mechanism.kindName) }
            .sorted { Mechanism.isBefore($0.mechanism, $1.mechanism) }
        if let age { cache?.keep(ours, from: age) }
        return ours
    }

    /// The one with this id; nil if there is none.
    func one(_ uid: String) async throws(StoreError) -> EnrolledMechanism? {
        if let kept = cache?.content { return await judged(kept.filter { $0.mechanism.uid == uid }).first }
        if cache != nil { return try await all().first { $0.mechanism.uid == uid } }
        let found = try await authenticator.store.read { (records: any AccountReader) throws(StoreError) in
            try records.mechanism(uid).map { mechanism throws(StoreError) in
                EnrolledMechanism(mechanism: mechanism, account: try records.account(mechanism.account))
            }
        }
        guard let found, kinds.contains(found.mechanism.kindName) else { return nil }
        return await judged([found]).first
    }

    /// Forgets what is in memory. To be called before and after each change.
    func forget() { cache?.forget() }

    /// Changes something: what is in memory is not what is stored any more.
    func changing<R>(_ change: () async throws -> R) async throws -> R {
        forget()
        defer { forget() }
        return try await change()
    }

    /// Locks are of the moment, and never of the memory.
    private func judged(_ mechanisms: [EnrolledMechanism]) async -> [EnrolledMechanism] {
        var judged: [EnrolledMechanism] = []
        for var one in mechanisms {
            one.lock = if let account = one.account { await authenticator.policies.lock(on: account) } else { nil }
            judged.append(one)
        }
        return judged
    }

    private final class Cache: Sendable {
        private let state = Mutex<(age: UInt64, content: [EnrolledMechanism]?)>((0, nil))

        var content: [EnrolledMechanism]? { state.withLock { $0.content } }
        /// How often it was emptied.
        var age: UInt64 { state.withLock { $0.age } }

        /// Keeps what was read, unless it was emptied since the reading began.
        func keep(_ content: [EnrolledMechanism], from age: UInt64) {
            state.withLock { state in
                if state.age == age { state.content = content }
            }
        }

        func forget() { state.withLock { $0 = ($0.age + 1, nil) } }
    }
}
