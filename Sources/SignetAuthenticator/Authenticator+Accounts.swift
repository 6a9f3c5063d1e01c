public import SignetCore
public import SignetStorage

extension Authenticator {
    /// Returns all accounts with their mechanisms and their current locks.
    ///
    /// The call doesn't change the store.
    public func accounts(sortedBy order: AccountOrder = .timeAdded) async throws(StoreError) -> [EnrolledAccount] {
        let accounts = try await store.fetch(.accounts())
        var enrolled: [EnrolledAccount] = []
        enrolled.reserveCapacity(accounts.count)
        var answers: [AccountPolicies.Question.Key: Bool] = [:]
        for (account, mechanisms) in accounts {
            enrolled.append(
                EnrolledAccount(account: account, mechanisms: mechanisms, lock: await policies.lock(on: account, &answers)))
        }
        enrolled.sort(by: order)
        return enrolled
    }

    /// Returns the accounts with a name, or a mechanism's ID, that differs from a text at most by case, without reading the others.
    /// - Parameter text: The text that the user typed.
    /// - Returns: The accounts with their mechanisms and their current locks; nil when only ``accounts(sortedBy:)`` can tell.
    /// - Throws: The errors of the store.
    package func accounts(called text: String) async throws(StoreError) -> [EnrolledAccount]? {
        guard let accounts = try await store.fetch(.accounts(called: text)) else { return nil }
        var enrolled: [EnrolledAccount] = []
        for (account, mechanisms) in accounts {
            enrolled.append(EnrolledAccount(account: account, mechanisms: mechanisms, lock: await policies.lock(on: account)))
        }
        enrolled.sort {
            ($0.account.timeAdded, $0.account.id.legacyIdentifier) < ($1.account.timeAdded, $1.account.id.legacyIdentifier)
        }
        return enrolled
    }

    /// Returns the account with this identity, with its mechanisms and its current lock; nil when the account does not exist.
    public func account(_ id: AccountID) async throws(StoreError) -> EnrolledAccount? {
        guard let (account, mechanisms) = try await store.fetch(.accountWithMechanisms(id)) else { return nil }
        return EnrolledAccount(account: account, mechanisms: mechanisms, lock: await policies.lock(on: account))
    }

    /// Returns the picture of an account.
    /// - Parameter account: The account, which names its picture.
    /// - Returns: The picture; nil when the account has none, or when the picture cannot be read.
    /// - Throws: The errors of the store.
    public func icon(of account: Account) async throws(StoreError) -> AccountIcon? {
        guard let id = account.iconID else { return nil }
        return try await store.read { records throws(StoreError) in try records.icon(id) }
    }

    /// Changes the names that are shown for an account.
    ///
    /// Nil or an empty string restores the name of the enrollment. Everything else of the account stays.
    /// - Throws: ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownAccount``, or
    ///   ``AuthenticatorError/Code/invalidName`` for a name with control characters.
    public func rename(
        _ id: AccountID, displayIssuer: String?, displayAccountName: String?
    ) async throws -> Account {
        guard let account = try await store.fetch(.account(id)) else { throw AuthenticatorError.unknownAccount(id) }
        try await refuseIfLocked(account)
        return try await store.perform(.rename(id, displayIssuer: displayIssuer, displayAccountName: displayAccountName))
    }

    /// Removes an account with its mechanisms and their notifications in one transaction.
    ///
    /// A locked account can be removed too.
    /// - Returns: True when the account existed.
    @discardableResult
    public func removeAccount(_ id: AccountID) async throws(StoreError) -> Bool {
        try await store.perform(.removeAccount(id))
    }

    /// Removes a mechanism with its notifications in one transaction.
    ///
    /// Removing the last mechanism of an account removes the account too, as the Android SDK does. Pass `keepingAccount` to keep
    /// the account with its names, its lock and its creation time, as the iOS SDK does.
    /// - Returns: True when the mechanism existed.
    @discardableResult
    public func removeMechanism(_ uid: String, keepingAccount: Bool = false) async throws(StoreError) -> Bool {
        try await store.perform(.removeMechanism(uid, keepingAccount: keepingAccount))
    }

    /// Removes a notification.
    /// - Returns: True when the notification existed.
    @discardableResult
    public func removeNotification(_ id: String) async throws(StoreError) -> Bool {
        let wasThere = try await store.perform(.removeNotification(id))
        pendingWrites.removeAnswer(to: id)
        return wasThere
    }

    /// Locks an account manually until ``unlock(_:)``.
    ///
    /// A locked account generates no codes, answers no push messages and can't be renamed. It still receives push messages, and
    /// it can be removed.
    /// - Parameters:
    ///   - id: The account to lock.
    ///   - policy: The reason to show, for example the name of one of the account's policies.
    /// - Returns: The account as it is stored now.
    /// - Throws: ``AuthenticatorError/Code/alreadyLocked``, ``AuthenticatorError/Code/invalidPolicy`` for an empty name,
    ///   ``AuthenticatorError/Code/unknownAccount``.
    @discardableResult
    public func lock(_ id: AccountID, policy: String) async throws -> Account {
        try await store.perform(.lock(id, policy: policy))
    }

    /// Removes a manual lock.
    ///
    /// A lock that comes from a violated policy isn't affected: it ends when the device meets the policy.
    /// - Throws: ``AuthenticatorError/Code/notLocked``, ``AuthenticatorError/Code/unknownAccount``.
    @discardableResult
    public func unlock(_ id: AccountID) async throws -> Account {
        try await store.perform(.unlock(id))
    }

    /// - Throws: ``AuthenticatorError/Code/accountLocked``.
    func refuseIfLocked(_ account: Account?) async throws(AuthenticatorError) {
        if let account, let lock = await policies.lock(on: account) { throw .locked(lock) }
    }
}
