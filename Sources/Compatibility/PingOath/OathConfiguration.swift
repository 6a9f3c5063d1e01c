public import Foundation
public import PingCommons
public import PingLogger
public import SignetAuthenticator
public import SignetCore
public import SignetStorage

/// The configuration of an ``OathClient``.
///
///     let config = OathConfiguration.build { config in
///         config.storage = CustomStorage()
///         config.enableCredentialCache = false
///         config.logger = customLogger
///     }
///     let client = try await OathClient(configuration: config)
///
/// One task creates a configuration and hands it over to the client, which owns the storage from then on. A storage of one item
/// may therefore be a plain class that isn't `Sendable`.
public final class OathConfiguration: AccountStoreTaking, AccountItemTaking {
    private enum StorageLocation {
        case vault
        case credentials(any OathStorage)
        case item(any Storage<StoredAccounts>)
        case accounts(any AccountStore)
    }

    private var location = StorageLocation.vault

    /// The evaluator of the issuers' policies; nil for the policies `biometricAvailable` and `deviceTampering`.
    ///
    /// An account is locked for as long as the device violates one of its policies.
    public var policyEvaluator: MfaPolicyEvaluator?

    /// The policies of the engine that take the place of ``policyEvaluator``; nil for none.
    public var accountPolicies: AccountPolicies?

    /// True when accounts may be kept only in a sealed form.
    ///
    /// The default is true. When it is true, a database that keeps accounts in plain text (`AccountRecords(unsealed:)` over
    /// SQLite or PostgreSQL) is rejected. A vault seals its records in both cases. The app itself must protect a storage that
    /// it implements.
    public var encryptionEnabled = true

    /// The timeout in *seconds* for each call of a storage that the app implements.
    ///
    /// The default is 15. As in the Ping SDK, the unit is not the one in the name. A value that isn't a positive number counts as
    /// the default. A storage that timed out during a change may nevertheless have made the change.
    public var timeoutMs: TimeInterval = 15

    /// True when credentials that were read are cached in memory, in plain text, so that a list does not read the storage again.
    ///
    /// The default is false. The client sees its own changes at once. It sees changes by other clients after its own next change,
    /// or after its `close()`. Locks are evaluated on each call, and codes are never generated from the cache.
    public var enableCredentialCache = false

    /// The receiver of the client's log lines.
    public var logger: any Logger = LogManager.logger

    /// The clock of this machine.
    public var clock: any WallClock = SystemWallClock()

    /// The keychain that has the default vault.
    package var keychain = VaultProvider.default

    /// The place from which the first client takes over what Ping's SDK stored: the app's keychain on Apple's systems, and nil
    /// elsewhere.
    ///
    /// An app that has its data as an exported file sets a `LegacyArchive`. All credentials are stored in one transaction, once.
    /// Nothing in the place is changed. A storage that the app sets gets nothing.
    public var legacyStore: (any LegacyStore)? = DefaultLegacyStore.current

    /// The place to take over from, and the keychain that takes it over; nil when the app set a storage.
    var takeover: (source: any LegacyStore, keychain: VaultProvider)? {
        guard let legacyStore, case .vault = location else { return nil }
        return (legacyStore, keychain)
    }

    /// Creates a configuration with the default values.
    public init() {}

    /// Creates a configuration and passes it to `configure`.
    public static func build(_ configure: (OathConfiguration) -> Void) -> sending OathConfiguration {
        let configuration = OathConfiguration()
        configure(configuration)
        return configuration
    }

    /// The storage of the credentials.
    ///
    /// The property is overloaded, and the last assignment counts.
    ///
    /// When it is nil, the accounts are in the user's vault at the default location, `VaultProvider.default`.
    ///
    ///     config.storage = AppStorage()                             // any OathStorage
    ///     config.storage = CustomStorage()                          // any Storage<StoredAccounts>
    ///     config.storage = KeychainStorage(account: "com.example")  // in the vault, beside other items
    ///     config.storage = AccountRecords(vault)                    // any AccountStore
    ///
    /// A storage of one item keeps all accounts as that item, and cannot lock it. If another client changes the item during a
    /// call, the call doesn't overwrite that change: it fails with a `StoreError` with `busy`, and can be repeated. Clients that
    /// work at the same time, in one process or several, should use an `AccountStore` such as `AccountRecords`.
    public var storage: (any OathStorage)? {
        get { if case .credentials(let storage) = location { storage } else { nil } }
        set { location = newValue.map { .credentials($0) } ?? .vault }
    }

    /// The storage of one item that `storage` was set to; nil when it was set to another type.
    public var accountItem: (any Storage<StoredAccounts>)? {
        get { if case .item(let storage) = location { storage } else { nil } }
        set { location = newValue.map { .item($0) } ?? .vault }
    }

    /// The account store that `storage` was set to; nil when it was set to another type.
    public var accountStore: (any AccountStore)? {
        get { if case .accounts(let store) = location { store } else { nil } }
        set { location = newValue.map { .accounts($0) } ?? .vault }
    }

    /// The policies that the client evaluates.
    var policies: AccountPolicies { accountPolicies ?? policyEvaluator?.accountPolicies ?? .default }

    /// Returns the configured store.
    /// - Throws: The error of a default vault that cannot be opened; `StoreError.Code.denied` for accounts in plain text while
    ///   ``encryptionEnabled`` is true.
    static func store(of configuration: sending OathConfiguration) async throws(StoreError) -> any AccountStore {
        let limit = Duration.seconds(configuration.timeoutMs > 0 ? min(configuration.timeoutMs, 86_400) : 15)
        switch configuration.location {
        case .vault:
            return RemoteAccountRecords(AccountRecords(unsealed: try await configuration.keychain.store()))
        case .accounts(let store):
            if configuration.encryptionEnabled { try store.refuseInClear() }
            return store
        case .item(let item): return ItemAccounts(item, limit: limit)
        case .credentials(let storage):
            if let store = try await (storage as? OathKeychainStorage)?.accountStore() { return store }
            return ItemAccounts(CredentialItem(storage, logger: configuration.logger), limit: limit)
        }
    }
}
