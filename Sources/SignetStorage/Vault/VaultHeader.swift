package import SignetCore

/// The unencrypted header of a vault: its format, and the key protectors that seal it.
///
/// It contains no secrets. Changes to it are detected when the vault is opened (docs/reference/vault-format.md).
public struct VaultHeader: Sendable, Hashable {
    /// The format that this version writes.
    ///
    /// It also reads the lower ones. The first write to a vault of a lower format gives the vault this one.
    public static let currentFormat = 2

    /// The version of the format.
    public internal(set) var format: Int
    /// The random ID of the vault.
    public let id: String
    /// The ID of the data key that seals the records: four bytes, which change with every rotation.
    let keyID: [UInt8]
    /// The key that hides names, sealed with the data key.
    ///
    /// It stays the same when the data key is rotated.
    let sealedNameKey: [UInt8]
    /// The slots with the wrapped data key.
    ///
    /// Each one is sufficient to open the vault.
    public internal(set) var slots: [Slot]
    /// A number that only grows.
    ///
    /// A ``RollbackProtector`` stores it outside of the vault.
    public internal(set) var epoch: UInt64
    /// An upper bound of the number of records that were sealed with the data key.
    ///
    /// It is counted in blocks.
    var seals: UInt64
    /// The time of the last backup of the vault, in seconds since 1970.
    public internal(set) var lastBackup: Int?
    /// The number and the digest of the records; nil in a header of format 1.
    var records: Records?
    /// An HMAC over the other members, with a key that is derived from the data key.
    private var check: [UInt8]

    /// The number and the digest of the records of a vault.
    struct Records: Sendable, Hashable {
        /// The number of records.
        let count: UInt64
        /// The number with which the sum is masked.
        let nonce: [UInt8]
        /// The masked sum of the records (``RecordDigest``).
        let sum: [UInt8]
        /// A number that grows by one with every transaction that writes or removes an account, or adds or removes a mechanism.
        ///
        /// A record that is derived from accounts can state the version for which it was made.
        let accountsVersion: UInt64
    }

    /// The data key, wrapped by one key protector.
    public struct Slot: Sendable, Hashable {
        /// The number that identifies the slot for as long as the slot exists.
        public let number: Int
        /// The name of the key protector.
        public let protector: String
        /// The data key as the key protector wrapped it.
        let wrapped: [UInt8]
    }

    /// Creates the header of a new vault, or of a vault whose key was rotated.
    ///
    /// It has no slots yet.
    init(id: String, keyID: [UInt8], sealedNameKey: [UInt8]) {
        format = Self.currentFormat
        self.id = id
        self.keyID = keyID
        self.sealedNameKey = sealedNameKey
        slots = []
        epoch = 0
        seals = 0
        check = []
    }

    /// True when the data key has sealed so many records that it should be rotated (``Vault/rotateKey(_:)``): a quarter of what
    /// AES-GCM with random nonces allows.
    public var isRotationDue: Bool { seals >= VaultState.sealsUntilDue }

    /// Returns the context to which the wrapped key of a slot is bound.
    ///
    /// It makes the slot valid only for this vault and this data key.
    func context(protector: String) -> [UInt8] {
        [Array("signet vault slot".utf8), Array(id.utf8), keyID, Array(protector.utf8)].flatMap(LengthPrefixed.bytes)
    }

    /// The context with which the name key is sealed.
    var nameKeyContext: [UInt8] {
        [Array("signet vault names".utf8), Array(id.utf8), keyID].flatMap(LengthPrefixed.bytes)
    }

    /// Proves that the header was written with the data key.
    /// - Parameters:
    ///   - keys: The keys of the vault.
    ///   - frame: The frame of this header, if it is known.
    /// - Returns: The header with its proof, and its encoding.
    func encoded(provedBy keys: VaultKeys, in frame: HeaderFrame? = nil) -> (header: VaultHeader, bytes: [UInt8]) {
        let rest = (frame ?? HeaderFrame(self)).encoding(with: records)
        var header = self
        header.check = keys.headerCode(of: rest)
        // The members are sorted, and the proof is the first of them: the others need not be encoded again.
        var bytes = Array("{\"check\":\"\(Base64.encode(header.check, as: .standard))\",".utf8)
        bytes += rest.dropFirst()
        return (header, bytes)
    }

    /// Returns true when the proof shows that this header, unchanged, was written with the data key.
    func isProved(by keys: VaultKeys) -> Bool {
        let proof = keys.headerCode(of: HeaderFrame(self).encoding(with: records))
        return proof.withUnsafeBytes { proof in check.withUnsafeBytes { ConstantTime.areEqual(proof, $0) } }
    }
}

/// The encoding of the members of a header that do not depend on the records.
///
/// Most writes change no other member than `records`, so the frame is encoded once for many headers.
struct HeaderFrame: Sendable {
    private let header: VaultHeader
    /// The members whose names are smaller than `records`, without the brace that ends them.
    private let start: ArraySlice<UInt8>
    /// The members whose names are larger, without the brace that begins them.
    private let end: ArraySlice<UInt8>

    init(_ header: VaultHeader) {
        self.header = header.withoutRecords
        let members = self.header.provedMembers
        start = JSON.encode(.object(members.filter { $0.key < "records" })).dropLast()
        end = JSON.encode(.object(members.filter { $0.key > "records" })).dropFirst()
    }

    /// Returns true when this is the frame of `header`.
    func fits(_ header: VaultHeader) -> Bool { header.withoutRecords == self.header }

    /// Returns the encoding of all members of the header but the proof, which covers it.
    func encoding(with records: VaultHeader.Records?) -> [UInt8] {
        var bytes = Array(start)
        if let records { bytes += records.encoding }
        bytes.append(UInt8(ascii: ","))
        return bytes + end
    }
}

extension VaultHeader: JSONObject {
    package var members: [String: JSONValue] {
        var members = provedMembers
        members["check"] = .base64(check)
        return members
    }

    /// The header without the proof and the members that depend on the records.
    fileprivate var withoutRecords: VaultHeader {
        var header = self
        (header.records, header.check) = (nil, [])
        return header
    }

    /// The members that the proof covers.
    fileprivate var provedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "format": .integer(Int64(format)), "id": .string(id), "key": .base64(keyID), "names": .base64(sealedNameKey),
            "slots": .array(slots.map { .object($0.members) }), "epoch": .string(String(epoch)), "seals": .string(String(seals)),
        ]
        members["lastBackup"] = lastBackup.map { .integer(Int64($0)) }
        members["records"] = records.map { .object($0.members) }
        return members
    }

    package init(_ members: JSONMembers) throws {
        format = try members.integer("format")
        id = try members.text("id")
        keyID = try members.base64("key")
        sealedNameKey = try members.base64("names")
        slots = try members.objects("slots").map(Slot.init)
        epoch = try members.unsigned("epoch")
        seals = try members.unsigned("seals")
        lastBackup = try members.optionalInteger("lastBackup")
        records = try members.optionalObject("records").map(Records.init)
        check = try members.base64("check")
        guard (records == nil) == (format < 2) else { throw JSONMemberError(name: "records") }
        // The proof covers only the known members, so there may be no others.
        guard self.members == members.all else { throw JSONMemberError(name: "check") }
    }
}

extension VaultHeader.Slot: JSONObject {
    package var members: [String: JSONValue] {
        ["number": .integer(Int64(number)), "custodian": .string(protector), "wrapped": .base64(wrapped)]
    }

    package init(_ members: JSONMembers) throws {
        number = try members.integer("number")
        protector = try members.text("custodian")
        wrapped = try members.base64("wrapped")
    }
}

extension VaultHeader.Records {
    /// The encoding as a member of the header, behind others.
    ///
    /// Each write needs it, and the JSON encoder takes longer than the HMAC of the header. No value has a character to escape.
    fileprivate var encoding: String.UTF8View {
        let (nonce, sum) = (Base64.encode(nonce, as: .standard), Base64.encode(sum, as: .standard))
        let text =
            #","records":{"accountsVersion":"\#(accountsVersion)","count":"\#(count)","nonce":"\#(nonce)","sum":"\#(sum)"}"#
        return text.utf8
    }
}

extension VaultHeader.Records: JSONObject {
    package var members: [String: JSONValue] {
        [
            "count": .string(String(count)), "nonce": .base64(nonce), "sum": .base64(sum),
            "accountsVersion": .string(String(accountsVersion)),
        ]
    }

    package init(_ members: JSONMembers) throws {
        count = try members.unsigned("count")
        nonce = try members.base64("nonce")
        sum = try members.base64("sum")
        accountsVersion = try members.unsigned("accountsVersion")
        guard sum.count == RecordDigest.length else { throw JSONMemberError(name: "sum") }
    }
}

extension JSONValue {
    fileprivate static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encode(bytes, as: .standard)) }
}

extension JSONMembers {
    fileprivate func base64(_ name: String) throws -> [UInt8] { try Base64.decode(text(name)) }

    /// Reads an unsigned 64-bit number from a string.
    ///
    /// As a JSON number, it would not be exact in every implementation.
    fileprivate func unsigned(_ name: String) throws -> UInt64 {
        guard let number = UInt64(try text(name)) else { throw JSONMemberError(name: name) }
        return number
    }
}
