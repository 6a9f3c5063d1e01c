// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import Foundation
import Synchronization

// A keychain in memory that answers as Apple documents SecItemAdd, -Update and -CopyMatching, and is stricter where Apple's
// is lenient: it accepts no unknown attribute, and none in a call where it has no meaning.

/// The controls of the keychain for a test.
public enum StandInKeychain {
    /// A function of the keychain.
    public enum Function: Sendable { case add, update, copy, delete }

    /// Removes all items and configured failures.
    public static func reset() {
        keychain.withLock { $0 = State() }
    }

    /// Locks it as before the first unlock of the device, or unlocks it.
    public static func setLocked(_ isLocked: Bool) {
        keychain.withLock { $0.isLocked = isLocked }
    }

    /// Makes every call of a function return this status; nil lets it work again.
    public static func fail(_ function: Function, with status: OSStatus?) {
        keychain.withLock { $0.failures[function] = status }
    }

    /// Changes the bytes of every item.
    public static func changeData(_ change: @Sendable (Data) -> Data) {
        keychain.withLock { state in
            for index in state.items.indices {
                guard case .data(let data)? = state.items[index][kSecValueData] else { continue }
                state.items[index][kSecValueData] = .data(change(data))
            }
        }
    }

    /// The bytes of every item.
    public static var data: [Data] {
        keychain.withLock { state in
            state.items.compactMap { item in if case .data(let data)? = item[kSecValueData] { data } else { nil } }
        }
    }

    /// The attributes of every item, as texts.
    public static var items: [[String: String]] {
        keychain.withLock { state in state.items.map { $0.mapValues { "\($0)" } } }
    }
}

/// The value of an attribute.
enum Value: Hashable, Sendable {
    case text(String)
    case data(Data)
    case flag(Bool)
    case number(Int)
    case key(SecKey)
    case access(SecAccessControl)

    init?(_ value: Any) {
        switch value {
        case let value as SecKey: self = .key(value)
        case let value as SecAccessControl: self = .access(value)
        case let value as Bool: self = .flag(value)
        case let value as Int: self = .number(value)
        case let value as String: self = .text(value)
        case let value as Data: self = .data(value)
        default: return nil
        }
    }

    var object: Any {
        switch self {
        case .text(let value): value
        case .data(let value): value
        case .flag(let value): value
        case .number(let value): value
        case .key(let value): value
        case .access(let value): value
        }
    }
}

typealias Attributes = [String: Value]

struct State {
    var items: [Attributes] = []
    var isLocked = false
    var failures: [StandInKeychain.Function: OSStatus] = [:]
    /// The groups that the app may use; the first is the default.
    let accessGroups = ["app", "shared"]
}

let keychain = Mutex(State())

/// The attributes that a class has, and those that make an item unique.
private let known: [String: (all: Set<String>, unique: [String])] = [
    kSecClassGenericPassword: (
        [kSecAttrService, kSecAttrAccount, kSecAttrGeneric, kSecAttrAccessGroup, kSecAttrAccessible, kSecAttrSynchronizable],
        [kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup, kSecAttrSynchronizable]
    ),
    kSecClassKey: (
        [
            kSecAttrKeyClass, kSecAttrKeyType, kSecAttrApplicationTag, kSecAttrApplicationLabel, kSecAttrAccessGroup,
            kSecAttrTokenID, kSecAttrAccessControl,
        ], [kSecAttrKeyClass, kSecAttrKeyType, kSecAttrApplicationTag, kSecAttrApplicationLabel, kSecAttrAccessGroup]
    ),
]
private let returning: Set = [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecMatchLimit]

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    keychain.withLock { state in
        guard var item = parsed(attributes), known(item, and: [kSecValueData]) else { return errSecParam }
        if let status = state.refusal(.add, item) { return status }
        item[kSecUseDataProtectionKeychain] = nil
        return state.add(item)
    }
}

public func SecItemUpdate(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
    keychain.withLock { state in
        guard let query = parsed(query), known(query, and: []), let changes = parsed(changes),
            changes.keys.allSatisfy({ [kSecValueData, kSecAttrGeneric].contains($0) })
        else { return errSecParam }
        if let status = state.refusal(.update, query) { return status }
        let found = state.items.indices.filter { state.matches(state.items[$0], query) }
        guard !found.isEmpty else { return errSecItemNotFound }
        for index in found { state.items[index].merge(changes) { $1 } }
        return errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    keychain.withLock { state in
        guard let query = parsed(query), known(query, and: []) else { return errSecParam }
        if let status = state.refusal(.delete, query) { return status }
        let found = state.items.indices.filter { state.matches(state.items[$0], query) }
        for index in found.reversed() { state.items.remove(at: index) }
        return found.isEmpty ? errSecItemNotFound : errSecSuccess
    }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let answer: (status: OSStatus, items: [Attributes]) = keychain.withLock { state in
        guard let query = parsed(query), known(query, and: returning),
            [.text(kSecMatchLimitOne), .text(kSecMatchLimitAll)].contains(query[kSecMatchLimit])
        else { return (errSecParam, []) }
        if let status = state.refusal(.copy, query) { return (status, []) }
        let items = state.items.filter { state.matches($0, query) }
        return (items.isEmpty ? errSecItemNotFound : errSecSuccess, items)
    }
    guard let item = answer.items.first else { return answer.status }
    if query[kSecMatchLimit] as? String == kSecMatchLimitAll {
        result?.pointee = answer.items.map { $0.mapValues(\.object) as NSDictionary } as NSArray
    } else if query[kSecReturnRef] as? Bool == true {
        guard case .key(let key)? = item["v_Ref"] else { return errSecDecode }
        result?.pointee = key
    } else {
        result?.pointee = item.mapValues(\.object) as NSDictionary
    }
    return errSecSuccess
}

extension State {
    mutating func add(_ item: Attributes) -> OSStatus {
        var item = item
        item[kSecAttrAccessGroup] = item[kSecAttrAccessGroup] ?? .text(accessGroups[0])
        let isTaken = items.contains { other in unique(item).allSatisfy { other[$0] == item[$0] } }
        guard !isTaken else { return errSecDuplicateItem }
        items.append(item)
        return errSecSuccess
    }

    func refusal(_ function: StandInKeychain.Function, _ query: Attributes) -> OSStatus? {
        if let status = failures[function] { return status }
        if isLocked { return errSecInteractionNotAllowed }
        if case .text(let group)? = query[kSecAttrAccessGroup], !accessGroups.contains(group) { return errSecMissingEntitlement }
        return nil
    }

    func matches(_ item: Attributes, _ query: Attributes) -> Bool {
        query.allSatisfy { name, value in
            returning.contains(name) || name == kSecUseDataProtectionKeychain || item[name] == value
        }
    }

    private func unique(_ item: Attributes) -> [String] {
        guard case .text(let kind)? = item[kSecClass], let known = known[kind] else { return [] }
        return [kSecClass] + known.unique
    }
}

private func parsed(_ dictionary: CFDictionary) -> Attributes? {
    var attributes: Attributes = [:]
    for (name, value) in dictionary {
        guard let name = name as? String, let value = Value(value) else { return nil }
        attributes[name] = value
    }
    return attributes
}

/// Returns whether all attributes belong to the item's class, or are allowed in this call.
private func known(_ attributes: Attributes, and others: Set<String>) -> Bool {
    guard case .text(let kind)? = attributes[kSecClass], let known = known[kind] else { return false }
    return Set(attributes.keys).isSubset(of: known.all.union(others).union([kSecClass, kSecUseDataProtectionKeychain]))
}
