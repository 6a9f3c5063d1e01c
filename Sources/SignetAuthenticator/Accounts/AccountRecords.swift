import SignetCore
public import SignetStorage

/// Accounts, mechanisms and notifications as records of a store.
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

private protocol RecordBackedReader: AccountReader {
    var reader: any RecordReader { get }
}

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
        // Those that were enrolled together in the order of their names: hotp, push, totp.
        try all(Mechanism.self, .mechanism).sorted {
            ($0.timeAdded, $0.kindName.rawValue, $0.uid) < ($1.timeAdded, $1.kindName.rawValue, $1.uid)
        }
    }

    func notification(id: String) throws(StoreError) -> PushNotification? {
        try one(PushNotification.self, .notification(id))
    }

    func notifications() throws(StoreError) -> [PushNotification] {
        try all(PushNotification.self, .notification).sorted { ($0.receivedAt, $0.id) > ($1.receivedAt, $1.id) }
    }

    private func one<Value: StoredForm>(_ type: Value.Type, _ key: RecordKey) throws(StoreError) -> Value? {
        guard let bytes = try reader.record(key) else { return nil }
        return try value(type, bytes, key.kind)
    }

    func damagedRecords() throws(StoreError) -> [DamagedRecord] {
        try damaged(Account.self, .account) + damaged(Mechanism.self, .mechanism) + damaged(PushNotification.self, .notification)
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

private struct Reader: RecordBackedReader {
    let reader: any RecordReader
}

private struct Writer: RecordBackedReader, AccountWriter {
    let records: any RecordWriter
    var reader: any RecordReader { records }

    func save(_ account: Account) throws(StoreError) {
        try put(account, .account(account.id))
    }

    func save(_ mechanism: Mechanism) throws(StoreError) {
        try put(mechanism, .mechanism(mechanism.uid))
    }

    func save(_ notification: PushNotification) throws(StoreError) {
        try put(notification, .notification(notification.id))
    }

    private func put(_ value: some StoredForm, _ key: RecordKey) throws(StoreError) {
        try records.put(JSON.encode(.object(value.storedMembers)), key)
    }
}

extension RecordKey {
    fileprivate static func account(_ id: AccountID) -> RecordKey { RecordKey(.account, id.issuer, id.accountName) }
    fileprivate static func mechanism(_ uid: String) -> RecordKey { RecordKey(.mechanism, uid) }
    fileprivate static func notification(_ id: String) -> RecordKey { RecordKey(.notification, id) }
}
