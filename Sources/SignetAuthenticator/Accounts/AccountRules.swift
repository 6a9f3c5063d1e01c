package import SignetCore
package import SignetStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The operations on accounts inside a transaction, shared by the asynchronous ``Authenticator`` and the synchronous API. Each
/// operation calls its store in the order of protocol/authenticator.md section 7.6, because an app's own storage client can
/// observe that order.
///
/// An operation that is rejected returns a failure value, so that the transaction completes and nothing is written. A failure of
/// the store is thrown.
package enum AccountRules {
    // MARK: Enrollment

    /// Returns an existing mechanism that has the same account and kind as an offered one, if there is one.
    package static func duplicate(
        of offered: [Mechanism], in records: any AccountReader
    ) throws(StoreError) -> Mechanism? {
        guard let account = offered.first?.account else { return nil }
        return duplicate(of: offered, among: try records.mechanisms(of: account))
    }

    private static func duplicate(of offered: [Mechanism], among existing: [Mechanism]) -> Mechanism? {
        let kinds = Set(offered.map(\.kindName))
        return existing.first { kinds.contains($0.kindName) }
    }

    /// Stores an account with new mechanisms. An account that is already stored keeps its names, its lock, its creation time and
    /// its other mechanisms.
    /// - Parameter token: The device token that the server was given at the registration for push.
    static func enroll(
        _ enrollment: Enrollment, _ offer: EnrollmentOffer, token: String?, now: Date, in records: any AccountWriter
    ) throws(StoreError) -> Result<EnrolledAccount, AuthenticatorError> {
        let mechanisms = offer.mechanisms
        let existing = try records.mechanisms(of: enrollment.account)
        if let duplicate = duplicate(of: mechanisms, among: existing) { return .failure(.duplicate(duplicate)) }
        for mechanism in mechanisms { try records.save(mechanism) }
        let account = try records.account(enrollment.account)?.updated(from: enrollment) ?? Account(enrollment, timeAdded: now)
        try records.save(account)
        if let push = offer.push { try recordToken(token, givenTo: push.uid, in: records) }
        return .success(EnrolledAccount(account: account, mechanisms: (existing + mechanisms).sorted(by: Mechanism.isBefore)))
    }

    // MARK: Codes

    /// Returns the settings of a mechanism that generates codes, and its account.
    package static func codeSource(
        _ uid: String, in records: any AccountReader
    ) throws(StoreError) -> Result<CodeSource, AuthenticatorError> {
        guard let mechanism = try records.mechanism(uid) else { return .failure(.unknownMechanism(uid)) }
        guard let settings = mechanism.oath else { return .failure(.noCodes) }
        return .success(CodeSource(settings: settings, account: try records.account(mechanism.account)))
    }

    /// Increments the counter of a mechanism. Returns the settings that generate the code of the old counter, and the mechanism
    /// with the new counter. Show the code only after the transaction is durable.
    package static func reserveCounter(
        _ uid: String, in records: any AccountWriter
    ) throws(StoreError) -> Result<(settings: OATHSettings, mechanism: Mechanism), AuthenticatorError> {
        guard var mechanism = try records.mechanism(uid) else { return .failure(.unknownMechanism(uid)) }
        guard var settings = mechanism.oath else { return .failure(.noCodes) }
        if let policy = try records.account(mechanism.account)?.lockingPolicy {
            return .failure(.locked(.manual(policy: policy)))
        }
        guard let reserved = settings.reserveCounter() else {
            return .failure(AuthenticatorError(.counterExhausted, "the counter has reached its end; enroll the account again"))
        }
        mechanism.kind = .oath(settings)
        try records.save(mechanism)
        return .success((reserved, mechanism))
    }

    /// Moves a counter forward. A lower value than the current one is rejected.
    package static func resynchronize(
        _ uid: String, counter: UInt64, in records: any AccountWriter
    ) throws(StoreError) -> Result<Mechanism, AuthenticatorError> {
        guard var mechanism = try records.mechanism(uid) else { return .failure(.unknownMechanism(uid)) }
        guard var settings = mechanism.oath, case .counter(let next) = settings.factor else {
            return .failure(AuthenticatorError(.wrongKind, "this mechanism has no counter"))
        }
        if let policy = try records.account(mechanism.account)?.lockingPolicy {
            return .failure(.locked(.manual(policy: policy)))
        }
        guard counter >= next else {
            return .failure(
                AuthenticatorError(.counterBackwards, "the counter is at \(next); it only moves forward, or codes would repeat"))
        }
        settings.factor = .counter(next: counter)
        mechanism.kind = .oath(settings)
        try records.save(mechanism)
        return .success(mechanism)
    }

    // MARK: Names and locks

    /// Changes the names that are shown for an account. Nil or an empty string restores the name of the enrollment. Everything
    /// else of the account stays.
    package static func rename(
        _ id: AccountID, displayIssuer: String?, displayAccountName: String?, in records: any AccountWriter
    ) throws(StoreError) -> Result<Account, AuthenticatorError> {
        let names = [displayIssuer, displayAccountName].map { $0.flatMap { $0.isEmpty ? nil : $0 } }
        guard names.allSatisfy({ $0?.isSafeToShow ?? true }) else {
            return .failure(
                AuthenticatorError(.invalidName, "a name has no control characters and does not change the direction of text"))
        }
        guard var account = try records.account(id) else { return .failure(.unknownAccount(id)) }
        if let policy = account.lockingPolicy { return .failure(.locked(.manual(policy: policy))) }
        account.displayIssuer = names[0]
        account.displayAccountName = names[1]
        try records.save(account)
        return .success(account)
    }

    /// Locks an account manually.
    /// - Parameter isAttached: True when the policy is one of the account's own, which the existing SDKs require.
    package static func lock(
        _ id: AccountID, policy: String, isAttached: Bool = true, in records: any AccountWriter
    ) throws(StoreError) -> Result<Account, AuthenticatorError> {
        guard !policy.isEmpty, policy.isSafeToShow else {
            return .failure(AuthenticatorError(.invalidPolicy, "a lock names its policy"))
        }
        guard var account = try records.account(id) else { return .failure(.unknownAccount(id)) }
        if let locked = account.lockingPolicy {
            return .failure(AuthenticatorError(.alreadyLocked, "the account is locked already (\(locked))", policy: locked))
        }
        guard isAttached else {
            return .failure(
                AuthenticatorError(.invalidPolicy, "\(policy) is not among the account's policies", policy: policy))
        }
        account.lockingPolicy = policy
        try records.save(account)
        return .success(account)
    }

    /// Removes a manual lock.
    package static func unlock(
        _ id: AccountID, in records: any AccountWriter
    ) throws(StoreError) -> Result<Account, AuthenticatorError> {
        guard var account = try records.account(id) else { return .failure(.unknownAccount(id)) }
        guard account.lockingPolicy != nil else {
            return .failure(AuthenticatorError(.notLocked, "the account was not locked by the user"))
        }
        account.lockingPolicy = nil
        try records.save(account)
        return .success(account)
    }

    // MARK: Removal

    /// Removes an account with its mechanisms and their notifications, including records that cannot be read.
    /// - Returns: True when the account or any of its mechanisms existed.
    package static func removeAccount(_ id: AccountID, in records: any AccountWriter) throws(StoreError) -> Bool {
        let mechanisms = try records.mechanisms(of: id)
        let wasThere = try !RecordLookup { () throws(StoreError) in try records.account(id) }.isAbsent
        for mechanism in mechanisms { try remove(mechanism, in: records) }
        try records.remove(account: id)
        return wasThere || !mechanisms.isEmpty
    }

    /// Removes a mechanism with its notifications, and its account if this was the last mechanism and `keepingAccount` is false.
    /// The account of a damaged mechanism is unknown and stays.
    package static func removeMechanism(
        _ uid: String, keepingAccount: Bool, in records: any AccountWriter
    ) throws(StoreError) -> Bool {
        let found = try RecordLookup { () throws(StoreError) in try records.mechanism(uid) }
        guard let mechanism = found.value else {
            if found.isUnreadable { try records.remove(mechanism: uid) }
            return found.isUnreadable
        }
        try remove(mechanism, in: records)
        if !keepingAccount, try !records.hasMechanisms(mechanism.account) {
            try records.remove(account: mechanism.account)
        }
        return true
    }

    private static func remove(_ mechanism: Mechanism, in records: any AccountWriter) throws(StoreError) {
        if mechanism.push != nil { try records.removeNotifications(of: mechanism.uid) }
        try records.remove(mechanism: mechanism.uid)
    }

    /// Removes a notification.
    /// - Returns: True when the notification existed.
    package static func removeNotification(_ id: String, in records: any AccountWriter) throws(StoreError) -> Bool {
        let wasThere = try !RecordLookup { () throws(StoreError) in try records.notification(id: id) }.isAbsent
        try records.remove(notification: id)
        try records.removeSentAnswer(to: id)
        return wasThere
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
    /// The order of mechanisms in a list: oldest first; mechanisms of the same time by the names of their kinds.
    package static func isBefore(_ first: Mechanism, _ second: Mechanism) -> Bool {
        (first.timeAdded, first.kindName.rawValue, first.uid) < (second.timeAdded, second.kindName.rawValue, second.uid)
    }
}
