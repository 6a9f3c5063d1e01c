#if canImport(Security)
import Foundation
import Security
import SignetCore

/// Records in the keychain of an Apple device.
///
/// All records are in one generic password, so that a transaction changes a single item. Each write stores all records again, so
/// the store suits the tens of records of one user.
///
/// The item is available after the first unlock, stays on this device and is not synchronized. Several processes may use it. If
/// another process changes the item during a transaction, the transaction fails with ``StoreError/Code/busy`` and changes
/// nothing, because its closure must not run a second time.
///
/// The store has not been run on a Mac or an iPhone yet. On Linux, it is tested against a substitute for the Security framework
/// (`scripts/check-apple`), which follows Apple's documentation.
public final class KeychainStore: RecordStore {
    private let service: String
    private let account: String
    private let accessGroup: String?
    /// Serializes the write transactions of this process.
    private let turn = Mutex(())

    /// Creates a store for the item with this name.
    ///
    /// The item is created at the first write.
    /// - Parameters:
    ///   - service: The item's service, for example the app's identifier.
    ///   - account: The item's account: the name of the store.
    ///   - accessGroup: The access group of the apps that share the item; nil for the app's own.
    public init(service: String, account: String = "signet records", accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// Reads a consistent state: the item at the time of the call.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try body(BundledRecords(bundle: item()?.bundle ?? RecordBundle()))
    }

    /// Reads and changes records in one transaction.
    /// - Throws: ``StoreError/Code/busy`` when another process changed the item meanwhile.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try turn.withLock { _ throws(StoreError) -> R in
            let before = try item()
            let transaction = BundledRecords(bundle: before?.bundle ?? RecordBundle())
            let value = try body(transaction)
            guard transaction.bundle != before?.bundle else { return value }
            try store(transaction.bundle, over: before?.generation)
            return value
        }
    }

    private struct Item {
        let bundle: RecordBundle
        let generation: Data
    }

    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            kSecAttrSynchronizable: false, kSecUseDataProtectionKeychain: true,
        ]
        query[kSecAttrAccessGroup] = accessGroup
        return query
    }

    private func item() throws(StoreError) -> Item? {
        var query = query
        query[kSecMatchLimit] = kSecMatchLimitOne
        query[kSecReturnData] = true
        query[kSecReturnAttributes] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "read the keychain") }
        guard let attributes = found as? [String: Any], let data = attributes[kSecValueData as String] as? Data,
            let generation = attributes[kSecAttrGeneric as String] as? Data
        else {
            throw StoreError(.corrupt, "read the keychain", "the item is not one of this store; it was left as it is")
        }
        return Item(bundle: try RecordBundle(Array(data)), generation: generation)
    }

    /// Replaces the item, but only if it still has this generation.
    ///
    /// Adds the item if `generation` is nil.
    private func store(_ bundle: RecordBundle, over generation: Data?) throws(StoreError) {
        let content: [CFString: Any] = [
            kSecValueData: Data(bundle.encoded), kSecAttrGeneric: Self.generation(after: generation),
        ]
        let status: OSStatus
        if let generation {
            // The query contains the generation, so it does not find an item that another process has changed.
            var query = query
            query[kSecAttrGeneric] = generation
            status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
        } else {
            let protection: [CFString: Any] = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
            let item = query.merging(content) { $1 }.merging(protection) { $1 }
            status = SecItemAdd(item as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "write the keychain") }
    }

    /// Returns the generation that follows `generation`: a number that grows by one, and eight random bytes.
    ///
    /// The random bytes distinguish an item that was removed and created again from the one that was read before.
    private static func generation(after generation: Data?) -> Data {
        let number = (generation ?? Data()).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return withUnsafeBytes(of: (number &+ 1).bigEndian) { Data($0) } + Data(Secret.random(byteCount: 8).bytes)
    }
}

#endif
