import Foundation
package import SignetCore
package import SignetStorage

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

    /// The details of the account.
    ///
    /// A missing account gives the details of an empty one with the same identity.
    package var details: CredentialDetails {
        CredentialDetails(account ?? Account(id: mechanism.account, timeAdded: mechanism.timeAdded), lock: lock)
    }
}

/// The credentials of a client: the mechanisms of certain kinds in an authenticator's store, with an optional cache in memory.
package struct ClientCredentials: Sendable {
    private let authenticator: Authenticator
    private let kinds: Set<Mechanism.KindName>
    private let cache: Cache?

    /// Creates the credentials of a client from the authenticator's mechanisms of these kinds.
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
        let found = try await authenticator.store.fetch(.enrolledMechanism(uid))
        guard let found, kinds.contains(found.mechanism.kindName) else { return nil }
        return await evaluated([found]).first
    }

    /// Returns true when a mechanism of these kinds has this id.
    package func contains(_ uid: String) async throws(StoreError) -> Bool {
        try await authenticator.store.fetch(.mechanism(uid)).map { kinds.contains($0.kindName) } ?? false
    }

    /// Enrolls an account, and returns the new mechanism of this kind.
    package func enroll(_ enrollment: Enrollment, _ kind: Mechanism.KindName) async throws -> EnrolledMechanism {
        let enrolled = try await changing { try await authenticator.enroll(enrollment) }
        guard let mechanism = enrolled.mechanisms.first(where: { $0.kindName == kind }) else {
            throw AuthenticatorError.nothingOffered
        }
        return EnrolledMechanism(mechanism: mechanism, account: enrolled.account, lock: enrolled.lock)
    }

    /// Stores a mechanism, new or existing, and the details of its account.
    /// - Parameters:
    ///   - uid: The id of the mechanism.
    ///   - details: The details of the account.
    ///   - make: Makes the mechanism, given the stored mechanism with the same id. It throws when the mechanism is invalid.
    /// - Returns: The stored mechanism with its account and the account's lock.
    /// - Throws: The error of `make`; `StoreError`.
    package func save(
        _ uid: String, _ details: CredentialDetails, make: @escaping @Sendable (Mechanism?) throws -> Mechanism
    ) async throws -> EnrolledMechanism {
        let operation = AccountOperation.save(uid, details, now: authenticator.clock.now, make: make)
        var saved = try await changing { try await authenticator.store.perform(operation) }
        saved.lock = await lock(on: saved.account)
        return saved
    }

    /// Removes a mechanism, and its account if it has no other mechanism.
    /// - Returns: True when the mechanism existed and is of these kinds.
    package func remove(_ uid: String) async throws -> Bool {
        try await changing {
            guard try await contains(uid) else { return false }
            return try await authenticator.removeMechanism(uid)
        }
    }

    /// Empties the cache.
    ///
    /// Call it before and after each change.
    package func forget() { cache?.forget() }

    /// Runs a change, and empties the cache before and after it.
    private func changing<R>(_ change: () async throws -> R) async throws -> R {
        forget()
        defer { forget() }
        return try await change()
    }

    /// Evaluates the locks of mechanisms from the cache again, because locks are never cached.
    private func evaluated(_ mechanisms: [EnrolledMechanism]) async -> [EnrolledMechanism] {
        var evaluated: [EnrolledMechanism] = []
        for var one in mechanisms {
            one.lock = await lock(on: one.account)
            evaluated.append(one)
        }
        return evaluated
    }

    private func lock(on account: Account?) async -> AccountLock? {
        if let account { await authenticator.policies.lock(on: account) } else { nil }
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

extension AccountQuery where Value == EnrolledMechanism?, Failure == StoreError {
    /// Returns the mechanism with this id, with its account.
    fileprivate static func enrolledMechanism(_ uid: String) -> Self {
        Self { records throws(StoreError) in
            guard let mechanism = try records.mechanism(uid) else { return nil }
            return EnrolledMechanism(mechanism: mechanism, account: try records.account(mechanism.account))
        }
    }
}

extension AccountOperation where Value == EnrolledMechanism, Failure == any Error {
    /// Stores a mechanism, new or existing, and the details of its account.
    fileprivate static func save(
        _ uid: String, _ details: CredentialDetails, now: Date, make: @escaping @Sendable (Mechanism?) throws -> Mechanism
    ) -> Self {
        Self { records in
            let known = try records.mechanism(uid)
            var mechanism = try make(known)
            if let known { (mechanism.unknownMembers, mechanism.counterOwner) = (known.unknownMembers, known.counterOwner) }
            try [mechanism].refuseDuplicates(among: records.mechanisms(of: mechanism.account).filter { $0.uid != uid })
            try records.save(mechanism)
            if known == nil { try records.markTokenOutstanding(mechanism) }
            let stored = try records.account(mechanism.account)
            let account = stored.flatMap { known == nil ? details.added(to: $0) : nil } ?? details.applied(to: stored, now: now)
            try records.save(account)
            return EnrolledMechanism(mechanism: mechanism, account: account)
        }
    }
}
