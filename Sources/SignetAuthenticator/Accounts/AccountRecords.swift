import Foundation
import SignetCore
public import SignetStorage

/// An account store that keeps accounts, mechanisms and notifications as records.
///
/// In the same transactions it maintains indexes: the mechanisms of each account, the notifications of each mechanism in the order
/// of their arrival and, in a vault with many accounts, their names. Lookups therefore never scan all records. An index that is missing, as in a store of an earlier
/// version, or that cannot be read, is rebuilt from the records.
public struct AccountRecords: ImmediateAccountStore {
    private let store: any RecordStore

    /// Creates a store of accounts in a vault, which seals them regardless of the store behind it.
    public init(_ vault: Vault) {
        store = vault
    }

    /// Creates a store that writes accounts in plain text.
    ///
    /// Use it only for a store that protects its records itself or that other users cannot read. For a store on disk use a
    /// `Vault`; the argument label `unsealed` is a reminder of that.
    public init(unsealed store: any RecordStore) {
        self.store = store
    }

    /// True when a person with access to the disk can read the accounts.
    ///
    /// False for a vault, for memory, for a keychain of the operating system, and for a store that the app implements, which the
    /// app must protect itself.
    package var areInClearOnDisk: Bool { store is any ClearOnDisk }

    /// Runs `body` with a consistent snapshot of the accounts.
    public func read<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.read { (records: any RecordReader) throws(StoreError) in try body(Reader(reader: records)) }
    }

    /// Runs `body` in a transaction.
    ///
    /// When `body` throws, nothing is changed.
    public func write<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.write { (records: any RecordWriter) throws(StoreError) in try Self.writing(in: records, body) }
    }
}

extension AccountRecords {
    /// Makes the index of the accounts' names again when it is out of date, for example after a rotation of the vault's key.
    ///
    /// Does nothing outside of a vault, and in a vault with few accounts.
    package func refreshNames() throws(StoreError) {
        try store.write { (records: any RecordWriter) throws(StoreError) in
            guard let lookups = records as? any LookupWriter else { return }
            try NameIndexUpdate(records: lookups, reader: Reader(reader: records)).refresh()
        }
    }
}

extension AccountRecords: DeferredAccountStore {
    /// Runs `body` in a transaction that need not be durable when the call returns.
    package func writeDeferred<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try store.write(.deferred) { (records: any RecordWriter) throws(StoreError) in try Self.writing(in: records, body) }
    }
}

extension AccountRecords {
    /// Returns a reader of the accounts in a transaction of records.
    package static func reader(_ records: any RecordReader) -> any AccountReader { Reader(reader: records) }
    /// Returns a writer of the accounts in a transaction of records outside of a vault.
    package static func writer(_ records: any RecordWriter) -> any AccountWriter { Writer(records: records) }

    /// Runs `body` with a writer of the accounts in a transaction of records, and then brings the index of their names up to date.
    package static func writing<R>(
        in records: any RecordWriter, _ body: (any AccountWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let writer = Writer(records: records)
        let value = try body(writer)
        if !writer.changed.ids.isEmpty, let lookups = records as? any LookupWriter {
            try NameIndexUpdate(records: lookups, reader: writer).apply(writer.changed.ids)
        }
        return value
    }
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
    let changed = ChangedAccounts()

    private var mechanismIndex: MechanismIndex { MechanismIndex(records: records, reader: self) }
    private func notificationIndex(_ mechanismUID: String) -> NotificationIndex {
        NotificationIndex(mechanismUID: mechanismUID, reader: self)
    }

    func save(_ account: Account) throws(StoreError) {
        if try lookUp(.account(account.id)).isAbsent { try mechanismIndex.begin(account.id) }
        try put(account, .account(account.id))
        changed.insert(account.id)
    }

    func save(_ mechanism: Mechanism) throws(StoreError) {
        let isNew = try mechanismIndex.add(mechanism.uid, to: mechanism.account)
        if isNew {
            // A mechanism that moves to another account leaves the index of the old one.
            let old = try RecordLookup { () throws(StoreError) in try self.mechanism(mechanism.uid) }.value?.account
            if let old, old != mechanism.account {
                try mechanismIndex.remove(mechanism.uid, from: old)
                changed.insert(old)
            }
        }
        // The index of names has nothing that a code of a counter changes.
        if isNew || !mechanism.isCounter { changed.insert(mechanism.account) }
        if mechanism.push != nil, try lookUp(.mechanism(mechanism.uid)).isAbsent {
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
                switch try lookUp(.notification(entry.id)) {
                case .found: break
                case .absent: entries.append(entry)
                // A record that cannot be read now is in the index if it was ever written correctly.
                case .unreadable: if try !index.entries().contains(where: { $0.id == entry.id }) { entries.append(entry) }
                }
            }
            try index.insert(entries, in: records)
            for notification in saved { try put(notification, .notification(notification.id)) }
        }
    }

    func save(_ icon: AccountIcon) throws(StoreError) {
        if try lookUp(.icon(icon.id)).isAbsent { try put(icon, .icon(icon.id)) }
    }

    func remove(account: AccountID) throws(StoreError) {
        let iconID = try RecordLookup { () throws(StoreError) in try self.account(account) }.value?.iconID
        for uid in try mechanismIndex.uids(of: account) { try remove(mechanismRecord: uid) }
        try mechanismIndex.end(account)
        try records.remove(.account(account))
        changed.insert(account)
        // Accounts may have the same picture.
        if let iconID, try !accounts().contains(where: { $0.iconID == iconID }) { try records.remove(.icon(iconID)) }
    }

    func remove(mechanism uid: String) throws(StoreError) {
        let found = try RecordLookup { () throws(StoreError) in try mechanism(uid) }
        // The account of a record that is missing or cannot be read is unknown, but its index names the mechanism.
        let accounts = if let mechanism = found.value { [mechanism.account] } else { try accounts(naming: uid) }
        if found.isAbsent, accounts.isEmpty { return }
        for account in accounts {
            try mechanismIndex.remove(uid, from: account)
            changed.insert(account)
        }
        try remove(mechanismRecord: uid)
    }

    /// Returns the accounts whose indexes name a mechanism.
    private func accounts(naming uid: String) throws(StoreError) -> [AccountID] {
        var naming: [AccountID] = []
        for account in try namedAccounts() where try MechanismIndex.uids(of: account, in: records)?.contains(uid) == true {
            naming.append(account)
        }
        return naming
    }

    /// Removes a mechanism record that its account's index no longer contains.
    private func remove(mechanismRecord uid: String) throws(StoreError) {
        let stored = try RecordLookup { () throws(StoreError) in try mechanism(uid) }.value
        if stored?.oath == nil {
            try removeNotifications(of: uid)
            try notificationIndex(uid).end(in: records)
        }
        try records.remove(.mechanism(uid))
    }

    func remove(notification id: String) throws(StoreError) {
        let found = try RecordLookup { () throws(StoreError) in try notification(id: id) }.value
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
        let limit = RetentionLimit(retention, now: now)
        let gone = try notificationIndex(notification.message.mechanismUID).add(entry, dropping: limit, in: records)
        for entry in gone { try forget(entry) }
        try put(notification, .notification(notification.id))
    }

    func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int {
        guard retention != .all else { return 0 }
        let gone = try notificationIndex(mechanismUID).drop(RetentionLimit(retention, now: now), in: records)
        for entry in gone { try forget(entry) }
        return gone.count
    }

    private func forget(_ entry: NotificationIndex.Entry) throws(StoreError) {
        try records.remove(.notification(entry.id))
        try records.remove(.sentAnswer(entry.id))
    }

    func save(_ token: StoredDeviceToken) throws(StoreError) {
        // Keeps a copy of a record that cannot be read: the vault does so for one that does not open, and this method for one
        // that opens but cannot be decoded.
        if case .found = try lookUp(.deviceToken), try deviceToken() == nil { try records.setAside(.deviceToken) }
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
    /// Looks up the bytes of a record.
    func lookUp(_ key: RecordKey) throws(StoreError) -> RecordLookup<[UInt8]> {
        try RecordLookup { () throws(StoreError) in try reader.record(key) }
    }
}

extension RecordKey {
    static func account(_ id: AccountID) -> RecordKey { RecordKey(.account, id.issuer, id.accountName) }
    static func mechanism(_ uid: String) -> RecordKey { RecordKey(.mechanism, uid) }
    static func notification(_ id: String) -> RecordKey { RecordKey(.notification, id) }
    static func icon(_ id: String) -> RecordKey { RecordKey(.icon, id) }
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
