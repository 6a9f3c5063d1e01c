import SignetCore
import SignetStorage

extension RecordBackedReader {
    func account(_ id: AccountID) throws(StoreError) -> Account? {
        try one(Account.self, .account(id))
    }

    func accounts() throws(StoreError) -> [Account] {
        let accounts = try all(Account.self, .account)
        // The times are sorted, and then each account is moved once: they are large.
        var order = accounts.enumerated().map { (time: $0.element.timeAdded, index: $0.offset) }
        order.sort { first, second in
            first.time == second.time
                ? accounts[first.index].id.legacyIdentifier < accounts[second.index].id.legacyIdentifier
                : first.time < second.time
        }
        return order.map { accounts[$0.index] }
    }

    func mechanism(_ uid: String) throws(StoreError) -> Mechanism? {
        try one(Mechanism.self, .mechanism(uid))
    }

    func hasMechanism(_ uid: String) throws(StoreError) -> Bool { try presence(.mechanism(uid)) != .none }

    func mechanisms() throws(StoreError) -> [Mechanism] {
        try all(Mechanism.self, .mechanism).sorted(by: Mechanism.isBefore)
    }

    func mechanismsByAccount() throws(StoreError) -> [AccountID: [Mechanism]] {
        let pages = try pages(Mechanism.self, .mechanism)
        var found = [AccountID: [Mechanism]](minimumCapacity: pages.reduce(0) { $0 + $1.count })
        for mechanism in pages.joined() { found[mechanism.account, default: []].append(mechanism) }
        for account in found.values.indices { found.values[account].sort(by: Mechanism.isBefore) }
        return found
    }

    func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism] {
        guard let uids = try MechanismIndex.uids(of: account, in: reader) else {
            guard try reader.record(.account(account)) != nil else { return [] }
            return try mechanisms().filter { $0.account == account }
        }
        var found: [Mechanism] = []
        for uid in uids {
            let stored = try unlessDamaged { () throws(StoreError) in try mechanism(uid) }
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
            if let one = try unlessDamaged({ () throws(StoreError) in try notification(id: entry.id) }) { found.append(one) }
        }
        return found.sorted(by: PushNotification.isNewer)
    }

    func deviceToken() throws(StoreError) -> StoredDeviceToken? {
        // One that cannot be read is none: the app is given it again, and who was told of it is told again.
        try unlessDamaged { () throws(StoreError) in try one(StoredDeviceToken.self, .deviceToken) }
    }

    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? {
        // It is only a note: one that cannot be read is none.
        try unlessDamaged { () throws(StoreError) in try one(SentAnswer.self, .sentAnswer(notificationID)) }
    }

    func isEmpty() throws(StoreError) -> Bool {
        for kind in [RecordKind.account, .mechanism, .notification, .deviceToken] {
            guard try reader.records(kind, after: nil, limit: 1).isEmpty else { return false }
        }
        return true
    }

    func damagedRecords() throws(StoreError) -> [DamagedRecord] {
        try damaged(Account.self, .account) + damaged(Mechanism.self, .mechanism) + damaged(PushNotification.self, .notification)
            + damaged(StoredDeviceToken.self, .deviceToken)
    }

    private func one<Value: StoredForm>(_ type: Value.Type, _ key: RecordKey) throws(StoreError) -> Value? {
        guard let bytes = try reader.record(key) else { return nil }
        return try StoredForms.value(type, bytes, key.kind)
    }

    private func all<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [Value] {
        Array(try pages(type, kind).joined())
    }

    /// Every value that can be read, as they came: one record that is damaged does not hide the rest.
    private func pages<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [[Value]] {
        let decoding = PagedDecoding { record in
            (try? record.content.get()).flatMap { try? StoredForms.value(type, $0, kind) }
        }
        try reader.forEachPage(of: kind) { page in decoding.add(page) }
        return decoding.pages()
    }

    private func damaged<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [DamagedRecord] {
        var damaged: [DamagedRecord] = []
        try reader.forEachRecord(of: kind) { record in
            let outcome = record.content.flatMap { bytes in
                Result { () throws(StoreError) in try StoredForms.value(type, bytes, kind) }
            }
            if case .failure(let error) = outcome { damaged.append(DamagedRecord(kind: kind, error: error)) }
        }
        return damaged
    }
}

extension PushNotification {
    fileprivate static func isNewer(_ first: PushNotification, _ second: PushNotification) -> Bool {
        (first.receivedAt, first.id) > (second.receivedAt, second.id)
    }
}
