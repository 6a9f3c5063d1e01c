import Foundation
import Logging

/// The items of Ping's `KeychainStorage`, as items of this package's ``KeychainStorage``.
enum LegacyItems {
    /// The service of all items in the keychain.
    private static let service = "com.pingidentity.keychainService"
    /// The record that says that the items were taken over.
    ///
    /// No item of a storage has a name of two parts.
    private static let mark = RecordKey(.item, "signet", "taken over from Ping")

    /// Copies the items that `records` does not have, in one transaction, and remembers that.
    ///
    /// A second call does nothing, so that an item that was removed since does not come back. The items stay sealed as the app's
    /// encryptor sealed them. A record for each copy lets a ``LegacyItemStorage`` take it over under another name. While the store
    /// cannot read one of the items, the others are copied and nothing is remembered, so that the next call tries again; the log has
    /// the number of unreadable items. An item that a ``LegacyItemStorage`` took over, replaced or removed is not copied again.
    /// - Parameters:
    ///   - store: The keychain or the archive.
    ///   - records: The vault.
    ///   - logger: The logger for the number of unreadable items.
    /// - Returns: The number of copied items.
    /// - Throws: The errors of both stores. Nothing was copied then, and the next call tries again.
    @discardableResult
    static func takeOver(
        from store: any LegacyStore, into records: any RecordStore, logger: Logger = Logger(label: "signet.storage")
    ) throws(StoreError) -> Int {
        guard try records.read({ records throws(StoreError) in try records.record(mark) }) == nil else { return 0 }
        let items = try store.items(of: service, sealedBy: nil)
        guard !items.isEmpty else { return 0 }
        let unreadable = items.count { $0.content == nil }
        if unreadable > 0 { logger.warning("Items of Ping's storage that cannot be read and were not taken over: \(unreadable)") }
        return try records.write { records throws(StoreError) in
            guard try records.record(mark) == nil else { return 0 }
            var count = 0
            for item in items {
                let key = RecordKey(.item, item.name)
                guard !item.name.isEmpty, let content = item.content, try records.record(key) == nil else { continue }
                let stateKey = LegacyMark.key(item.name)
                let state = try records.record(stateKey)
                guard !LegacyMark.isDone(state) else { continue }
                try records.put(Array(content), key)
                if state == nil { try records.put(LegacyMark.copied, stateKey) }
                count += 1
            }
            if unreadable == 0 { try records.put(Array("\(count)".utf8), mark) }
            return count
        }
    }
}

extension VaultProvider {
    /// Takes over the items that an app stored with the `KeychainStorage` of Ping's PingStorage, once.
    ///
    /// A ``KeychainStorage`` with the same account, type and encryptor then reads them. An item that is already in this keychain
    /// stays as it is. While ``LegacyItem/content`` of an item is nil, the next call tries again, and the log has the number of such
    /// items. An item that the app removed with its ``KeychainStorage`` comes back then; a session, tokens and cookies that a journey
    /// or a client took over, replaced or removed do not. The default keychain does this by itself on Apple's systems when it is first
    /// opened.
    ///
    ///     try await VaultProvider.default.takeOverItems(from: LegacyArchive(bytes))
    ///
    /// - Parameter store: The keychain or the archive, which is not changed.
    /// - Returns: The number of items that were taken over; 0 after the first call that could read all items.
    /// - Throws: ``StoreError``. Nothing was taken over then.
    @discardableResult
    public func takeOverItems(from store: any LegacyStore) async throws(StoreError) -> Int {
        let records = try await self.store()
        return try await Blocking.run { () throws(StoreError) in try LegacyItems.takeOver(from: store, into: records) }
    }
}
