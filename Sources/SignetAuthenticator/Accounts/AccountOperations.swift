package import Foundation
package import SignetCore
package import SignetStorage

extension AccountQuery where Failure == StoreError {
    /// Returns all accounts, oldest first, with their mechanisms.
    static func accounts() -> Self where Value == [(account: Account, mechanisms: [Mechanism])] {
        Self { records throws(StoreError) in try records.accountsWithMechanisms() }
    }

    /// Returns the accounts with a name that differs from a text at most by case, as ``AccountReader/accounts(called:)`` does.
    static func accounts(called text: String) -> Self where Value == [(account: Account, mechanisms: [Mechanism])]? {
        Self { records throws(StoreError) in try records.accounts(called: text) }
    }

    /// Returns the account with this identity.
    package static func account(_ id: AccountID) -> Self where Value == Account? {
        Self { records throws(StoreError) in try records.account(id) }
    }

    /// Returns the account with this identity, and its mechanisms, oldest first.
    static func accountWithMechanisms(_ id: AccountID) -> Self where Value == (account: Account, mechanisms: [Mechanism])? {
        Self { records throws(StoreError) in
            guard let account = try records.account(id) else { return nil }
            return (account, try records.mechanisms(of: id))
        }
    }

    /// Returns the mechanism with this id.
    package static func mechanism(_ uid: String) -> Self where Value == Mechanism? {
        Self { records throws(StoreError) in try records.mechanism(uid) }
    }

    /// Returns the mechanisms of an account, oldest first.
    package static func mechanisms(of account: AccountID) -> Self where Value == [Mechanism] {
        Self { records throws(StoreError) in try records.mechanisms(of: account) }
    }

    /// Returns the records that the lists leave out because they cannot be read.
    static func damagedRecords() -> Self where Value == [DamagedRecord] {
        Self { records throws(StoreError) in try records.damagedRecords() }
    }
}

extension AccountQuery where Failure == any Error {
    /// Returns the settings of a mechanism that generates codes, and its account.
    package static func codeSource(_ uid: String) -> Self where Value == CodeSource {
        Self { records in
            let (mechanism, settings) = try records.oathMechanism(uid)
            return CodeSource(settings: settings, account: try records.account(mechanism.account))
        }
    }

    /// Returns the mechanisms that an enrollment offers, with the stored device token.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when the account already has one of them that is not replaced.
    static func offer(
        of enrollment: Enrollment, replacing: Set<String>, now: Date
    ) -> Self where Value == EnrollmentOffer {
        Self { records in
            var offer = EnrollmentOffer(enrollment, replacing: replacing, now: now)
            guard !offer.mechanisms.isEmpty else { throw AuthenticatorError.nothingOffered }
            _ = try offer.division(of: enrollment.account, in: records)
            offer.token = try records.deviceToken()?.token
            return offer
        }
    }
}

extension AccountOperation where Failure == any Error {
    // MARK: Enrollment

    /// Stores an account with new mechanisms, and removes those that they replace with their notifications.
    ///
    /// An account that is already stored keeps its names, its lock, its creation time and its other mechanisms.
    /// - Parameters:
    ///   - enrollment: The names and the policies of the account.
    ///   - offer: The new mechanisms, and the ids of those to replace.
    /// - Returns: An operation that returns the account with all its mechanisms. It throws
    ///   ``AuthenticatorError/Code/duplicateMechanism``.
    static func enroll(_ enrollment: Enrollment, _ offer: EnrollmentOffer) -> Self where Value == EnrolledAccount {
        Self { records in
            let (replaced, kept) = try offer.division(of: enrollment.account, in: records)
            for mechanism in replaced { try records.removeWithNotifications(mechanism) }
            let mechanisms = offer.mechanisms.map { $0.continuing(replaced) }
            for mechanism in mechanisms { try records.save(mechanism) }
            let account =
                try records.account(enrollment.account)?.updated(from: enrollment)
                ?? Account(enrollment, timeAdded: offer.time)
            try records.save(account)
            if let push = offer.push { try records.recordToken(offer.token, givenTo: push.uid) }
            return EnrolledAccount(account: account, mechanisms: (kept + mechanisms).sorted(by: Mechanism.isBefore))
        }
    }

    // MARK: Codes

    /// Increments the counter of a mechanism.
    ///
    /// Returns the settings that generate the code of the old counter, and the mechanism with the new counter. Show the code only
    /// after the transaction is durable.
    /// - Parameters:
    ///   - uid: The ID of the mechanism.
    ///   - permit: Called in the transaction, right before the new counter is saved. With an error the counter stays as it was.
    /// - Returns: An operation that throws ``AuthenticatorError``, and the errors of `permit`.
    package static func reserveCounter(
        _ uid: String, permit: @escaping @Sendable () throws -> Void = {}
    ) -> Self where Value == (settings: OATHSettings, mechanism: Mechanism) {
        Self { records in
            var (mechanism, settings) = try records.oathMechanism(uid)
            try records.account(mechanism.account)?.refuseIfLockedManually()
            try mechanism.refuseIfElsewhere()
            guard let reserved = settings.reserveCounter() else {
                throw AuthenticatorError(.counterExhausted, "the counter has reached its end; enroll the account again")
            }
            mechanism.kind = .oath(settings)
            try permit()
            try records.save(mechanism)
            return (reserved, mechanism)
        }
    }

    /// Moves a counter forward.
    ///
    /// A lower value than the current one is rejected.
    static func resynchronize(_ uid: String, counter: UInt64) -> Self where Value == Mechanism {
        Self { records in
            guard var mechanism = try records.mechanism(uid) else { throw AuthenticatorError.unknownMechanism(uid) }
            guard var settings = mechanism.oath, case .counter(let next) = settings.factor else {
                throw AuthenticatorError(.wrongKind, "this mechanism has no counter")
            }
            try records.account(mechanism.account)?.refuseIfLockedManually()
            try mechanism.refuseIfElsewhere()
            guard counter >= next else {
                throw AuthenticatorError(
                    .counterBackwards, "the counter is at \(next); it only moves forward, or codes would repeat")
            }
            settings.factor = .counter(next: counter)
            mechanism.kind = .oath(settings)
            try records.save(mechanism)
            return mechanism
        }
    }

    // MARK: Names and locks

    /// Changes the names that are shown for an account.
    ///
    /// Nil or an empty string restores the name of the enrollment. Everything else of the account stays.
    package static func rename(
        _ id: AccountID, displayIssuer: String?, displayAccountName: String?
    ) -> Self where Value == Account {
        Self { records in
            let names = [displayIssuer, displayAccountName].map { $0.flatMap { $0.isEmpty ? nil : $0 } }
            guard names.allSatisfy({ $0?.isSafeToShow ?? true }) else {
                throw AuthenticatorError(
                    .invalidName, "a name has no control characters and does not change the direction of text")
            }
            var account = try records.storedAccount(id)
            try account.refuseIfLockedManually()
            account.displayIssuer = names[0]
            account.displayAccountName = names[1]
            try records.save(account)
            return account
        }
    }

    /// Locks an account manually.
    /// - Parameters:
    ///   - id: The account.
    ///   - policy: The name of the policy that locks it.
    ///   - isAttached: True when the policy is one of the account's own, which the existing SDKs require.
    /// - Returns: An operation that returns the locked account. It throws ``AuthenticatorError``.
    package static func lock(_ id: AccountID, policy: String, isAttached: Bool = true) -> Self where Value == Account {
        Self { records in
            guard !policy.isEmpty, policy.isSafeToShow else {
                throw AuthenticatorError(.invalidPolicy, "a lock must have the name of a policy")
            }
            var account = try records.storedAccount(id)
            if let locked = account.lockingPolicy {
                throw AuthenticatorError(.alreadyLocked, "the account is locked already (\(locked))", policy: locked)
            }
            guard isAttached else {
                throw AuthenticatorError(.invalidPolicy, "\(policy) is not among the account's policies", policy: policy)
            }
            account.lockingPolicy = policy
            try records.save(account)
            return account
        }
    }

    /// Removes a manual lock.
    package static func unlock(_ id: AccountID) -> Self where Value == Account {
        Self { records in
            var account = try records.storedAccount(id)
            guard account.lockingPolicy != nil else {
                throw AuthenticatorError(.notLocked, "the account was not locked by the user")
            }
            account.lockingPolicy = nil
            try records.save(account)
            return account
        }
    }
}

extension AccountOperation where Value == Bool, Failure == StoreError {
    // MARK: Removal

    /// Removes an account with its mechanisms and their notifications, including records that cannot be read.
    /// - Returns: True when the account or any of its mechanisms existed.
    package static func removeAccount(_ id: AccountID) -> AccountOperation<Bool, StoreError> {
        Self { records throws(StoreError) in
            let mechanisms = try records.mechanisms(of: id)
            let wasThere = try !RecordLookup { () throws(StoreError) in try records.account(id) }.isAbsent
            for mechanism in mechanisms { try records.removeWithNotifications(mechanism) }
            try records.remove(account: id)
            return wasThere || !mechanisms.isEmpty
        }
    }

    /// Removes a mechanism with its notifications, and its account if this was the last mechanism and `keepingAccount` is false.
    ///
    /// The account of a damaged or missing mechanism is unknown and stays, and its index no longer names the mechanism.
    package static func removeMechanism(_ uid: String, keepingAccount: Bool) -> AccountOperation<Bool, StoreError> {
        Self { records throws(StoreError) in
            let found = try RecordLookup { () throws(StoreError) in try records.mechanism(uid) }
            guard let mechanism = found.value else {
                try records.remove(mechanism: uid)
                return found.isUnreadable
            }
            try records.removeWithNotifications(mechanism)
            if !keepingAccount, try !records.hasMechanisms(mechanism.account) {
                try records.remove(account: mechanism.account)
            }
            return true
        }
    }

    /// Removes a notification.
    /// - Returns: True when the notification existed.
    package static func removeNotification(_ id: String) -> AccountOperation<Bool, StoreError> {
        Self { records throws(StoreError) in
            let wasThere = try !RecordLookup { () throws(StoreError) in try records.notification(id: id) }.isAbsent
            try records.remove(notification: id)
            try records.removeSentAnswer(to: id)
            return wasThere
        }
    }
}

extension AccountOperation where Value == Int, Failure == StoreError {
    /// Removes the mechanisms that the indexes of accounts name and that have no record, with their notifications.
    /// - Returns: An operation that returns the number of such mechanisms.
    static func removeMissingMechanisms() -> Self {
        Self { records throws(StoreError) in
            var count = 0
            for account in try records.namedAccounts() {
                for uid in try records.indexedMechanisms(of: account) ?? [] where try !records.hasMechanism(uid) {
                    try records.remove(mechanism: uid)
                    count += 1
                }
            }
            return count
        }
    }
}

extension AccountReader {
    /// Returns the accounts that can be read, and those that mechanisms name.
    func namedAccounts() throws(StoreError) -> Set<AccountID> {
        Set(try accounts().map(\.id)).union(try mechanisms().map(\.account))
    }

    /// - Throws: ``AuthenticatorError/Code/unknownMechanism``, ``AuthenticatorError/Code/wrongKind``.
    fileprivate func oathMechanism(_ uid: String) throws -> (Mechanism, OATHSettings) {
        guard let mechanism = try mechanism(uid) else { throw AuthenticatorError.unknownMechanism(uid) }
        guard let settings = mechanism.oath else { throw AuthenticatorError.noCodes }
        return (mechanism, settings)
    }

    /// - Throws: ``AuthenticatorError/Code/unknownAccount``.
    fileprivate func storedAccount(_ id: AccountID) throws -> Account {
        guard let account = try account(id) else { throw AuthenticatorError.unknownAccount(id) }
        return account
    }
}

extension AccountWriter {
    fileprivate func removeWithNotifications(_ mechanism: Mechanism) throws(StoreError) {
        if mechanism.push != nil { try removeNotifications(of: mechanism.uid) }
        try remove(mechanism: mechanism.uid)
    }
}

extension [Mechanism] {
    /// Checks that these mechanisms are of other kinds than the existing mechanisms of their account.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism``.
    func refuseDuplicates(among existing: [Mechanism]) throws(AuthenticatorError) {
        let kinds = Set(map(\.kindName))
        if let duplicate = existing.first(where: { kinds.contains($0.kindName) }) { throw .duplicate(duplicate) }
    }
}

extension Account {
    /// - Throws: ``AuthenticatorError/Code/accountLocked``.
    func refuseIfLockedManually() throws(AuthenticatorError) {
        if let policy = lockingPolicy { throw .locked(.manual(policy: policy)) }
    }
}

extension Mechanism {
    /// - Throws: ``AuthenticatorError/Code/counterElsewhere``.
    fileprivate func refuseIfElsewhere() throws(AuthenticatorError) {
        if let owner = counterOwner { throw .counterElsewhere(account, owner: owner) }
    }
}

/// The data needed to generate a code.
package struct CodeSource: Sendable {
    /// The settings, with the next counter.
    package let settings: OATHSettings
    /// The account of the mechanism; nil when the store has no such account.
    package let account: Account?
}

extension Account {
    /// Creates the account of an enrollment.
    package init(_ enrollment: Enrollment, timeAdded: Date) {
        self.init(
            id: enrollment.account, imageURL: enrollment.imageURL, backgroundColor: enrollment.backgroundColor,
            timeAdded: timeAdded, policies: enrollment.policies)
    }

    /// Returns the account with the changes of another enrollment: the logo, the background color and the policies.
    package func updated(from enrollment: Enrollment) -> Account {
        var account = self
        account.imageURL = enrollment.imageURL ?? imageURL
        account.backgroundColor = enrollment.backgroundColor ?? backgroundColor
        account.policies.merge(enrollment.policies) { _, new in new }
        return account
    }
}

extension Mechanism {
    /// Returns the mechanism with a counter that is not behind that of a replaced one with the same secret, whose codes would
    /// repeat.
    fileprivate func continuing(_ replaced: [Mechanism]) -> Mechanism {
        guard var settings = oath, case .counter(let next) = settings.factor else { return self }
        let secret = settings.secret
        let counters = replaced.compactMap { other -> UInt64? in
            guard let old = other.oath, old.secret == secret, case .counter(let counter) = old.factor else { return nil }
            return counter
        }
        settings.factor = .counter(next: counters.reduce(next, max))
        var mechanism = self
        mechanism.kind = .oath(settings)
        return mechanism
    }

    /// The order of mechanisms in a list: oldest first; mechanisms of the same time by the names of their kinds.
    package static func isBefore(_ first: Mechanism, _ second: Mechanism) -> Bool {
        (first.timeAdded, first.kindName.rawValue, first.uid) < (second.timeAdded, second.kindName.rawValue, second.uid)
    }
}
