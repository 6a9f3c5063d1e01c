package import SignetCore
package import SignetStorage
import Synchronization

/// A mechanism with its account and the account's current lock.
package struct EnrolledMechanism: Sendable {
    /// The mechanism.
    package let mechanism: Mechanism
    /// The account; nil when the store has no such account.
    package let account: Account?
    /// The current lock of the account; nil when it isn't locked.
    package var lock: AccountLock?

    /// Creates a mechanism with its account and lock.
    package init(mechanism: Mechanism, account: Account?, lock: AccountLock? = nil) {
        self.mechanism = mechanism
        self.account = account
        self.lock = lock
    }

    /// The details of the account. A missing account gives the details of an empty one with the same identity.
    package var details: CredentialDetails {
        CredentialDetails(account ?? Account(id: mechanism.account, timeAdded: mechanism.timeAdded), lock: lock)
    }
}

/// A reader of a client's mechanisms of certain kinds, with an optional cache in memory.
package struct CredentialReader: Sendable {
    private let authenticator: Authenticator
    private let kinds: Set<Mechanism.KindName>
    private let cache: Cache?

    /// Creates a reader of the authenticator's mechanisms of these kinds.
    package init(_ authenticator: Authenticator, kinds: Set<Mechanism.KindName>, isCaching: Bool) {
        self.authenticator = authenticator
        self.kinds = kinds
        cache = isCaching ? Cache() : nil
    }

    /// Returns all mechanisms of these kinds, oldest first.
    package func all() async throws(StoreError) -> [EnrolledMechanism] {
        if let kept = cache?.content { return await evaluated(kept) }
        let age = cache?.age
        let found = try await authenticator.accounts().flatMap { enrolled in
            enrolled.mechanisms.map { EnrolledMechanism(mechanism: $0, account: enrolled.account, lock: enrolled.lock) }
        }
        let ours = found.filter { kinds.contains($0.mechanism.kindName) }
            .sorted { Mechanism.isBefore($0.mechanism, $1.mechanism) }
        if let age { cache?.keep(ours, from: age) }
        return ours
    }

    /// Returns the mechanism with this id; nil when it does not exist or is of another kind.
    package func one(_ uid: String) async throws(StoreError) -> EnrolledMechanism? {
        if let kept = cache?.content { return await evaluated(kept.filter { $0.mechanism.uid == uid }).first }
        if cache != nil { return try await all().first { $0.mechanism.uid == uid } }
        let found = try await authenticator.store.fetch(
            AccountQuery { records throws(StoreError) in
                guard let mechanism = try records.mechanism(uid) else { return nil as EnrolledMechanism? }
                return EnrolledMechanism(mechanism: mechanism, account: try records.account(mechanism.account))
            })
        guard let found, kinds.contains(found.mechanism.kindName) else { return nil }
        return await evaluated([found]).first
    }

    /// Empties the cache. Call it before and after each change.
    package func forget() { cache?.forget() }

    /// Runs a change, and empties the cache before and after it.
    package func changing<R>(_ change: () async throws -> R) async throws -> R {
        forget()
        defer { forget() }
        return try await change()
    }

    /// Evaluates the locks of mechanisms from the cache again, because locks are never cached.
    private func evaluated(_ mechanisms: [EnrolledMechanism]) async -> [EnrolledMechanism] {
        var evaluated: [EnrolledMechanism] = []
        for var one in mechanisms {
            one.lock = if let account = one.account { await authenticator.policies.lock(on: account) } else { nil }
            evaluated.append(one)
        }
        return evaluated
    }

    private final class Cache: Sendable {
        private let state = Mutex<(age: UInt64, content: [EnrolledMechanism]?)>((0, nil))

        var content: [EnrolledMechanism]? { state.withLock { $0.content } }
        /// The number of times that the cache was emptied.
        var age: UInt64 { state.withLock { $0.age } }

        /// Caches values that were read, unless the cache was emptied after the read began.
        func keep(_ content: [EnrolledMechanism], from age: UInt64) {
            state.withLock { state in
                if state.age == age { state.content = content }
            }
        }

        func forget() { state.withLock { $0 = ($0.age + 1, nil) } }
    }
}
