import Crypto
import SignetCore

/// The data key of a vault and the keys derived from it.
///
/// It is a class, because every record in a listing holds a reference to it.
final class VaultKeys: Sendable {
    /// The key that key protectors wrap.
    let dataKey: Secret
    /// The ID of the data key.
    ///
    /// Every record contains the ID of the key that sealed it.
    let id: [UInt8]
    /// The key that seals records.
    let recordKey: Secret
    /// The key that hides names.
    let nameKey: Secret
    /// The HMAC with ``nameKey``.
    private let nameHMAC: PreparedHMAC
    /// The HMAC with the key of the records' digest.
    private let digestHMAC: PreparedHMAC
    /// The HMAC with the key that authenticates the header.
    private let headerHMAC: PreparedHMAC
    /// The ID of the vault, to which every record is bound.
    private let vault: [UInt8]

    static let idLength = 4

    init(dataKey: Secret, id: [UInt8], nameKey: Secret, vault: String) {
        self.dataKey = dataKey
        self.id = id
        self.nameKey = nameKey
        self.vault = Array(vault.utf8)
        nameHMAC = PreparedHMAC(key: nameKey)
        recordKey = Sealing.derive("signet record 1", from: dataKey)
        headerHMAC = PreparedHMAC(key: Sealing.derive("signet header 1", from: dataKey))
        digestHMAC = PreparedHMAC(key: Sealing.derive("signet digest 1", from: dataKey))
    }

    /// Creates the keys of a vault from the data key that a key protector unwrapped.
    /// - Throws: ``StoreError/Code/corrupt`` when the header was not written with this key.
    convenience init(dataKey: Secret, header: VaultHeader) throws(StoreError) {
        guard
            let nameKey = Sealing.open(
                header.sealedNameKey, with: Sealing.derive("signet names 1", from: dataKey), context: header.nameKeyContext)
        else { throw Self.changedHeader }
        self.init(dataKey: dataKey, id: header.keyID, nameKey: Secret(nameKey), vault: header.id)
        guard header.isProved(by: self) else { throw Self.changedHeader }
    }

    /// Creates new keys and the header that goes with them.
    ///
    /// The name key of `old` is kept, so that the hidden names of records stay the same.
    static func make(vault id: String, replacing old: VaultKeys? = nil) throws(StoreError) -> (VaultKeys, VaultHeader) {
        var keyID: [UInt8]
        repeat { keyID = Secret.random(byteCount: idLength).bytes } while keyID == old?.id
        let keys = VaultKeys(
            dataKey: Secret.random(byteCount: 32), id: keyID, nameKey: old?.nameKey ?? Secret.random(byteCount: 32), vault: id)
        let draft = VaultHeader(id: id, keyID: keyID, sealedNameKey: [])
        let sealed = try Sealing.seal(
            keys.nameKey.bytes, with: Sealing.derive("signet names 1", from: keys.dataKey), context: draft.nameKeyContext)
        var header = VaultHeader(id: id, keyID: keyID, sealedNameKey: sealed)
        header.records = keys.summary(of: RecordDigest(), accountsVersion: 0)
        return (keys, header)
    }

    /// Returns the HMAC of a message with the key of the records' digest.
    func digestCode(of message: [UInt8]) -> SHA256Digest { digestHMAC.code(of: message) }

    /// Returns the HMAC of an encoded header.
    func headerCode(of header: [UInt8]) -> [UInt8] { headerHMAC.code(of: header).withUnsafeBytes { Array($0) } }

    private static let changedHeader = StoreError(
        .corrupt, "open vault", "the header of the vault was changed or is damaged; nothing was read, and nothing was changed")
}

// MARK: Records

/// Sealing of records (docs/reference/vault-format.md). A sealed record consists of a preamble of eight bytes, which are `S`, `G`,
/// format, suite and key ID, and the output of ``Sealing``. The preamble is authenticated together with the vault, the kind and the
/// name. A record therefore opens only under its own name.
extension VaultKeys {
    static let mark: [UInt8] = [0x53, 0x47]
    private static let suite: UInt8 = 1

    /// Returns the name under which the store keeps a record.
    ///
    /// It does not reveal the identity of the record.
    func hiddenName(_ key: RecordKey) -> RecordKey {
        var encodedKey = LengthPrefixed.bytes(key.kind.rawValue.utf8)
        encodedKey += key.name
        return RecordKey(key.kind, name: nameHMAC.code(of: encodedKey).withUnsafeBytes { Array($0.prefix(16)) })
    }

    func seal(_ bytes: [UInt8], _ hidden: RecordKey) throws(StoreError) -> [UInt8] {
        let preamble = Self.mark + [UInt8(VaultHeader.currentFormat), Self.suite] + id
        return try Sealing.seal(bytes, with: recordKey, context: context(preamble, hidden), behind: preamble)
    }

    /// Opens a sealed record.
    /// - Throws: ``StoreError/Code/corrupt`` when it is not the record that was sealed for this name;
    ///   ``StoreError/Code/keyMismatch`` when another data key sealed it; ``StoreError/Code/newerFormat``.
    func open(_ sealed: [UInt8], _ hidden: RecordKey) throws(StoreError) -> [UInt8] {
        func refusal(_ code: StoreError.Code, _ reason: String) -> StoreError {
            StoreError(code, "open a record of kind \(hidden.kind.rawValue)", "\(reason); it was left as it is")
        }
        let preamble = sealed.prefix(Self.mark.count + 2 + id.count)
        guard preamble.count == Self.mark.count + 2 + id.count, preamble.starts(with: Self.mark) else {
            throw refusal(.corrupt, "it is not a sealed record")
        }
        guard preamble[2] <= VaultHeader.currentFormat, preamble[3] <= Self.suite else {
            throw refusal(.newerFormat, "it was written by a newer version")
        }
        guard preamble.suffix(id.count).elementsEqual(id) else {
            throw refusal(.keyMismatch, "it is sealed with another data key")
        }
        let context = context(preamble, hidden)
        guard let bytes = Sealing.open(sealed.dropFirst(preamble.count), with: recordKey, context: context) else {
            throw refusal(.corrupt, "it is damaged, or another record is in its place")
        }
        return bytes
    }

    private func context(_ preamble: some Collection<UInt8>, _ hidden: RecordKey) -> [UInt8] {
        let kind = hidden.kind.rawValue.utf8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(preamble.count + vault.count + kind.count + hidden.name.count + 12)
        bytes += preamble
        LengthPrefixed.append(vault, to: &bytes)
        LengthPrefixed.append(kind, to: &bytes)
        LengthPrefixed.append(hidden.name, to: &bytes)
        return bytes
    }
}

extension VaultKeys {
    /// Keeps the data key and the keys of records and names out of the swap space (mlock(2)).
    ///
    /// Returns false when the system refuses. The keys of the HMACs are derived from the data key and are not locked.
    func lockInMemory() -> Bool { [dataKey, recordKey, nameKey].allSatisfy { $0.lockInMemory() } }
}
