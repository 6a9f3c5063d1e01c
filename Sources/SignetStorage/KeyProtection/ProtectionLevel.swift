/// The strength of the protection of a vault's key, from the weakest to the strongest.
public enum ProtectionLevel: String, Sendable, Comparable, CaseIterable {
    /// A key file beside the records.
    ///
    /// It protects only copies of the records that do not include the file.
    case keyFile = "keyfile"
    /// A key that is not in the vault's directory: in the desktop's keyring, a systemd credential, or a passphrase.
    case separateKey = "separate-key"
    /// A key in this machine's hardware: a TPM 2.0 or a Secure Enclave.
    case hardware

    /// The level of the key protector with this name.
    ///
    /// A name that this version does not know is one of an app's own key protector, which keeps its key elsewhere.
    init(protector name: String) {
        self =
            switch name {
            case "keyfile": .keyFile
            case "tpm", "secure-enclave": .hardware
            default: .separateKey
            }
    }

    /// Compares the strength of two levels.
    public static func < (one: ProtectionLevel, other: ProtectionLevel) -> Bool { one.strength < other.strength }

    private var strength: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// A short description of what the level requires, for messages.
    var requirement: String {
        switch self {
        case .keyFile: "any key protector"
        case .separateKey: "a key outside of the vault's directory"
        case .hardware: "a key in hardware"
        }
    }
}

extension ProtectionLevel {
    /// The environment variable with the level that the operator requires of every vault.
    public static let environmentVariable = "SIGNET_REQUIRE"

    /// Returns the level that the operator requires; ``keyFile`` when the environment does not contain the variable.
    /// - Throws: ``StoreError/Code/invalid`` when the variable contains another value than the name of a level.
    public static func required(by environment: [String: String]) throws(StoreError) -> ProtectionLevel {
        guard let name = environment[environmentVariable], !name.isEmpty else { return .keyFile }
        guard let level = ProtectionLevel(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw StoreError(.invalid, "read \(environmentVariable)", "its value must be one of the levels \(names)")
        }
        return level
    }
}

/// The protection of a vault's key, as an app or a user can be told.
public struct VaultProtection: Sendable, Hashable {
    /// The name of the key protector that opened the vault, for example `tpm` or `keyfile`.
    public let protector: String
    /// The level of the protection.
    ///
    /// The weakest slot decides, because each slot is sufficient to open the vault. A passphrase beside a key in hardware, such as
    /// a recovery key, does not lower the level.
    public let level: ProtectionLevel
    /// True when the vault can still be opened after the key protector that opened it is lost: there is a slot of another key
    /// protector, or a second passphrase.
    ///
    /// ``Vault/addRecoveryKey()`` adds one.
    public let hasRecovery: Bool

    /// True when the key is in this machine's hardware.
    public var isHardware: Bool { level == .hardware }

    /// Checks that the protection has at least this level.
    /// - Throws: ``StoreError/Code/protectionTooWeak`` with the way to a stronger protection.
    package func require(_ required: ProtectionLevel) throws(StoreError) {
        guard level < required else { return }
        throw StoreError(
            .protectionTooWeak, "open vault",
            "\(required.requirement) is required, and the vault has weaker protection (\(level.rawValue)): add a key protector "
                + "with 'signet vault key add' and remove the weaker slot with 'signet vault key remove'")
    }

    /// Determines the protection from the slots of a header.
    /// - Parameters:
    ///   - slots: All slots of the vault.
    ///   - opened: The slot that opened the vault.
    init(_ slots: [VaultHeader.Slot], openedBy opened: VaultHeader.Slot) {
        protector = opened.protector
        let recovery = PassphraseProtector.slotName
        let keys = slots.map(\.protector).filter { $0 != recovery }.map(ProtectionLevel.init(protector:))
        level = keys.min() ?? .separateKey
        hasRecovery = slots.contains {
            $0.number != opened.number && ($0.protector != opened.protector || $0.protector == recovery)
        }
    }
}

extension Vault {
    /// The protection of the vault's key.
    public var protection: VaultProtection { VaultProtection(header.slots, openedBy: openedBy) }
}

extension VaultHeader {
    /// The protection of the vault's key according to this header, which is not authenticated; nil without a slot.
    ///
    /// The first slot is assumed to be the one in use.
    public var protection: VaultProtection? { slots.first.map { VaultProtection(slots, openedBy: $0) } }
}
