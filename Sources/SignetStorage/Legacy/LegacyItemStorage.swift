import Foundation
package import Logging
import SignetCore

/// The state of an item that ``LegacyItems`` copied, for storages that read it under another name.
///
/// The record contains ``copied``, ``done``, or the account of the only storage that may take the item over.
enum LegacyMark {
    /// The item was copied, and no storage has used it.
    static let copied = Array("copied".utf8)
    /// The item was taken over, stored anew or removed.
    ///
    /// It is not taken over again.
    static let done = Array("done".utf8)

    /// Returns the key of the state of an item.
    ///
    /// No item of a storage has a name of three parts.
    static func key(_ name: String) -> RecordKey { RecordKey(.item, "signet", "taken over from Ping", name) }

    /// Returns true when the storage with this account may take over the item.
    static func isOpen(_ mark: [UInt8]?, to account: String) -> Bool { mark == copied || mark == Array(account.utf8) }
}

/// The result of the search for an item of Ping's storage.
private enum LegacyFinding: Sendable {
    /// There is nothing to take over.
    case nothing
    /// An item of Ping's storage.
    case item([UInt8])
    /// An item of Ping's storage, and a newer one under the account.
    case superseded
}

/// A storage of an item in a keychain that takes over the item which Ping's modules stored in its place.
///
/// Ping's modules keep one session, one set of tokens and one set of cookies for an app, as JSON that `SecuredKeyEncryptor` seals
/// where the device has a Secure Enclave. The vault has copies of these items under their old names
/// (``VaultProvider/takeOverItems(from:)``). The first storage that reads gets the item, once: an item that was removed or replaced
/// since does not come back, and a storage with another account never gets it. With the item's own name as the account, the sealed
/// item is replaced by the opened one.
///
/// An item that does not open is left as it is and logged without its name; the storage is then empty.
package struct LegacyItemStorage<T: Codable & Sendable>: Storage, Sendable {
    private let account: String
    private let name: String
    private let keychain: VaultProvider
    private let encryptor: (any Encryptor)?
    private let logger: Logger
    private let adapt: @Sendable (T) async throws -> T
    private let item: KeychainStorage<T>
    /// True after an item did not open, so that the hardware is not used for it again.
    private let isUnreadable = Mutex(false)

    /// Creates a storage for the item with the name `account`.
    /// - Parameters:
    ///   - account: The name of the item.
    ///   - name: The name that the item has in Ping's modules; nil for `account`.
    ///   - keychain: The keychain of both items.
    ///   - encryptor: The encryptor of the sealed item; nil for the app's key in the Secure Enclave.
    ///   - logger: The logger for an item that does not open.
    ///   - adapt: Returns the item to store for an item that was taken over from another name.
    package init(
        account: String, of name: String? = nil, in keychain: VaultProvider = .default,
        openedBy encryptor: (any Encryptor)? = nil,
        logger: Logger = Logger(label: "signet.storage"), adapting adapt: @escaping @Sendable (T) async throws -> T = { $0 }
    ) {
        self.account = account
        self.name = name ?? account
        self.keychain = keychain
        self.encryptor = encryptor
        self.logger = logger
        self.adapt = adapt
        item = KeychainStorage(account: account, in: keychain)
    }

    /// Stores `item` in place of the old item, also of one that could still be taken over.
    package func save(item new: T) async throws {
        try await item.save(item: new)
        try await endTakeOver()
    }

    /// Returns the item, or nil if the storage is empty or its item does not open.
    /// - Throws: The errors of ``KeychainStorage``. The next call tries again to take over the item.
    package func get() async throws -> T? {
        guard try await takeOver() else { return nil }
        return try await item.get()
    }

    /// Removes the item, also one that could still be taken over.
    package func delete() async throws {
        // If the program stops in between, the next start must not take over again what was removed.
        do {
            try await endTakeOver()
        } catch {
            try await item.delete()
            throw error
        }
        try await item.delete()
    }

    /// Returns the item as Ping's modules stored it; nil when they stored nothing that opens, or when it was replaced since.
    package func original() async throws -> T? {
        let name = name
        let (mark, old) = try await keychain.read { (records) throws(StoreError) -> ([UInt8]?, [UInt8]?) in
            (try records.record(LegacyMark.key(name)), try records.record(RecordKey(.item, name)))
        }
        // Under its own name, the item is the original until the app stores another one.
        if account == name, mark != LegacyMark.copied { return nil }
        guard mark != nil, let old else { return nil }
        return await opened(old)
    }

    /// Takes over the item if that is possible and has not been done.
    /// - Returns: False when the item under `account` is sealed and does not open.
    private func takeOver() async throws -> Bool {
        switch try await found() {
        case .nothing: return true
        case .superseded: try await endTakeOver()
        case .item(let old):
            if !isUnreadable.withLock({ $0 }), let readable = await opened(old) {
                let new = try await account == name ? readable : adapt(readable)
                if let json = try? JSONEncoder().encode(new) {
                    try await store(Array(json), inPlaceOf: old)
                    return true
                }
            }
            try await report()
            return account != name
        }
        return true
    }

    private func found() async throws(StoreError) -> LegacyFinding {
        let (account, name) = (account, name)
        return try await keychain.read { (records) throws(StoreError) -> LegacyFinding in
            guard account != name else {
                guard let own = try records.record(RecordKey(.item, account)), ECIES.isSealed(own) else { return .nothing }
                return .item(own)
            }
            guard LegacyMark.isOpen(try records.record(LegacyMark.key(name)), to: account) else { return .nothing }
            guard try records.record(RecordKey(.item, account)) == nil else { return .superseded }
            guard let old = try records.record(RecordKey(.item, name)) else { return .nothing }
            return .item(old)
        }
    }

    /// Returns the item in bytes of Ping's storage; nil when they do not open.
    private func opened(_ bytes: [UInt8]) async -> T? {
        let data = Data(bytes)
        if let item = try? JSONDecoder().decode(T.self, from: data) { return item }
        guard ECIES.isSealed(bytes) else { return nil }
        var opener = encryptor
        if opener == nil { opener = await DefaultLegacyStore.encryptor() }
        guard let opener, let json = try? await opener.decrypt(data: data) else { return nil }
        return try? JSONDecoder().decode(T.self, from: json)
    }

    /// Stores the opened item, unless another process has stored or removed one in the meantime.
    private func store(_ new: [UInt8], inPlaceOf old: [UInt8]) async throws(StoreError) {
        let (account, name) = (account, name)
        try await keychain.write { (records) throws(StoreError) -> Void in
            let (own, mark) = (RecordKey(.item, account), LegacyMark.key(name))
            guard account != name else {
                if try records.record(own) == old { try records.put(new, own) }
                return
            }
            guard LegacyMark.isOpen(try records.record(mark), to: account) else { return }
            if try records.record(own) == nil { try records.put(new, own) }
            try records.put(LegacyMark.done, mark)
        }
    }

    /// Reports an item that does not open, and reserves it for this account.
    private func report() async throws(StoreError) {
        let (account, name) = (account, name)
        let isFirst = isUnreadable.withLock { isKnown -> Bool in
            let isNew = !isKnown
            isKnown = true
            return isNew
        }
        guard isFirst else { return }
        logger.warning(
            "An item of Ping's storage does not open with this app's key. It was left as it is; the user has to log in again.")
        guard account != name else { return }
        try await keychain.write { (records) throws(StoreError) -> Void in
            let mark = LegacyMark.key(name)
            if try records.record(mark) == LegacyMark.copied { try records.put(Array(account.utf8), mark) }
        }
    }

    /// Stores that the item is not to be taken over any more, unless it belongs to another account.
    private func endTakeOver() async throws(StoreError) {
        let (account, mark) = (account, LegacyMark.key(name))
        let isOpen = try await keychain.read { (records) throws(StoreError) -> Bool in
            LegacyMark.isOpen(try records.record(mark), to: account)
        }
        guard isOpen else { return }
        try await keychain.write { (records) throws(StoreError) -> Void in
            if LegacyMark.isOpen(try records.record(mark), to: account) { try records.put(LegacyMark.done, mark) }
        }
    }
}
