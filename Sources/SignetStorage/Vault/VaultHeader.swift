import Crypto
package import SignetCore

/// What a vault says of itself in clear: its format, and by whom it is sealed. It holds nothing secret, and nothing in it can be
/// changed unseen: whoever opens the vault checks it (docs/format.md).
public struct VaultHeader: Sendable, Hashable {
    /// The format that this version writes and reads.
    public static let currentFormat = 1

    /// The version of the format.
    public let format: Int
    /// The vault's own random id.
    public let id: String
    /// Which data key the records are sealed with: four bytes, others after every rotation.
    let keyID: [UInt8]
    /// The key that hides names, sealed with the data key. It stays when the data key is rotated.
    let sealedNameKey: [UInt8]
    /// The ways to the data key; any one of them opens the vault.
    public internal(set) var slots: [Slot]
    /// A number that only grows; an ``RollbackProtector`` remembers it outside.
    public internal(set) var epoch: UInt64
    /// How many records may have been sealed with the data key; counted in blocks, so never too few.
    var seals: UInt64
    /// When the vault was last written out as a backup, in seconds since 1970.
    public internal(set) var lastBackup: Int?
    /// What proves the rest to whoever has the data key.
    private var check: [UInt8]

    /// The data key, wrapped by one key protector.
    public struct Slot: Sendable, Hashable {
        /// Its number, by which it is named as long as it is there.
        public let number: Int
        /// The key protector's name.
        public let protector: String
        /// What the key protector wrapped.
        let wrapped: [UInt8]
    }

    /// The header of a new vault, or of one whose key was rotated; without slots yet.
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

    /// Whether so much was sealed with the data key that it should be rotated (``Vault/rotateKey(_:)``): a quarter of what
    /// AES-GCM with random nonces allows.
    public var isRotationDue: Bool { seals >= VaultState.sealsUntilDue }

    /// What a slot's wrapping is bound to, so that it is good for this vault and this data key only.
    func context(protector: String) -> [UInt8] {
        [Array("signet vault slot".utf8), Array(id.utf8), keyID, Array(protector.utf8)].flatMap(LengthPrefixed.bytes)
    }

    /// The context in which the name key is sealed.
    var nameKeyContext: [UInt8] {
        [Array("signet vault names".utf8), Array(id.utf8), keyID].flatMap(LengthPrefixed.bytes)
    }

    /// The number for the next slot.
    var nextSlotNumber: Int { (slots.map(\.number).max() ?? 0) + 1 }

    /// The header with the proof that whoever has the data key wrote it.
    func proved(by headerKey: Secret) -> VaultHeader {
        var header = self
        header.check = header.proof(headerKey)
        return header
    }

    /// Whether whoever has the data key wrote this header as it is.
    func isProved(by headerKey: Secret) -> Bool {
        let proof = proof(headerKey)
        return proof.withUnsafeBytes { proof in check.withUnsafeBytes { ConstantTime.areEqual(proof, $0) } }
    }

    private func proof(_ headerKey: Secret) -> [UInt8] {
        var rest = members
        rest["check"] = nil
        return Array(HMAC<SHA256>.authenticationCode(for: JSON.encode(.object(rest)), using: headerKey.key))
    }
}

extension VaultHeader: JSONObject {
    package var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "format": .integer(Int64(format)), "id": .string(id), "key": .base64(keyID), "names": .base64(sealedNameKey),
            "slots": .array(slots.map { .object($0.members) }), "epoch": .string(String(epoch)), "seals": .string(String(seals)),
            "check": .base64(check),
        ]
        members["lastBackup"] = lastBackup.map { .integer(Int64($0)) }
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
        check = try members.base64("check")
        // What the proof covers must be all that is there.
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

extension JSONValue {
    fileprivate static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encode(bytes, as: .standard)) }
}

extension JSONMembers {
    fileprivate func base64(_ name: String) throws -> [UInt8] { try Base64.decode(text(name)) }

    /// A number of 64 bits without a sign, as text: as a JSON number it would not be exact everywhere.
    fileprivate func unsigned(_ name: String) throws -> UInt64 {
        guard let number = UInt64(try text(name)) else { throw JSONMemberError(name: name) }
        return number
    }
}
