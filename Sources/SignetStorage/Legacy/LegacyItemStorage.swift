import Foundation
package import Logging
import SignetCore

/// The state of an item that ``LegacyItems`` copied, for storages that read it under another name.
///
/// The record contains ``copied``, ``done(by:)``, or the account of the only storage that may take the item over.
enum LegacyMark {
    /// The item was copied, and no storage has used it.
    static let copied = Array("copied".utf8)
    /// Returns the state of an item that the storage with this account took over, stored anew or removed.
    ///
    /// It is not taken over again.
    static func done(by account: String) -> [UInt8] { Array("done \(account)".utf8) }

    /// Returns the key of the state of an item.
    ///
    /// No item of a storage has a name of three parts.
    static func key(_ name: String) -> RecordKey { RecordKey(.item, "signet", "taken over from Ping", name) }

    /// Returns true when the storage with this account may take over the item.
    static func isOpen(_ mark: [UInt8]?, to account: String) -> Bool { mark == copied || mark == Array(account.utf8) }

    /// Returns true when the item is not to be taken over again.
    static func isDone(_ mark: [UInt8]?) -> Bool { mark?.starts(with: "done ".utf8) ?? false }
}

/// The result of the first attempt to open the item of Ping's storage, so that the hardware is not used for it again.
private enum LegacyFinding {
    /// The item was not opened yet, or only a temporary error occurred.
    case unknown
    /// The item does not open.
    case unreadable
    /// The item is one of another account.
    case foreign
}

/// A storage of an item in a keychain that takes over the item which Ping's modules stored in its place.
///
/// Ping's modules keep one session, one set of tokens and one set of cookies for an app, as JSON that `SecuredKeyEncryptor` seals
/// where the device has a Secure Enclave. The vault has copies of these items under their old names
/// (``VaultProvider/takeOverItems(from:)``). The first storage that reads and accepts the item gets it, once: an item that was
/// removed or replaced since does not come back, and a storage with another account never gets it. With the item's own name as the
/// account, the sealed item is replaced by the opened one.
///
/// An item that does not open is left as it is and logged without its name; the storage is then empty.
package struct LegacyItemStorage<T: Codable & Sendable>: Storage, Sendable {
    private let account: String
    private let name: String
    private let keychain: VaultProvider
    private let encryptor: (any Encryptor)?
    private let logger: Logger
    private let accepts: (@Sendable (T) async throws -> Bool)?
    private let adapt: @Sendable (T) async throws -> T
    private let item: KeychainStorage<T>
    private let finding = Mutex(LegacyFinding.unknown)

    /// Creates a storage for the item with the name `account`.
    /// - Parameters:
    ///   - account: The name of the item.
    ///   - name: The name that the item has in Ping's modules; nil for `account`.
    ///   - keychain: The keychain of both items.
    ///   - encryptor: The encryptor of the sealed item; nil for the app's key in the Secure Enclave.
    ///   - logger: The logger for an item that does not open or cannot be stored.
    ///   - accepts: Returns false for an item that stays for a storage with another account; nil to accept each item.
    ///   - adapt: Returns the item to store for an item that was taken over from another name.
    package init(
        account: String, of name: String? = nil, in keychain: VaultProvider = .default,
        openedBy encryptor: (any Encryptor)? = nil, logger: Logger = Logger(label: "signet.storage"),
        accepting accepts: (@Sendable (T) async throws -> Bool)? = nil,
        adapting adapt: @escaping @Sendable (T) async throws -> T = { $0 }
    ) {
        self.account = account
        self.name = name ?? account
        self.keychain = keychain
        self.encryptor = encryptor
        self.logger = logger
        self.accepts = accepts
        self.adapt = adapt
        item = KeychainStorage(account: account, in: keychain)
    }

    /// Stores `item` in place of the old item, also of one that could still be taken over, in one transaction.
    /// - Throws: The errors of ``KeychainStorage``.
    package func save(item new: T) async throws {
        let json = Array(try EncryptedStorage<T>.json(new))
        let key = try KeychainSlot.key(account)
        let (account, name, isOther) = (account, name, await isForeign())
        try await keychain.write { (records) throws(StoreError) -> Void in
            let mark = LegacyMark.key(name)
            let state = try records.record(mark)
            try records.put(json, key)
            // A new item under the old name belongs to this account, so that no other account removes it as its copy.
            let isReplaced = account == name && state != nil
            if isReplaced || (!isOther && LegacyMark.isOpen(state, to: account)) {
                try records.put(LegacyMark.done(by: account), mark)
            }
        }
    }

    /// Returns the item, or nil if the storage is empty or its item does not open.
    ///
    /// An item that was opened and cannot be stored is returned, and the next call tries again to store it.
    /// - Throws: The errors of ``KeychainStorage`` and of a key that cannot be used now. The next call tries again.
    package func get() async throws -> T? {
        guard let found = try await candidate() else { return try await item.get() }
        if found.isSuperseded {
            if await !isForeign() { await mark(LegacyMark.done(by: account)) }
            return try await item.get()
        }
        guard finding.withLock({ $0 }) == .unknown else { return nil }
        guard let readable = try await opened(found.old) else {
            finding.withLock { $0 = .unreadable }
            logger.warning(
                "An item of Ping's storage does not open with this app's key. It was left as it is; the user has to log in again."
            )
            if account != name { await mark(Array(account.utf8)) }
            return nil
        }
        if let accepts, try await !accepts(readable) {
            finding.withLock { $0 = .foreign }
            return nil
        }
        let new = try await account == name ? readable : adapt(readable)
        do {
            try await store(Array(EncryptedStorage<T>.json(new)), inPlaceOf: found.old)
        } catch {
            log(error)
            return new
        }
        return try await item.get()
    }

    /// Removes the item, also one that could still be taken over, and the copy of one that was taken over, in one transaction.
    package func delete() async throws {
        let key = try KeychainSlot.key(account)
        let (account, name, isOther) = (account, name, await isForeign())
        try await keychain.write { (records) throws(StoreError) -> Void in
            let (mark, done) = (LegacyMark.key(name), LegacyMark.done(by: account))
            let state = try records.record(mark)
            if state == done || (!isOther && LegacyMark.isOpen(state, to: account)) {
                try records.put(done, mark)
                try records.remove(RecordKey(.item, name))
            }
            try records.remove(key)
        }
    }

    /// Returns the item as Ping's modules stored it; nil when they stored nothing that opens, and after its removal.
    /// - Throws: The errors of the keychain and of a key that cannot be used now.
    package func original() async throws -> T? {
        let name = name
        let (mark, old) = try await keychain.read { (records) throws(StoreError) -> ([UInt8]?, [UInt8]?) in
            (try records.record(LegacyMark.key(name)), try records.record(RecordKey(.item, name)))
        }
        // Under its own name, the item is the original until the app stores another one.
        if account == name, mark != LegacyMark.copied { return nil }
        guard mark != nil, let old else { return nil }
        return try await opened(old)
    }

    /// Returns the item that can be taken over, and true when the account has a newer one; nil when there is nothing to take over.
    private func candidate() async throws(StoreError) -> (old: [UInt8], isSuperseded: Bool)? {
        let (account, name) = (account, name)
        return try await keychain.read { (records) throws(StoreError) -> (old: [UInt8], isSuperseded: Bool)? in
            if account != name, !LegacyMark.isOpen(try records.record(LegacyMark.key(name)), to: account) { return nil }
            guard let old = try records.record(RecordKey(.item, name)) else { return nil }
            guard account != name else {
                guard ECIES.isSealed(old) else { return nil }
                return (old: old, isSuperseded: false)
            }
            let own = try records.record(RecordKey(.item, account))
            return (old: old, isSuperseded: own != nil)
        }
    }

    /// Returns true when the item that can be taken over belongs to another account, as far as it can be opened now.
    private func isForeign() async -> Bool {
        if let accepts, finding.withLock({ $0 }) == .unknown, let found = try? await candidate(),
            let readable = try? await opened(found.old), (try? await accepts(readable)) == false
        {
            finding.withLock { $0 = .foreign }
        }
        return finding.withLock { $0 } == .foreign
    }

    /// Returns the item in bytes of Ping's storage; nil when they do not open with the key, or without a key.
    /// - Throws: The error of a key that cannot be used now.
    private func opened(_ bytes: [UInt8]) async throws -> T? {
        let data = Data(bytes)
        if let item = try? JSONDecoder().decode(T.self, from: data) { return item }
        guard ECIES.isSealed(bytes) else { return nil }
        var opener = encryptor
        if opener == nil { opener = try await DefaultLegacyStore.encryptor() }
        guard let opener else { return nil }
        do {
            let json = try await opener.decrypt(data: data)
            return try? JSONDecoder().decode(T.self, from: json)
        } catch {
            guard (error as? StoreError)?.code == .corrupt else { throw error }
            return nil
        }
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
            try records.put(LegacyMark.done(by: account), mark)
        }
    }

    /// Changes the state of an item that is open to this account; a failure is logged, and the state stays.
    private func mark(_ state: [UInt8]) async {
        let (account, name) = (account, name)
        do {
            try await keychain.write { (records) throws(StoreError) -> Void in
                let mark = LegacyMark.key(name)
                if LegacyMark.isOpen(try records.record(mark), to: account) { try records.put(state, mark) }
            }
        } catch {
            log(error)
        }
    }

    private func log(_ error: any Error) {
        let code = (error as? StoreError)?.code.rawValue ?? "unknown error"
        logger.warning("The takeover of an item of Ping's storage could not be stored and will be tried again: \(code)")
    }
}
