import Foundation
import SignetCore
import SignetStorage

extension RecordBackedReader {
    func account(_ id: AccountID) throws(StoreError) -> Account? {
        try one(Account.self, .account(id))
    }

    func accounts() throws(StoreError) -> [Account] {
        let pages = try decoding(Account.self, .account).takePages()
        return Self.order(of: pages).map { pages[$0.page][$0.index] }
    }

    /// Reads the accounts and the mechanisms before it waits for the decoding of either.
    func accountsWithMechanisms() throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])] {
        let accounts = try decoding(Account.self, .account)
        let mechanisms = try decoding(Mechanism.self, .mechanism)
        let pages = accounts.takePages()
        let grouped = Self.grouped(mechanisms.takePages())
        return Self.order(of: pages).map { position in
            let account = pages[position.page][position.index]
            return (account, grouped[account.id] ?? [])
        }
    }

    /// Returns the positions of the accounts in `pages`, oldest account first.
    ///
    /// Only times and positions are sorted, because copying accounts is expensive.
    private static func order(of pages: [[Account]]) -> [(time: Date, page: Int, index: Int)] {
        var order: [(time: Date, page: Int, index: Int)] = []
        order.reserveCapacity(pages.reduce(0) { $0 + $1.count })
        for page in pages.indices {
            for index in pages[page].indices { order.append((pages[page][index].timeAdded, page, index)) }
        }
        order.sort { first, second in
            first.time == second.time
                ? pages[first.page][first.index].id.legacyIdentifier < pages[second.page][second.index].id.legacyIdentifier
                : first.time < second.time
        }
        return order
    }

    private static func grouped(_ pages: consuming [[Mechanism]]) -> [AccountID: [Mechanism]] {
        var found = [AccountID: [Mechanism]](minimumCapacity: pages.reduce(0) { $0 + $1.count })
        pages.drain { mechanism in
            let account = mechanism.account
            found[account, default: []].insertInOrder(mechanism)
        }
        return found
    }

    func mechanism(_ uid: String) throws(StoreError) -> Mechanism? {
        try one(Mechanism.self, .mechanism(uid))
    }

    func hasMechanism(_ uid: String) throws(StoreError) -> Bool { try !lookUp(.mechanism(uid)).isAbsent }

    func mechanisms() throws(StoreError) -> [Mechanism] {
        try all(Mechanism.self, .mechanism).sorted(by: Mechanism.isBefore)
    }

    func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism] {
        guard let uids = try MechanismIndex.uids(of: account, in: reader) else {
            guard try reader.record(.account(account)) != nil else { return [] }
            return try mechanisms().filter { $0.account == account }
        }
        var found: [Mechanism] = []
        for uid in uids {
            let stored = try RecordLookup { () throws(StoreError) in try mechanism(uid) }.value
            if let stored, stored.account == account { found.append(stored) }
        }
        return found.sorted(by: Mechanism.isBefore)
    }

    func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool {
        guard let uids = try MechanismIndex.uids(of: account, in: reader) else { return try !mechanisms(of: account).isEmpty }
        for uid in uids where try hasMechanism(uid) { return true }
        return false
    }

    func notification(id: String) throws(StoreError) -> PushNotification? {
        try one(PushNotification.self, .notification(id))
    }

    func notifications() throws(StoreError) -> [PushNotification] {
        try all(PushNotification.self, .notification).sorted(by: PushNotification.isNewer)
    }

    func notifications(of mechanismUID: String) throws(StoreError) -> [PushNotification] {
        var found: [PushNotification] = []
        for entry in try NotificationIndex(mechanismUID: mechanismUID, reader: self).entries() {
            if let one = try RecordLookup({ () throws(StoreError) in try notification(id: entry.id) }).value { found.append(one) }
        }
        return found.sorted(by: PushNotification.isNewer)
    }

    func icon(_ id: String) throws(StoreError) -> AccountIcon? {
        // A picture is only decoration. One that cannot be read counts as absent.
        try RecordLookup { () throws(StoreError) in try one(AccountIcon.self, .icon(id)) }.value
    }

    func deviceToken() throws(StoreError) -> StoredDeviceToken? {
        // A token record that cannot be read counts as absent: the app sets its token again, and all servers are told again.
        try RecordLookup { () throws(StoreError) in try one(StoredDeviceToken.self, .deviceToken) }.value
    }

    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? {
        // The record is only a note about a request. One that cannot be read counts as absent.
        try RecordLookup { () throws(StoreError) in try one(SentAnswer.self, .sentAnswer(notificationID)) }.value
    }

    func isEmpty() throws(StoreError) -> Bool {
        for kind in [RecordKind.account, .mechanism, .notification, .deviceToken] {
            guard try reader.records(kind, after: nil, limit: 1).isEmpty else { return false }
        }
        return true
    }

    func damagedRecords() throws(StoreError) -> [DamagedRecord] {
        var missing = MissingRecords(reader: self)
        let accounts = try damaged(Account.self, .account) { missing.accounts.insert($0.id) }
        let mechanisms = try damaged(Mechanism.self, .mechanism) { mechanism in
            missing.mechanisms.insert(mechanism.uid)
            missing.owners.insert(mechanism.account)
        }
        return try accounts + mechanisms + missing.records() + damaged(PushNotification.self, .notification)
            + damaged(StoredDeviceToken.self, .deviceToken)
    }

    private func one<Value: StoredForm>(_ type: Value.Type, _ key: RecordKey) throws(StoreError) -> Value? {
        guard let bytes = try reader.record(key) else { return nil }
        return try StoredForms.value(type, bytes, key.kind)
    }

    private func all<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [Value] {
        Array(try decoding(type, kind).takePages().joined())
    }

    /// Decodes all records of a kind in store order.
    ///
    /// A damaged record is skipped and does not hide the others.
    private func decoding<Value: StoredForm>(
        _ type: Value.Type, _ kind: RecordKind
    ) throws(StoreError) -> PagedDecoding<Value> {
        let decoding = PagedDecoding { record in
            (try? record.content.get()).flatMap { try? StoredForms.value(type, $0, kind) }
        }
        try reader.forEachPage(of: kind) { page in decoding.add(page) }
        return decoding
    }

    /// Returns the records of a kind that cannot be read, and passes the values of the others to `body`.
    private func damaged<Value: StoredForm>(
        _ type: Value.Type, _ kind: RecordKind, _ body: (Value) -> Void = { _ in }
    ) throws(StoreError) -> [DamagedRecord] {
        var damaged: [DamagedRecord] = []
        try reader.forEachRecord(of: kind) { record in
            let outcome = record.content.flatMap { bytes in
                Result { () throws(StoreError) in try StoredForms.value(type, bytes, kind) }
            }
            switch outcome {
            case .success(let value): body(value)
            case .failure(let error): damaged.append(DamagedRecord(kind: kind, error: error))
            }
        }
        return damaged
    }
}

/// Records that other records name and that are missing.
private struct MissingRecords {
    let reader: any RecordBackedReader
    /// The accounts and the mechanisms that can be read.
    var accounts: Set<AccountID> = []
    var mechanisms: Set<String> = []
    /// The accounts that mechanisms name.
    var owners: Set<AccountID> = []

    init(reader: any RecordBackedReader) { self.reader = reader }

    /// Returns the accounts that mechanisms name, and the mechanisms that the indexes of accounts name, without a record.
    ///
    /// A record that cannot be read is not missing.
    func records() throws(StoreError) -> [DamagedRecord] {
        var missing: [DamagedRecord] = []
        for id in owners.subtracting(accounts) where try reader.lookUp(.account(id)).isAbsent {
            missing.append(Self.missing(.account))
        }
        for id in accounts.union(owners) {
            let named = try MechanismIndex.uids(of: id, in: reader.reader) ?? []
            for uid in named where !mechanisms.contains(uid) {
                if try reader.lookUp(.mechanism(uid)).isAbsent { missing.append(Self.missing(.mechanism)) }
            }
        }
        return missing
    }

    private static func missing(_ kind: RecordKind) -> DamagedRecord {
        DamagedRecord(
            kind: kind,
            error: StoreError(.corrupt, "read a record of kind \(kind.rawValue)", "it is missing: another record names it"))
    }
}

extension [Mechanism] {
    /// Inserts a mechanism into the sorted mechanisms of its account.
    ///
    /// An account has few mechanisms, one of each kind.
    fileprivate mutating func insertInOrder(_ mechanism: consuming Mechanism) {
        append(mechanism)
        var position = endIndex - 1
        while position > startIndex, Mechanism.isBefore(self[position], self[position - 1]) {
            swapAt(position, position - 1)
            position -= 1
        }
    }
}

extension PushNotification {
    fileprivate static func isNewer(_ first: PushNotification, _ second: PushNotification) -> Bool {
        (first.receivedAt, first.id) > (second.receivedAt, second.id)
    }
}
