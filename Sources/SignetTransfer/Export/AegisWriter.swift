import SignetCore
import SignetStorage

/// Writes an Aegis vault, version 1 with content of version 3, as ``AegisFile`` reads it.
///
/// Source: "Aegis Vault", https://github.com/beemdevelopment/Aegis/blob/master/docs/vault.md.
enum AegisWriter {
    private static let operation = "export"
    /// The cost of scrypt that Aegis uses: 2^15 rounds.
    private static let logRounds = 15

    /// Returns a vault.
    /// - Parameters:
    ///   - entries: The mechanisms.
    ///   - passphrase: The password that encrypts the vault; nil for a plain one.
    /// - Returns: The bytes of the file.
    /// - Throws: `StoreError` with `invalid` for an empty passphrase, with `failed` when there is not enough memory.
    static func file(of entries: [ExportList.Entry], passphrase: Secret?) throws(StoreError) -> [UInt8] {
        let names = Set(entries.flatMap(\.account.groups)).sorted()
        let groups = names.map { (name: $0, id: RandomID.uuid().lowercased()) }
        let ids = Dictionary(groups.map { ($0.name, $0.id) }) { first, _ in first }
        let content = JSONValue.object([
            "version": .integer(3), "entries": .array(entries.map { entry($0, groups: ids) }),
            "groups": .array(groups.map { .object(["uuid": .string($0.id), "name": .string($0.name)]) }),
            "icons_optimized": .bool(true),
        ])
        guard let passphrase else {
            let header = JSONValue.object(["slots": .null, "params": .null])
            return JSON.encode(.object(["version": .integer(1), "header": header, "db": content]))
        }
        return try sealed(JSON.encode(content), passphrase: passphrase)
    }

    /// Returns an entry.
    /// - Parameters:
    ///   - entry: The mechanism.
    ///   - groups: The ids of all groups by their names.
    /// - Returns: The entry.
    private static func entry(_ entry: ExportList.Entry, groups: [String: String]) -> JSONValue {
        let settings = entry.settings
        let ids = entry.account.groups.compactMap { groups[$0] }
        var info: [String: JSONValue] = [
            "secret": .string(Base32.encode(settings.secret.bytes)), "algo": .string(settings.algorithm.rawValue),
            "digits": .integer(Int64(settings.digits.count)),
        ]
        var type = "totp"
        switch settings.factor {
        case .time(let period):
            info["period"] = .integer(Int64(period.seconds))
            if settings.encoding == .steam { type = "steam" }
        case .counter(let next):
            info["counter"] = .integer(Int64(clamping: next))
            type = "hotp"
        }
        return .object([
            "type": .string(type), "uuid": .string(RandomID.uuid().lowercased()), "name": .string(entry.account.id.accountName),
            "issuer": .string(entry.account.id.issuer), "note": .string(entry.account.note?.text ?? ""),
            "favorite": .bool(false), "icon": .null, "info": .object(info), "groups": .array(ids.map { .string($0) }),
        ])
    }

    // MARK: Encryption

    private static func sealed(_ content: [UInt8], passphrase: Secret) throws(StoreError) -> [UInt8] {
        guard passphrase.count > 0 else {
            throw StoreError(.invalid, operation, "the passphrase is empty; an empty one protects nothing")
        }
        guard let cost = ScryptCost(logRounds: logRounds) else {
            throw StoreError(.failed, operation, "the cost of scrypt is out of bounds")
        }
        let master = Secret.random(byteCount: 32)
        let salt = Secret.random(byteCount: 32).bytes
        let key = try PassphraseKey.scrypt(passphrase, salt: salt, cost: cost, operation: operation)
        let wrapped = Parts(try Sealing.seal(master.bytes, with: key, context: []))
        let sealed = Parts(try Sealing.seal(content, with: master, context: []))
        let slot = JSONValue.object([
            "type": .integer(1), "uuid": .string(RandomID.uuid().lowercased()), "key": .string(hex(wrapped.ciphertext)),
            "key_params": wrapped.params, "n": .integer(1 << Int64(cost.logRounds)), "r": .integer(Int64(cost.blockSize)),
            "p": .integer(Int64(cost.parallelism)), "salt": .string(hex(salt)), "repaired": .bool(true),
            "is_backup": .bool(false),
        ])
        let header = JSONValue.object(["slots": .array([slot]), "params": sealed.params])
        let text = Base64.encode(sealed.ciphertext, as: .standard)
        return JSON.encode(.object(["version": .integer(1), "header": header, "db": .string(text)]))
    }

    /// The parts of the output of ``Sealing``, which Aegis stores one by one.
    private struct Parts {
        let nonce: [UInt8]
        let ciphertext: [UInt8]
        let tag: [UInt8]

        init(_ sealed: [UInt8]) {
            nonce = Array(sealed.prefix(12))
            ciphertext = Array(sealed.dropFirst(12).dropLast(16))
            tag = Array(sealed.suffix(16))
        }

        var params: JSONValue { .object(["nonce": .string(AegisWriter.hex(nonce)), "tag": .string(AegisWriter.hex(tag))]) }
    }

    private static func hex(_ bytes: [UInt8]) -> String { Hexadecimal.text(of: bytes).lowercased() }
}
