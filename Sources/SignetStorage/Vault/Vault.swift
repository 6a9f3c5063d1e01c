import SignetCore

/// A record store whose records are sealed: AES-256-GCM under a data key that a ``KeyCustodian`` keeps, each record bound to
/// its kind and identity. Kinds and sizes can be seen from outside; identities and content cannot.
public struct Vault: RecordStore {
    private let store: any RecordStore
    private let recordKey: Secret
    private let nameKey: Secret
    /// What the vault says of itself in clear.
    public let header: VaultHeader

    /// Makes a vault in an empty store.
    /// - Throws: ``StoreError/Code/exists`` when the store holds a vault already.
    public static func create(in store: any RecordStore, custodian: any KeyCustodian) throws(StoreError) -> Vault {
        let dataKey = Secret.random(byteCount: 32)
        let id = RandomID.uuid()
        let wrapped = try custodian.wrap(dataKey, context: VaultHeader.context(vault: id, custodian: custodian.name))
        let header = VaultHeader(
            format: VaultHeader.currentFormat, id: id,
            slots: [.init(custodian: custodian.name, wrapped: Base64.encode(wrapped, as: .standard))])
        try store.write { (records: any RecordWriter) throws(StoreError) in
            guard try records.record(headerKey) == nil else {
                throw StoreError(.exists, "create vault", "there is a vault here already; nothing was changed")
            }
            try records.put(JSON.encode(header), headerKey)
        }
        return Vault(store: store, header: header, dataKey: dataKey)
    }

    /// Opens the vault in `store` with the first of `custodians` that it has a slot for.
    public static func open(_ store: any RecordStore, custodians: [any KeyCustodian]) throws(StoreError) -> Vault {
        let header = try header(of: store)
        for custodian in custodians {
            guard let slot = header.slots.first(where: { $0.custodian == custodian.name }) else { continue }
            guard let wrapped = try? Base64.decode(slot.wrapped) else {
                throw StoreError(.corrupt, "open vault", "the header's slot for \(custodian.name) is damaged")
            }
            let context = VaultHeader.context(vault: header.id, custodian: custodian.name)
            return Vault(store: store, header: header, dataKey: try custodian.unwrap(wrapped, context: context))
        }
        let names = header.slots.map(\.custodian).joined(separator: ", ")
        throw StoreError(
            .keyUnavailable, "open vault", "it is sealed by \(names), which cannot be asked here; it was not touched")
    }

    /// What the vault in `store` says of itself, without opening it.
    public static func header(of store: any RecordStore) throws(StoreError) -> VaultHeader {
        let found = try store.read { (records: any RecordReader) throws(StoreError) in try records.record(headerKey) }
        guard let bytes = found else { throw StoreError(.noVault, "open vault", "the store holds no vault") }
        guard let json = try? JSON.value(of: bytes), let format = json["format"]?.wholeNumber else {
            throw StoreError(.corrupt, "open vault", "the header is damaged")
        }
        guard format <= VaultHeader.currentFormat else {
            throw StoreError(
                .newerFormat, "open vault",
                "format \(format) was written by a newer version; this one knows \(VaultHeader.currentFormat)")
        }
        guard let header = try? JSON.decode(VaultHeader.self, from: bytes) else {
            throw StoreError(.corrupt, "open vault", "the header is damaged")
        }
        return header
    }

    private static let headerKey = RecordKey(.vault, name: [])

    private init(store: any RecordStore, header: VaultHeader, dataKey: Secret) {
        self.store = store
        self.header = header
        recordKey = Sealing.derive("signet record 1", from: dataKey)
        nameKey = Sealing.derive("signet name 1", from: dataKey)
    }

    /// Reads a consistent state.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.read { (records: any RecordReader) throws(StoreError) in
            try body(SealedReader(records: records, vault: self))
        }
    }

    /// Reads and changes, all or nothing; as durable as the store beneath.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.write { (records: any RecordWriter) throws(StoreError) in
            try body(SealedWriter(records: records, vault: self))
        }
    }
}

// MARK: Records

/// A sealed record: `S` `G`, format, suite; then what ``Sealing`` writes. The four bytes are authenticated with the identity.
extension Vault {
    private static let preamble: [UInt8] = [0x53, 0x47, 1, 1]

    fileprivate func hidden(_ key: RecordKey) -> RecordKey {
        RecordKey(
            key.kind, name: Sealing.hiddenName(of: LengthPrefixed.bytes(Array(key.kind.rawValue.utf8)) + key.name, key: nameKey))
    }

    /// Content is preceded by its record's name, so that a listing can check the binding too.
    fileprivate func seal(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) -> [UInt8] {
        try Self.preamble + key.name + Sealing.seal(bytes, with: recordKey, context: context(key))
    }

    fileprivate func open(_ sealed: [UInt8], _ key: RecordKey) throws(StoreError) -> [UInt8] {
        let prefix = Self.preamble + key.name
        guard sealed.starts(with: prefix),
            let bytes = Sealing.open(sealed.dropFirst(prefix.count), with: recordKey, context: context(key))
        else {
            throw StoreError(
                .corrupt, "open a record of kind \(key.kind.rawValue)",
                "it is damaged, or not the record it should be; it was left as it is")
        }
        return bytes
    }

    private func context(_ hiddenKey: RecordKey) -> [UInt8] {
        Self.preamble + [Array(hiddenKey.kind.rawValue.utf8), hiddenKey.name].flatMap(LengthPrefixed.bytes)
    }
}

private struct SealedReader: RecordReader {
    let records: any RecordReader
    let vault: Vault

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        let key = vault.hidden(key)
        guard let sealed = try records.record(key) else { return nil }
        return try vault.open(sealed, key)
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try records.records(kind, after: name, limit: limit).map { record in
            StoredRecord(
                name: record.name,
                content: Result { () throws(StoreError) in
                    try vault.open(try record.content.get(), RecordKey(kind, name: record.name))
                })
        }
    }
}

private struct SealedWriter: RecordWriter {
    let records: any RecordWriter
    let vault: Vault

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        try SealedReader(records: records, vault: vault).record(key)
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try SealedReader(records: records, vault: vault).records(kind, after: name, limit: limit)
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        let key = vault.hidden(key)
        try records.put(try vault.seal(bytes, key), key)
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        try records.remove(vault.hidden(key))
    }
}
