public import SignetCore
public import SignetStorage

extension Authenticator {
    /// Every account with its mechanisms, and whether it is locked. Nothing is changed by looking.
    public func accounts(sortedBy order: AccountOrder = .timeAdded) async throws(StoreError) -> [EnrolledAccount] {
        let accounts = try await store.read { (records: any AccountReader) throws(StoreError) in
            try records.accountsWithMechanisms()
        }
        var enrolled: [EnrolledAccount] = []
        enrolled.reserveCapacity(accounts.count)
        var judge = Judge(policies: policies)
        for (account, mechanisms) in accounts {
            enrolled.append(EnrolledAccount(account: account, mechanisms: mechanisms, lock: await judge.lock(on: account)))
        }
        enrolled.sort(by: order)
        return enrolled
    }

    /// The account with this identity, with its mechanisms, and whether it is locked; nil if there is none.
    public func account(_ id: AccountID) async throws(StoreError) -> EnrolledAccount? {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) -> (Account, [Mechanism])? in
            guard let account = try records.account(id) else { return nil }
            return (account, try records.mechanisms(of: id))
        }
        guard let (account, mechanisms) = found else { return nil }
        return EnrolledAccount(account: account, mechanisms: mechanisms, lock: await policies.lock(on: account))
    }

    /// Gives an account other names to show; nil or an empty one is the original again. Everything else stays.
    /// - Throws: ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownAccount``, or
    ///   ``AuthenticatorError/Code/invalidName`` for one with control characters.
    public func rename(
        _ id: AccountID, displayIssuer: String?, displayAccountName: String?
    ) async throws -> Account {
        try await refuseIfLocked(id)
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.rename(id, displayIssuer: displayIssuer, displayAccountName: displayAccountName, in: records)
        }.get()
    }

    /// Removes an account with its mechanisms and their notifications, all or nothing. A locked one may be removed too.
    /// Returns whether it was there.
    @discardableResult
    public func removeAccount(_ id: AccountID) async throws(StoreError) -> Bool {
        try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.removeAccount(id, in: records)
        }
    }

    /// Removes a mechanism with its notifications, all or nothing. Returns whether it was there.
    ///
    /// With its last mechanism an account goes too, as on Android: it could do nothing any more. Pass `keepingAccount` to have
    /// it stay, as on iOS, with its names, its lock and its time.
    @discardableResult
    public func removeMechanism(_ uid: String, keepingAccount: Bool = false) async throws(StoreError) -> Bool {
        try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.removeMechanism(uid, keepingAccount: keepingAccount, in: records)
        }
    }

    /// Removes a notification. Returns whether it was there.
    @discardableResult
    public func removeNotification(_ id: String) async throws(StoreError) -> Bool {
        let wasThere = try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.removeNotification(id, in: records)
        }
        unsettled.forgetAnswer(to: id)
        return wasThere
    }

    /// Locks an account by hand, until ``unlock(_:)``: no codes, no answers, no other names. Messages still come, and it can be
    /// removed.
    /// - Parameters:
    ///   - id: Whose account it is.
    ///   - policy: What to show as the reason, for example the name of one of the account's policies.
    /// - Throws: ``AuthenticatorError/Code/alreadyLocked``, ``AuthenticatorError/Code/invalidPolicy`` for an empty name,
    ///   ``AuthenticatorError/Code/unknownAccount``.
    @discardableResult
    public func lock(_ id: AccountID, policy: String) async throws -> Account {
        try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.lock(id, policy: policy, in: records)
        }.get()
    }

    /// Ends a lock that was made by hand. That a policy is not met is no such lock: it ends when the policy is met.
    /// - Throws: ``AuthenticatorError/Code/notLocked``, ``AuthenticatorError/Code/unknownAccount``.
    @discardableResult
    public func unlock(_ id: AccountID) async throws -> Account {
        try await store.write { (records: any AccountWriter) throws(StoreError) in try AccountRules.unlock(id, in: records) }
            .get()
    }

    /// - Throws: ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownAccount``.
    private func refuseIfLocked(_ id: AccountID) async throws {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.account(id) }
        guard let found else { throw AuthenticatorError.unknownAccount(id) }
        try await refuseIfLocked(found)
    }

    /// - Throws: ``AuthenticatorError/Code/accountLocked``.
    func refuseIfLocked(_ account: Account?) async throws(AuthenticatorError) {
        if let account, let lock = await policies.lock(on: account) { throw .locked(lock) }
    }
}

/// Judges many accounts at one moment: each policy is asked once for each of its parameters.
private struct Judge {
    private struct Question: Hashable {
        let name: String
        let parameters: JSONValue
    }

    private let policies: AccountPolicies
    private var answers: [Question: Bool] = [:]

    init(policies: AccountPolicies) {
        self.policies = policies
    }

    mutating func lock(on account: Account) async -> AccountLock? {
        if policies.areJudgedElsewhere { return await policies.lock(on: account) }
        if let policy = account.lockingPolicy { return .byHand(policy: policy) }
        for question in policies.questions(account.policies) {
            let key = Question(name: question.policy.name, parameters: question.parameters)
            let isMet: Bool
            if let answer = answers[key] {
                isMet = answer
            } else {
                isMet = await question.policy.isMet(question.parameters)
                answers[key] = isMet
            }
            if !isMet { return .byPolicy(question.policy.name) }
        }
        return nil
    }
}
