public import SignetCore
public import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What ``OathConfiguration`` and ``PushConfiguration`` have in common.
///
/// A configuration is made by one task and given away to the client, which owns its storage from then on: so a storage may be
/// a plain class.
public class ClientConfiguration: AccountStoreTaking {
    private var item: (any Storage<StoredAccounts>)?
    private var accounts: (any AccountStore)?

    /// Which policies of issuers are judged, and in which order. One that is not met locks an account while it is not.
    public var policyEvaluator = AccountPolicies.standard

    /// Whether accounts may be kept only where they are sealed; true by default.
    ///
    /// While it is true, accounts in clear in a database (`AccountRecords(unsealed:)` over SQLite or PostgreSQL) are refused.
    /// When it is false they are taken. A vault seals its records in any case, and a storage of the app's own is the app's to
    /// protect in any case: the SDK cannot see whether it does.
    public var encryptionEnabled = true

    /// How many milliseconds to wait for what is not ours: each call of a storage of the app's own, and each request to a
    /// server. 15,000 by default. A storage that has not answered to a change may have made it.
    public var timeoutMs = 15_000.0

    /// Whether credentials that were read are kept in memory, in plain text, so that listing them does not ask the storage
    /// again; false by default. What this client changes is seen at once, what others change after its own next change, or
    /// ``OathClient/close()``. Locks are judged afresh each time, and codes are never made from memory.
    public var enableCredentialCache = false

    /// Who takes the lines that the client writes; nil for nobody.
    public var logger: (any ClientLogger)?

    /// What time it is.
    public var clock: any WallClock = SystemWallClock()

    /// Where the usual vault is opened.
    package var keychain = Keychain.standard

    init() {}

    /// Where accounts are kept: a storage of the app's own, or an ``AccountStore`` (the same name has both types). Nil is the
    /// user's vault in the usual place, `Keychain.standard`.
    ///
    /// A storage of the app's own keeps everything as one item, and cannot lock it. What another client with the same item has
    /// changed during a call is not overwritten: the call fails with a `StoreError` with `busy`, and can be made again. Clients
    /// that work at the same time, in one process or several, are better given an ``AccountStore`` such as `AccountRecords`.
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

    /// The ``AccountStore`` that ``storage`` was set to, if it was one.
    public var accountStore: (any AccountStore)? {
        get { accounts }
        set {
            accounts = newValue
            item = nil
        }
    }

    /// How long to wait.
    /// - Throws: ``StoreError/Code/invalid`` for no length of time.
    func limit() throws(StoreError) -> Duration {
        guard timeoutMs >= 1, timeoutMs <= 86_400_000 else {
            throw StoreError(.invalid, "configure", "timeoutMs is a number of milliseconds from 1 to 86,400,000")
        }
        return .milliseconds(timeoutMs)
    }
}

/// A configuration that takes an ``AccountStore``. It is there so that ``ClientConfiguration/storage`` can have two types.
public protocol AccountStoreTaking: AnyObject {
    /// The store.
    var accountStore: (any AccountStore)? { get set }
}

extension AccountStoreTaking {
    /// Where accounts are kept, as an ``AccountStore``.
    public var storage: (any AccountStore)? {
        get { accountStore }
        set { accountStore = newValue }
    }
}

extension ClientConfiguration {
    /// The store that was configured.
    /// - Throws: ``StoreError/Code/noVault`` and what else keeps the usual vault from opening; ``StoreError/Code/denied`` for
    ///   accounts in clear where only sealed ones are wanted; ``StoreError/Code/invalid`` for a limit that is none.
    static func accountStore(of configuration: sending ClientConfiguration) async throws(StoreError) -> any AccountStore {
        let limit = try configuration.limit()
        if let accounts = configuration.accounts {
            guard !configuration.encryptionEnabled || !accounts.areInClearOnDisk else {
                throw StoreError(
                    .denied, "open the storage",
                    "it keeps accounts in clear: put a vault in front, or set encryptionEnabled to false")
            }
            return accounts
        }
        if let item = configuration.item { return ItemAccounts(item, limit: limit) }
        return RemoteAccountRecords(AccountRecords(unsealed: try await configuration.keychain.store()))
    }
}

extension AccountStore {
    fileprivate var areInClearOnDisk: Bool {
        switch self {
        case let records as AccountRecords: records.areInClearOnDisk
        case let records as RemoteAccountRecords: records.areInClearOnDisk
        default: false
        }
    }
}
