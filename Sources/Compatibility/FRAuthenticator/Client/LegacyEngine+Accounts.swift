import SignetAuthenticator
import SignetCore
import SignetStorage

extension LegacyEngine {
    /// An account with everything that belongs to it.
    private struct Whole: Sendable {
        let account: SignetCore.Account
        let mechanisms: [(mechanism: SignetCore.Mechanism, notifications: [SignetCore.PushNotification])]
    }

    private static func whole(
        _ account: SignetCore.Account, in records: any AccountReader
    ) throws(StoreError) -> Whole {
        var mechanisms: [(mechanism: SignetCore.Mechanism, notifications: [SignetCore.PushNotification])] = []
        for mechanism in try records.mechanisms(of: account.id) {
            mechanisms.append((mechanism, mechanism.push == nil ? [] : try records.notifications(of: mechanism.uid)))
        }
        return Whole(account: account, mechanisms: mechanisms)
    }

    private func object(for whole: Whole, origin: Origin) -> Account {
        let ordered =
            switch platform {
            case .iOS: whole.mechanisms
            // In the order of their URI schemes: otpauth before pushauth.
            case .android:
                whole.mechanisms.filter { $0.mechanism.push == nil } + whole.mechanisms.filter { $0.mechanism.push != nil }
            }
        let mechanisms: [Mechanism] = ordered.map { mechanism, notifications in
            guard mechanism.kindName == .push else { return Mechanisms.object(for: mechanism, origin: origin) }
            return PushMechanism(mechanism, origin: origin, notifications: objects(for: notifications, origin: origin))
        }
        return Account(
            whole.account, violatedPolicy: policies.violated(whole.account), mechanisms: mechanisms, origin: origin)
    }

    /// Returns notifications in the order of the platform's ForgeRock SDK: oldest first on iOS, newest first on Android.
    func objects(for notifications: [SignetCore.PushNotification], origin: Origin) -> [PushNotification] {
        let oldestFirst = notifications.map { PushNotification($0, origin: origin) }.sorted {
            ($0.timeAdded, $0.identifier) < ($1.timeAdded, $1.identifier)
        }
        return switch platform {
        case .iOS: oldestFirst
        case .android: oldestFirst.reversed()
        }
    }

    /// Returns accounts in the order of the platform's ForgeRock SDK: oldest first on iOS, by issuer and name on Android. The
    /// store returns the oldest first.
    private func inOrder(_ accounts: [Whole]) -> [Whole] {
        switch platform {
        case .iOS: accounts
        case .android:
            accounts.sorted {
                ($0.account.id.issuer, $0.account.id.accountName) < ($1.account.id.issuer, $1.account.id.accountName)
            }
        }
    }

    func allAccounts() throws -> [Account] {
        let operation = operation()
        let accounts = try operation.readSettled { (records: any AccountReader) throws(StoreError) in
            try records.accounts().map { account throws(StoreError) in try Self.whole(account, in: records) }
        }
        let origin = operation.origin
        return inOrder(accounts).map { object(for: $0, origin: origin) }
    }

    /// - Parameter find: Finds the account; returns nil when the account doesn't exist.
    func account(
        _ find: @Sendable (any AccountReader) throws(StoreError) -> SignetCore.Account?
    ) throws -> Account? {
        let operation = operation()
        let found = try operation.readSettled { (records: any AccountReader) throws(StoreError) in
            try find(records).map { account throws(StoreError) in try Self.whole(account, in: records) }
        }
        return found.map { object(for: $0, origin: operation.origin) }
    }

    /// Returns the account with a legacy identifier. The identifier doesn't show where the issuer ends, so each `-` is tried.
    func account(identifier: String) throws -> Account? {
        try account { (records: any AccountReader) throws(StoreError) in
            if let direct = records as? ClientRecords { return direct.account(identifier: identifier) }
            return try records.accounts().first { $0.id.legacyIdentifier == identifier }
        }
    }

    /// Stores the names to show.
    /// - Throws: ``AccountError/accountLocked(_:)``.
    func update(_ account: Account) throws -> Bool {
        let value = account.core
        let operation = operation()
        let found = try operation.read { (records: any AccountReader) throws(StoreError) in try records.account(value.id) }
        guard let found else { return false }
        if let lock = lock(on: found) { throw AccountError.accountLocked(lock.policy) }
        let stored = try operation.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.rename(
                value.id, displayIssuer: value.displayIssuer, displayAccountName: value.displayAccountName, in: records)
        }
        account.take(try stored.get(), origin: operation.origin)
        return true
    }

    /// Locks or unlocks an account manually.
    func change(
        _ account: Account,
        _ rule: @Sendable (AccountID, any AccountWriter) throws(StoreError) -> Result<SignetCore.Account, AuthenticatorError>
    ) throws -> Bool {
        let (value, _, origin) = account.snapshot
        let operation = operation(on: origin) { $0.accounts[value.id] = value }
        let stored = try operation.write { (records: any AccountWriter) throws(StoreError) in try rule(value.id, records) }
        account.take(try stored.get(), origin: operation.origin)
        return true
    }

    func remove(_ account: Account) throws -> Bool {
        let (value, objects, origin) = account.snapshot
        return try operation(on: origin) { known in
            known.accounts[value.id] = value
            guard let objects else { return }
            known.note(objects.compactMap { ($0 as? any MechanismState)?.core }, of: value.id)
        }.write { (records: any AccountWriter) throws(StoreError) in try AccountRules.removeAccount(value.id, in: records) }
    }

    // MARK: Mechanisms

    func remove(_ mechanism: Mechanism) throws -> Bool {
        guard let state = mechanism as? any MechanismState else { return false }
        let (value, origin) = state.held.snapshot
        let keepsAccount = platform == .iOS
        return try operation(on: origin) { $0.mechanisms[value.uid] = value }.write {
            (records: any AccountWriter) throws(StoreError) in
            try AccountRules.removeMechanism(value.uid, keepingAccount: keepsAccount, in: records)
        }
    }

    func mechanism(uid: String) throws -> Mechanism? {
        let operation = operation()
        return try operation.read { (records: any AccountReader) throws(StoreError) in try records.mechanism(uid) }
            .map { Mechanisms.object(for: $0, origin: operation.origin) }
    }

    /// Returns the current code. For HOTP, it stores the new counter before it returns the code.
    func generateCode(_ mechanism: any MechanismState) throws -> OathTokenCode {
        let (value, origin) = mechanism.held.snapshot
        let operation = operation(on: origin) { $0.mechanisms[value.uid] = value }
        do {
            let source = try operation.read { (records: any AccountReader) throws(StoreError) in
                try AccountRules.codeSource(value.uid, in: records)
            }.get()
            if let account = source.account, let lock = lock(on: account) { throw AccountError.accountLocked(lock.policy) }
            let now = clock.now
            guard case .counter = source.settings.factor else {
                return OathTokenCode(source.settings.code(at: now), madeAt: now)
            }
            let reserved = try operation.write {
                (records: any AccountWriter) throws(StoreError) -> Result<ReservedCounter, AuthenticatorError> in
                let settings = try AccountRules.reserveCounter(value.uid, in: records)
                let stored = try records.mechanism(value.uid)
                return settings.map { ReservedCounter(settings: $0, stored: stored) }
            }.get()
            if let stored = reserved.stored { mechanism.held.take(stored, origin: operation.origin) }
            return OathTokenCode(reserved.settings.code(at: now), madeAt: now)
        } catch let error as StoreError {
            note(error, "make a code")
            throw MechanismError.failedToUpdateInformation(value.legacyIdentifier)
        } catch {
            throw LegacyErrors.error(error, identifier: value.legacyIdentifier)
        }
    }

    private struct ReservedCounter: Sendable {
        let settings: OATHSettings
        let stored: SignetCore.Mechanism?
    }
}
