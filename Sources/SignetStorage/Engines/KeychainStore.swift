#if canImport(Security)
import Security
import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records in the keychain of an Apple device: all of them in one generic password, so that a transaction is one change of one
/// item. For the tens of records that a person has; each write stores all of them again.
///
/// The item is there after the first unlock, stays on this device, and is not synchronised. Several processes may use it: a
/// transaction in whose time another process changed the item fails with ``StoreError/Code/busy`` and changes nothing, since
/// its closure is not run a second time.
///
/// It has not been run on a Mac or an iPhone yet. It is checked against a stand-in for the Security framework on Linux
/// (`scripts/check-apple`), which behaves as Apple's documentation says.
public final class KeychainStore: RecordStore {
    private let service: String
    private let account: String
    private let accessGroup: String?
    /// One transaction of this process at a time.
    private let turn = Mutex(())

    /// The records under this name. Nothing is made before the first write.
    /// - Parameters:
    ///   - service: The item's service, for example the app's identifier.
    ///   - account: The item's account: the name of the store.
    ///   - accessGroup: The group of apps that share it; nil for the app's own.
    public init(service: String, account: String = "signet records", accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// Reads a consistent state: the item as it is now.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try body(BundledRecords(bundle: item()?.bundle ?? RecordBundle()))
    }

    /// Reads and changes, all or nothing.
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

    /// Puts `bundle` in the place of the item of this generation, and only of that.
    private func store(_ bundle: RecordBundle, over generation: Data?) throws(StoreError) {
        let content: [CFString: Any] = [
            kSecValueData: Data(bundle.encoded), kSecAttrGeneric: Self.generation(after: generation),
        ]
        let status: OSStatus
        if let generation {
            // The generation is part of the question: an item that somebody changed is not found.
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

    /// A number that grows by one, and eight random bytes: an item that was removed and made again must not be taken for the
    /// one that was read before.
    private static func generation(after generation: Data?) -> Data {
        let number = (generation ?? Data()).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return withUnsafeBytes(of: (number &+ 1).bigEndian) { Data($0) } + Data(Secret.random(byteCount: 8).bytes)
    }
}

#endif
