public import Foundation
import SignetCore
public import SignetStorage

/// The texts, Boolean values and bytes that an app keeps under keys, as items of the user's vault.
///
/// All items of a service, or of a service in an access group, are one record of the vault. The calls block the thread until
/// the vault has them on disk. They report a failure as false or nil.
public struct KeychainService: Sendable {
    /// The service and the other options.
    public var options: KeychainOptions
    private let securedKey: SecuredKey?
    private let keychain: VaultProvider

    /// Creates a service.
    /// - Parameters:
    ///   - service: The name of the service.
    ///   - securedKey: The key in hardware that seals each value before the vault does; nil for none.
    ///   - keychain: The user's vault.
    public init(service: String, securedKey: SecuredKey? = nil, in keychain: VaultProvider = .default) {
        self.init(options: KeychainOptions(service: service), securedKey: securedKey, in: keychain)
    }

    /// Creates a service in an access group.
    /// - Parameters:
    ///   - service: The name of the service.
    ///   - accessGroup: The name of the access group, by which apps share items.
    ///   - securedKey: The key in hardware that seals each value before the vault does; nil for none.
    ///   - keychain: The user's vault.
    public init(
        service: String, accessGroup: String, securedKey: SecuredKey? = nil, in keychain: VaultProvider = .default
    ) {
        self.init(
            options: KeychainOptions(service: service, accessGroup: accessGroup), securedKey: securedKey, in: keychain)
    }

    /// Creates a service with options.
    /// - Parameters:
    ///   - options: The options.
    ///   - securedKey: The key in hardware that seals each value before the vault does; nil for none.
    ///   - keychain: The user's vault.
    public init(options: KeychainOptions, securedKey: SecuredKey? = nil, in keychain: VaultProvider = .default) {
        self.options = options
        self.securedKey = securedKey
        self.keychain = keychain
    }

    // MARK: Values

    /// Stores a text; nil deletes the item.
    /// - Returns: True when it is stored.
    @discardableResult
    public func set(_ val: String?, key: String) -> Bool {
        guard let val else { return delete(key) }
        return set(.text, Data(val.utf8), key)
    }

    /// Stores a Boolean value.
    /// - Returns: True when it is stored.
    @discardableResult
    public func set(_ val: Bool, key: String) -> Bool { set(.bool, Data([val ? 1 : 0]), key) }

    /// Stores bytes.
    /// - Returns: True when they are stored.
    @discardableResult
    public func set(_ val: Data, key: String) -> Bool { set(.bytes, val, key) }

    /// Returns the text under a key; nil when the item is missing, no text, or can't be read.
    public func getString(_ key: String) -> String? { getData(key).flatMap { String(data: $0, encoding: .utf8) } }

    /// Returns the text under a key, or stores one if the item is missing, in one transaction.
    ///
    /// Of several processes that store at the same time, all get the text of one. An item that cannot be read is never replaced.
    /// - Parameters:
    ///   - key: The key of the item.
    ///   - text: The text to store if the item is missing.
    /// - Returns: The text in the vault; nil when the vault or the item cannot be read, or the vault cannot be written.
    package func getString(_ key: String, orStore text: String) -> String? {
        guard let found = items() else { return nil }
        if let item = found[key] { return open(item).flatMap { String(data: $0, encoding: .utf8) } }
        let value = Data(text.utf8)
        guard let sealed = securedKey.map({ $0.encrypt(data: value) }) ?? value else { return nil }
        let (keychain, record, new) = (keychain, record, Item(kind: .text, value: sealed))
        let stored: Item? = Blocking.wait {
            try? await keychain.write { (writer) throws(StoreError) in
                var items = try Self.items(writer.record(record))
                if let item = items[key] { return item }
                items[key] = new
                try Self.put(items, record, writer)
                return new
            }
        }
        return stored.flatMap { open($0) }.flatMap { String(data: $0, encoding: .utf8) }
    }

    /// Returns the Boolean value under a key; nil when the item is missing or can't be read.
    public func getBool(_ key: String) -> Bool? { getData(key).flatMap { $0.first }.map { $0 == 1 } }

    /// Returns the bytes under a key; nil when the item is missing or can't be read.
    public func getData(_ key: String) -> Data? { items()?[key].flatMap { open($0) } }

    /// Returns all items; nil when the vault can't be read.
    public func allItems() -> [String: Any]? {
        items()?.compactMapValues { item in
            guard let value = open(item) else { return nil }
            return switch item.kind {
            case .text: String(data: value, encoding: .utf8)
            case .bool: value.first == 1
            case .bytes: value
            }
        }
    }

    /// Deletes the item under a key.
    /// - Returns: True when the item is gone, or was not there.
    @discardableResult
    public func delete(_ key: String) -> Bool { change { $0[key] = nil } }

    /// Deletes all items of the service, and nothing else.
    /// - Returns: True when they are gone.
    @discardableResult
    public func deleteAll() -> Bool { change { $0 = [:] } }

    /// Returns true for the name of an access group that the vault can keep apart from others.
    ///
    /// On Linux, all programs of the user share the vault, so that each of them can use each group.
    public static func validateAccessGroup(service: String, accessGroup: String) -> Bool {
        !service.isEmpty && !accessGroup.isEmpty
    }

    /// The service and the access group.
    ///
    /// It never contains an item.
    public var debugDescription: String {
        "KeychainService \(options.service)\(options.accessGroup.map { " | \($0)" } ?? "")"
    }

    // MARK: Records

    /// An item as it is stored.
    private struct Item: Codable, Sendable {
        enum Kind: String, Codable, Sendable {
            case text, bytes
            /// A Boolean value, whose stored name is `truth`.
            case bool = "truth"
        }

        let kind: Kind
        let value: Data
    }

    private var record: RecordKey {
        RecordKey(.item, "frcore/keychain/\(options.accessGroup ?? "")/\(options.service)")
    }

    private func set(_ kind: Item.Kind, _ value: Data, _ key: String) -> Bool {
        guard let sealed = securedKey.map({ $0.encrypt(data: value) }) ?? value else { return false }
        return change { $0[key] = Item(kind: kind, value: sealed) }
    }

    private func open(_ item: Item) -> Data? { securedKey.map { $0.decrypt(data: item.value) } ?? item.value }

    private func items() -> [String: Item]? {
        let (keychain, record) = (keychain, record)
        return Blocking.wait {
            try? await keychain.read { (reader) throws(StoreError) in try Self.items(reader.record(record)) }
        }
    }

    private func change(_ body: @escaping @Sendable (inout [String: Item]) -> Void) -> Bool {
        let (keychain, record) = (keychain, record)
        return Blocking.wait {
            let done: Void? = try? await keychain.write { (writer) throws(StoreError) in
                var items = try Self.items(writer.record(record))
                body(&items)
                guard !items.isEmpty else { return try writer.remove(record) }
                try Self.put(items, record, writer)
            }
            return done != nil
        }
    }

    private static func put(_ items: [String: Item], _ record: RecordKey, _ writer: any RecordWriter) throws(StoreError) {
        do {
            try writer.put(JSON.encode(items), record)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.invalid, "save an item", "it cannot be expressed")
        }
    }

    private static func items(_ bytes: [UInt8]?) throws(StoreError) -> [String: Item] {
        guard let bytes else { return [:] }
        do {
            return try JSON.decode([String: Item].self, from: bytes)
        } catch {
            throw StoreError(.typeMismatch, "read the items of a service", "they cannot be decoded")
        }
    }
}

/// The options of a ``KeychainService``.
public struct KeychainOptions: Sendable, Hashable {
    /// The name of the service.
    public var service: String
    /// The name of the access group; nil for none.
    public var accessGroup: String?
    /// The address that ``init(url:)`` got.
    public var url: URL?
    /// True if other devices of the user may get the items; the vault never gives them any.
    public var synchronizable = false
    /// The time at which the items can be read, which the vault's key protection decides.
    public var accessibility = KeychainAccessibility.afterFirstUnlock

    /// Creates options for a service.
    public init(service: String) { self.service = service }

    /// Creates options for a service in an access group.
    public init(service: String, accessGroup: String) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// Creates options for a service that an address names.
    public init(url: URL) {
        service = url.absoluteString
        self.url = url
    }
}

/// The time at which an item of a keychain can be read.
public enum KeychainAccessibility: String, Sendable, CaseIterable {
    /// After the device was unlocked once since it started.
    case afterFirstUnlock
    /// After the device was unlocked once since it started, and on no other device.
    case afterFirstUnlockThisDeviceOnly
    /// While the device is unlocked.
    case whenUnlocked
    /// While the device is unlocked, and on no other device.
    case whenUnlockedThisDeviceOnly
    /// While the device is unlocked, if it has a passcode, and on no other device.
    case whenPasscodeSetThisDeviceOnly
    /// At all times, and on no other device, which newer systems treat as ``afterFirstUnlockThisDeviceOnly``.
    case alwaysThisDeviceOnly

    /// The name.
    public var description: String { rawValue }
}
