public import SignetCore
public import SignetStorage

/// The settings of the engine in `PushConfiguration` of PingPush.
///
/// One task creates a configuration and hands it over to the client, which owns the storage from then on. A storage may therefore
/// be a plain class that isn't `Sendable`.
open class ClientConfiguration: AccountStoreTaking {
    private var item: (any Storage<StoredAccounts>)?
    private var accounts: (any AccountStore)?

    /// The policies of issuers that are evaluated, in this order.
    ///
    /// An account is locked for as long as the device violates one of its policies.
    public var policyEvaluator = AccountPolicies.default

    /// True when accounts may be kept only in a sealed form.
    ///
    /// The default is true.
    ///
    /// When it is true, a database that keeps accounts in plain text (`AccountRecords(unsealed:)` over SQLite or PostgreSQL) is
    /// rejected. When it is false, such a database is accepted. A vault seals its records in both cases. The app itself must
    /// protect a storage that it implements, because the SDK cannot see how that storage keeps its data.
    public var encryptionEnabled = true

    /// The timeout in milliseconds for each call of a storage that the app implements, and for each request to a server.
    ///
    /// The default is 15,000. A storage that timed out during a change may nevertheless have made the change.
    public var timeoutMs = 15_000.0

    /// True when credentials that were read are cached in memory, in plain text, so that a list does not read the storage again.
    ///
    /// The default is false. The client sees its own changes at once. It sees changes by other clients after its own next change,
    /// or after its `close()`. Locks are evaluated on each call, and codes are never generated from the cache.
    public var enableCredentialCache = false

    /// The logger that receives the client's log lines; nil for no logging.
    public var logger: (any ClientLogger)?

    /// The clock of this machine.
    public var clock: any WallClock = SystemWallClock()

    /// The keychain that has the default vault.
    package var keychain = VaultProvider.default

    /// The place from which the first client takes over what Ping's SDK stored: the app's keychain on Apple's systems, and nil
    /// elsewhere.
    ///
    /// An app that has its data as an exported file sets a `LegacyArchive`. All credentials and notifications are stored in one
    /// transaction, once. Nothing in the place is changed. A storage that the app sets
    /// gets nothing.
    public var legacyStore: (any LegacyStore)? = DefaultLegacyStore.current

    /// The place to take over from, and the keychain that takes it over; nil when the app set a storage.
    package var takeover: (source: any LegacyStore, keychain: VaultProvider)? {
        guard let legacyStore, item == nil, accounts == nil else { return nil }
        return (legacyStore, keychain)
    }

    /// Creates a configuration with the default values.
    package init() {}

    /// The storage of the accounts: a storage that the app implements, or an ``AccountStore`` (the property is overloaded for the
    /// two types).
    ///
    /// When it is nil, the accounts are in the user's vault at the default location, `VaultProvider.default`.
    ///
    /// A storage that the app implements keeps all accounts as one item, and cannot lock it. If another client changes the item
    /// during a call, the call doesn't overwrite that change: it fails with a `StoreError` with `busy`, and can be repeated.
    /// Clients that work at the same time, in one process or several, should use an ``AccountStore`` such as `AccountRecords`.
    ///
    ///     config.storage = CustomStorage()                          // any Storage<StoredAccounts>
    ///     config.storage = KeychainStorage(account: "com.example")  // in the vault, beside other items
    ///     config.storage = AccountRecords(vault)                    // any AccountStore
    public var storage: (any Storage<StoredAccounts>)? {
        get { item }
        set {
            item = newValue
            accounts = nil
        }
    }

    /// The ``AccountStore`` that ``storage`` was set to; nil when it was set to another type.
    public var accountStore: (any AccountStore)? {
        get { accounts }
        set {
            accounts = newValue
            item = nil
        }
    }

    /// Returns the timeout.
    /// - Throws: ``StoreError/Code/invalid`` when ``timeoutMs`` is outside 1 to 86,400,000.
    package func limit() throws(StoreError) -> Duration {
        guard timeoutMs >= 1, timeoutMs <= 86_400_000 else {
            throw StoreError(.invalid, "configure", "timeoutMs is a number of milliseconds from 1 to 86,400,000")
        }
        return .milliseconds(timeoutMs)
    }
}

/// A configuration that accepts an ``AccountStore``.
///
/// The protocol exists so that ``ClientConfiguration/storage`` can be overloaded.
public protocol AccountStoreTaking: AnyObject {
    /// The store.
    var accountStore: (any AccountStore)? { get set }
}

extension AccountStoreTaking {
    /// The storage of the accounts, as an ``AccountStore``.
    public var storage: (any AccountStore)? {
        get { accountStore }
        set { accountStore = newValue }
    }
}

extension ClientConfiguration {
    /// Returns the configured store.
    /// - Throws: The error of a default vault that cannot be opened; ``StoreError/Code/denied`` for
    ///   accounts in plain text while ``encryptionEnabled`` is true; ``StoreError/Code/invalid`` for an invalid timeout.
    package static func accountStore(of configuration: sending ClientConfiguration) async throws(StoreError) -> any AccountStore {
        let limit = try configuration.limit()
        if let accounts = configuration.accounts {
            if configuration.encryptionEnabled { try accounts.refuseInClear() }
            return accounts
        }
        if let item = configuration.item { return ItemAccounts(item, limit: limit) }
        return RemoteAccountRecords(AccountRecords(unsealed: try await configuration.keychain.store()))
    }
}

extension AccountStore {
    /// - Throws: ``StoreError/Code/denied`` when the store keeps accounts on disk in plain text.
    package func refuseInClear() throws(StoreError) {
        let areInClear =
            switch self {
            case let records as AccountRecords: records.areInClearOnDisk
            case let records as RemoteAccountRecords: records.areInClearOnDisk
            default: false
            }
        guard !areInClear else {
            throw StoreError(
                .denied, "open the storage",
                "the storage does not encrypt the accounts: use a vault, or set encryptionEnabled to false")
        }
    }
}
