import SignetAuthenticator
import SignetCore
import SignetStorage

/// An account with everything that belongs to it, as it is stored.
private struct AccountSnapshot: Sendable {
    let account: SignetCore.Account
    let mechanisms: [(mechanism: SignetCore.Mechanism, notifications: [SignetCore.PushNotification])]

    init(_ account: SignetCore.Account, in records: any AccountReader) throws {
        self.account = account
        mechanisms = try records.mechanisms(of: account.id).map { mechanism in
            (mechanism, mechanism.push == nil ? [] : try records.notifications(of: mechanism.uid))
        }
    }
}

extension LegacyEngine {
    private func object(for snapshot: AccountSnapshot, _ token: CacheToken) -> Account {
        let (oath, push) = (
            snapshot.mechanisms.filter { $0.mechanism.push == nil }, snapshot.mechanisms.filter { $0.mechanism.push != nil }
        )
        // Android's order is that of the URI schemes: otpauth before pushauth.
        let mechanisms = (settings.platform == .android ? oath + push : snapshot.mechanisms).map { mechanism, notifications in
            mechanism.push == nil
                ? Mechanism.make(mechanism, token)
                : PushMechanism(mechanism, token, notifications: objects(for: notifications, token))
        }
        return Account(
            snapshot.account, violatedPolicy: policies.violated(snapshot.account), mechanisms: mechanisms, token: token)
    }

    /// Returns notifications in the order of the platform's ForgeRock SDK: oldest first on iOS, newest first on Android.
    func objects(for notifications: [SignetCore.PushNotification], _ token: CacheToken) -> [PushNotification] {
        let oldestFirst = notifications.map { PushNotification($0, token) }.sorted {
            ($0.timeAdded, $0.identifier) < ($1.timeAdded, $1.identifier)
        }
        return settings.platform == .android ? oldestFirst.reversed() : oldestFirst
    }

    /// Returns the accounts in the order of the platform's ForgeRock SDK: oldest first on iOS, by issuer and name on Android.
    func allAccounts() throws -> [Account] {
        let store = store()
        let query = AccountQuery { records in try records.accounts().map { try AccountSnapshot($0, in: records) } }
        var accounts = try read(query, in: store)
        if settings.platform == .android {
            accounts.sort {
                ($0.account.id.issuer, $0.account.id.accountName) < ($1.account.id.issuer, $1.account.id.accountName)
            }
        }
        return accounts.map { object(for: $0, token(of: store)) }
    }

    /// Reads one account with its mechanisms.
    /// - Parameter find: A closure that returns the stored account; nil when the account doesn't exist.
    /// - Returns: The account as an object of this API; nil when `find` returns nil.
    /// - Throws: `StoreError` when the account cannot be read.
    func account(
        _ find: @escaping @Sendable (any AccountReader) throws -> SignetCore.Account?
    ) throws -> Account? {
        let store = store()
        let query = AccountQuery { records in try find(records).map { try AccountSnapshot($0, in: records) } }
        return try read(query, in: store).map { object(for: $0, token(of: store)) }
    }

    /// Returns the account with a legacy identifier.
    ///
    /// The identifier doesn't show where the issuer ends, so each `-` is tried.
    func account(identifier: String) throws -> Account? {
        try account { records in
            if let direct = records as? ClientRecords { return direct.account(identifier: identifier) }
            return try records.accounts().first { $0.id.legacyIdentifier == identifier }
        }
    }

    /// Locks or unlocks an account manually.
    func change(
        _ account: Account, by operation: (AccountID) -> AccountOperation<SignetCore.Account, any Error>
    ) throws -> Bool {
        let (value, _, token) = account.snapshot
        let store = store(token) { $0.accounts[value.id] = .present(value) }
        let stored = try store.perform(operation(value.id))
        account.take(stored, token: self.token(of: store))
        return true
    }

    // MARK: Mechanisms

    /// Returns the current code.
    ///
    /// For HOTP, it stores the new counter before it returns the code.
    func generateCode(_ mechanism: OathMechanism) throws -> OathTokenCode {
        let (value, store) = store(for: mechanism)
        do {
            guard let shown = mechanism.core.oath else { throw MechanismError.invalidType }
            let source = try codeSource(of: value, isStored: mechanism.box.token != nil, in: store)
            try refuseIfLocked(source.account)
            let now = settings.clock.now
            guard case .counter = source.settings.factor else {
                return OathTokenCode(source.settings.shown(as: shown).code(at: now), madeAt: now)
            }
            let reserved = try store.perform(.reserveCounter(value.uid))
            mechanism.take(reserved.mechanism, token(of: store))
            return OathTokenCode(reserved.settings.shown(as: shown).code(at: now), madeAt: now)
        } catch let error as StoreError {
            log(error, "make a code")
            throw MechanismError.failedToUpdateInformation(value.legacyIdentifier)
        } catch {
            throw LegacyErrors.error(error, identifier: value.legacyIdentifier)
        }
    }

    /// Returns the settings from which a code is made, and the account that may lock it.
    ///
    /// A mechanism that was decoded, and that the store doesn't have, gives codes as in the ForgeRock SDK: a time-based one from
    /// its own values, and a counter-based one after it was stored, because its counter must be.
    private func codeSource(
        of value: SignetCore.Mechanism, isStored: Bool, in store: ClientStore
    ) throws -> (settings: OATHSettings, account: SignetCore.Account?) {
        do {
            let source = try store.fetch(.codeSource(value.uid))
            return (source.settings, source.account)
        } catch let error as AuthenticatorError where error.code == .unknownMechanism && !isStored {
            guard let settings = value.oath else { throw error }
            if case .time = settings.factor { return (settings, try store.fetch(.account(value.account))) }
            let account = try store.perform(
                AccountOperation { records in
                    let account = try records.account(value.account)
                    // An account has one mechanism of a type; another one would take its place in a storage client.
                    let others = try account.map { try records.mechanisms(of: $0.id) } ?? []
                    guard !others.contains(where: { $0.kindName == value.kindName }) else { throw error }
                    try records.save(value)
                    if account == nil { try records.save(SignetCore.Account(id: value.account, timeAdded: value.timeAdded)) }
                    return account
                })
            return (settings, account)
        }
    }
}
