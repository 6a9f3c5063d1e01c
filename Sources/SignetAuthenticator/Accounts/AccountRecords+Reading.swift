import SignetCore
import SignetStorage

extension RecordBackedReader {
    func account(_ id: AccountID) throws(StoreError) -> Account? {
        try one(Account.self, .account(id))
    }

    func accounts() throws(StoreError) -> [Account] {
        try all(Account.self, .account).sorted {
            ($0.timeAdded, $0.id.legacyIdentifier) < ($1.timeAdded, $1.id.legacyIdentifier)
        }
    }

    func mechanism(_ uid: String) throws(StoreError) -> Mechanism? {
        try one(Mechanism.self, .mechanism(uid))
    }

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
            let stored = try unlessDamaged { () throws(StoreError) in try mechanism(uid) }
            if let stored, stored.account == account { found.append(stored) }
        }
        return found.sorted(by: Mechanism.isBefore)
    }

    func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool {
        guard let uids = try MechanismIndex.uids(of: account, in: reader) else { return try !mechanisms(of: account).isEmpty }
        for uid in uids where try presence(.mechanism(uid)) != .none { return true }
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
        return try value(type, bytes, key.kind)
    }

    /// Every value that can be read: one record that is damaged does not hide the rest.
    private func all<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [Value] {
        try outcomes(type, kind).compactMap { try? $0.get() }
    }

    private func damaged<Value: StoredForm>(_ type: Value.Type, _ kind: RecordKind) throws(StoreError) -> [DamagedRecord] {
        try outcomes(type, kind).compactMap { outcome in
            if case .failure(let error) = outcome { DamagedRecord(kind: kind, error: error) } else { nil }
        }
    }

    private func outcomes<Value: StoredForm>(
        _ type: Value.Type, _ kind: RecordKind
    ) throws(StoreError) -> [Result<Value, StoreError>] {
        var outcomes: [Result<Value, StoreError>] = []
        try reader.forEachRecord(of: kind) { record in
            outcomes.append(record.content.flatMap { bytes in Result { () throws(StoreError) in try value(type, bytes, kind) } })
        }
        return outcomes
    }

    private func value<Value: StoredForm>(
        _ type: Value.Type, _ bytes: [UInt8], _ kind: RecordKind
    ) throws(StoreError) -> Value {
        do {
            guard let members = try JSON.value(of: bytes).object else { throw Damaged() }
            return try Value(stored: JSONMembers(members))
        } catch {
            throw StoreError(
                .corrupt, "read a record of kind \(kind.rawValue)", "its content is not what was written; it was left as it is")
        }
    }
}

extension PushNotification {
    fileprivate static func isNewer(_ first: PushNotification, _ second: PushNotification) -> Bool {
        (first.receivedAt, first.id) > (second.receivedAt, second.id)
    }
}
