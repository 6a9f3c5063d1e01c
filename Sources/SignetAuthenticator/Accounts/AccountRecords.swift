import SignetCore
public import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Accounts, mechanisms and notifications as records of a store.
///
/// Beside them it keeps indexes, in the same transactions: which mechanisms an account has, and which notifications a
/// mechanism has, in the order of their arrival. So neither is ever looked for among all. An index that is not there, as in a
/// store of an earlier version, or cannot be read, is made again from what is stored.
public struct AccountRecords: ImmediateAccountStore {
    private let store: any RecordStore

    /// Accounts in a vault: sealed, whatever the vault keeps them in.
    public init(_ vault: Vault) {
        store = vault
    }

    /// Accounts in clear in a store that protects them itself, or that nobody else can read. The name of the label is a
    /// reminder: on a disk, use a `Vault`.
    public init(unsealed store: any RecordStore) {
        self.store = store
    }

    /// Whether somebody who has the disk can read the accounts: no for a vault, for memory, for a keychain of the system's, and
    /// for a store of the app's own, which the app answers for.
    package var areInClearOnDisk: Bool { store is any ClearOnDisk }

    /// Reads a consistent state.
    public func read<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.read { (records: any RecordReader) throws(StoreError) in try body(Reader(reader: records)) }
    }

    /// Reads and changes, all or nothing.
    public func write<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.write { (records: any RecordWriter) throws(StoreError) in try body(Writer(records: records)) }
    }
}

extension AccountRecords {
    /// Accounts as a transaction of records shows them.
    static func reader(_ records: any RecordReader) -> any AccountReader { Reader(reader: records) }
    /// Accounts as a transaction of records lets them be changed.
    static func writer(_ records: any RecordWriter) -> any AccountWriter { Writer(records: records) }
}

protocol RecordBackedReader: AccountReader {
    var reader: any RecordReader { get }
}

private struct Reader: RecordBackedReader {
    let reader: any RecordReader
}

private struct Writer: RecordBackedReader, AccountWriter {
    let records: any RecordWriter
    var reader: any RecordReader { records }

    private var mechanismIndex: MechanismIndex { MechanismIndex(records: records, reader: self) }
    private func notificationIndex(_ mechanismUID: String) -> NotificationIndex {
        NotificationIndex(mechanismUID: mechanismUID, reader: self)
    }

    func save(_ account: Account) throws(StoreError) {
        if try presence(.account(account.id)) == .none { try mechanismIndex.begin(account.id) }
        try put(account, .account(account.id))
    }

    func save(_ mechanism: Mechanism) throws(StoreError) {
        try mechanismIndex.add(mechanism.uid, to: mechanism.account)
        if mechanism.push != nil, try presence(.mechanism(mechanism.uid)) == .none {
            try notificationIndex(mechanism.uid).begin(in: records)
        }
        try put(mechanism, .mechanism(mechanism.uid))
    }

    func save(_ notification: PushNotification) throws(StoreError) { try save([notification]) }

    func save(_ notifications: [PushNotification]) throws(StoreError) {
        for (mechanismUID, saved) in Dictionary(grouping: notifications, by: \.message.mechanismUID) {
            let index = notificationIndex(mechanismUID)
            var entries: [NotificationIndex.Entry] = []
            for entry in Set(saved.map { NotificationIndex.Entry($0) }) {
                switch try presence(.notification(entry.id)) {
                case .there: break
                case .none: entries.append(entry)
                // It is in the index if it was whole once.
                case .damaged: if try !index.entries().contains(where: { $0.id == entry.id }) { entries.append(entry) }
                }
            }
            try index.insert(entries, in: records)
            for notification in saved { try put(notification, .notification(notification.id)) }
        }
    }

    func remove(account: AccountID) throws(StoreError) {
        for uid in try mechanismIndex.uids(of: account) { try remove(mechanismRecord: uid) }
        try mechanismIndex.end(account)
        try records.remove(.account(account))
    }

    func remove(mechanism uid: String) throws(StoreError) {
        if try presence(.mechanism(uid)) == .none { return }
        if let account = try unlessDamaged({ () throws(StoreError) in try mechanism(uid) })?.account {
            try mechanismIndex.remove(uid, from: account)
        }
        try remove(mechanismRecord: uid)
    }

    /// Removes a mechanism that no account has any more.
    private func remove(mechanismRecord uid: String) throws(StoreError) {
        let stored = try unlessDamaged { () throws(StoreError) in try mechanism(uid) }
        if stored?.oath == nil {
            try removeNotifications(of: uid)
            try notificationIndex(uid).end(in: records)
        }
        try records.remove(.mechanism(uid))
    }

    func remove(notification id: String) throws(StoreError) {
        let found = try unlessDamaged { () throws(StoreError) in try notification(id: id) }
        if let found { try notificationIndex(found.message.mechanismUID).remove(id, in: records) }
        try records.remove(.notification(id))
    }

    func removeNotifications(of mechanismUID: String) throws(StoreError) {
        let index = notificationIndex(mechanismUID)
        let entries = try index.entries()
        guard !entries.isEmpty else { return }
        for entry in entries { try forget(entry) }
        try index.restart(in: records)
    }

    func add(_ notification: PushNotification, _ retention: NotificationRetention, now: Date) throws(StoreError) {
        let entry = NotificationIndex.Entry(notification)
        let surplus = Surplus(retention, now: now)
        let gone = try notificationIndex(notification.message.mechanismUID).add(entry, dropping: surplus, in: records)
        for entry in gone { try forget(entry) }
        try put(notification, .notification(notification.id))
    }

    func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int {
        guard retention != .all else { return 0 }
        let gone = try notificationIndex(mechanismUID).drop(Surplus(retention, now: now), in: records)
        for entry in gone { try forget(entry) }
        return gone.count
    }

    private func forget(_ entry: NotificationIndex.Entry) throws(StoreError) {
        try records.remove(.notification(entry.id))
        try records.remove(.sentAnswer(entry.id))
    }

    func save(_ token: StoredDeviceToken) throws(StoreError) {
        // What cannot be read is kept: by the vault if it does not open, and otherwise here.
        let opens = try presence(.deviceToken) == .there
        if opens, try deviceToken() == nil { try records.setAside(.deviceToken) }
        try put(token, .deviceToken)
    }
    func removeDeviceToken() throws(StoreError) { try records.remove(.deviceToken) }
    func save(_ answer: SentAnswer) throws(StoreError) { try put(answer, .sentAnswer(answer.notificationID)) }
    func removeSentAnswer(to notificationID: String) throws(StoreError) { try records.remove(.sentAnswer(notificationID)) }

    private func put(_ value: some StoredForm, _ key: RecordKey) throws(StoreError) {
        try records.put(StoredForms.bytes(value), key)
    }
}

extension RecordBackedReader {
    /// What stands under a name.
    func presence(_ key: RecordKey) throws(StoreError) -> RecordPresence {
        do {
            return try reader.record(key) == nil ? .none : .there
        } catch {
            guard error.isOfOneRecord else { throw error }
            return .damaged
        }
    }
}

/// What stands under a name: nothing, a record, or one that does not open.
enum RecordPresence {
    case none, there, damaged
}

/// What `find` finds; nil where the record it finds is damaged.
func unlessDamaged<Value>(_ find: () throws(StoreError) -> Value?) throws(StoreError) -> Value? {
    do {
        return try find()
    } catch {
        guard error.isOfOneRecord else { throw error }
        return nil
    }
}

extension StoreError {
    /// Whether it says something of one record, and nothing of the others.
    var isOfOneRecord: Bool { [.corrupt, .keyMismatch, .newerFormat].contains(code) }
}

extension RecordKey {
    static func account(_ id: AccountID) -> RecordKey { RecordKey(.account, id.issuer, id.accountName) }
    static func mechanism(_ uid: String) -> RecordKey { RecordKey(.mechanism, uid) }
    static func notification(_ id: String) -> RecordKey { RecordKey(.notification, id) }
    static func sentAnswer(_ notificationID: String) -> RecordKey { RecordKey(.sentAnswer, notificationID) }
    static let deviceToken = RecordKey(.deviceToken, "current")

    static func mechanismIndex(_ account: AccountID) -> RecordKey {
        RecordKey(.index, "mechanisms", account.issuer, account.accountName)
    }
    static func notificationIndex(_ mechanismUID: String) -> RecordKey { RecordKey(.index, "notifications", mechanismUID) }
    static func notificationIndex(_ mechanismUID: String, page: Int) -> RecordKey {
        RecordKey(.index, "notifications", mechanismUID, String(page))
    }
}
