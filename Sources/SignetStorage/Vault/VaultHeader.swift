package import SignetCore

/// What a vault says of itself in clear: its format, and by whom it is sealed. It holds nothing secret.
public struct VaultHeader: Sendable, Hashable {
    /// The format that this version writes and reads.
    public static let currentFormat = 1

    /// The version of the format.
    public let format: Int
    /// The vault's own random id.
    public let id: String
    /// The ways to the data key; any one of them opens the vault.
    public let slots: [Slot]

    /// The data key, wrapped by one custodian.
    public struct Slot: Sendable, Hashable {
        /// The custodian's name.
        public let custodian: String
        /// What the custodian wrapped, in base64.
        public let wrapped: String
    }

    /// What a slot's wrapping is bound to, so that a slot cannot be moved to another vault.
    static func context(vault id: String, custodian: String) -> [UInt8] {
        [Array("signet vault slot".utf8), Array(id.utf8), Array(custodian.utf8)].flatMap(LengthPrefixed.bytes)
    }
}

extension VaultHeader: JSONObject {
    package var members: [String: JSONValue] {
        ["format": .integer(Int64(format)), "id": .string(id), "slots": .array(slots.map { .object($0.members) })]
    }

    package init(_ members: JSONMembers) throws {
        format = try members.integer("format")
        id = try members.text("id")
        slots = try members.objects("slots").map(Slot.init)
    }
}

extension VaultHeader.Slot: JSONObject {
    package var members: [String: JSONValue] { ["custodian": .string(custodian), "wrapped": .string(wrapped)] }

    package init(_ members: JSONMembers) throws {
        custodian = try members.text("custodian")
        wrapped = try members.text("wrapped")
    }
}
