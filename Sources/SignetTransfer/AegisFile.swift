import SignetCore
import SignetStorage

/// An Aegis vault, version 1.
///
/// It is a JSON object whose member `db` is the content, or the ciphertext of the content in base64. The content is encrypted by
/// AES-256-GCM with a master key. Each slot has an encrypted copy of that key; the key of a slot of type 1 is derived from a
/// password by scrypt.
enum AegisFile {
    private static let format = ImportFormat.aegis
    private static let newestVersion: Int64 = 1
    private static let newestContent: Int64 = 3
    private static let passwordSlot: Int64 = 1
    /// The maximum number of password slots.
    ///
    /// It exceeds realistic vaults, and limits the cost, because each slot takes one run of scrypt.
    private static let maxSlots = 8

    static func recognizes(_ json: JSONValue) -> Bool { json["header"]?.object != nil && json["db"] != nil }

    static func read(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        guard recognizes(file) else { throw format.malformed("header", "header or db is missing") }
        try checkVersion(file["version"], newest: newestVersion, part: "version")
        switch file["db"] {
        case .object(let content): return try gather(.object(content))
        case .string(let text): return try gather(decrypt(text, header: file["header"] ?? .null, passphrase: passphrase))
        default: throw format.malformed("db", "neither an object nor text")
        }
    }

    private static func checkVersion(_ value: JSONValue?, newest: Int64, part: String) throws(ImportError) {
        guard let version = value?.lenientInteger, version > 0 else { throw format.malformed(part, "not a version") }
        guard version <= newest else {
            throw ImportError(
                .newerVersion, format, part,
                "version \(version) is newer than \(newest), the newest that Signet reads; export otpauth URIs")
        }
    }

    // MARK: Decrypting

    private static func decrypt(_ text: String, header: JSONValue, passphrase: Secret?) throws(ImportError) -> JSONValue {
        guard let ciphertext = try? Base64.decode(text) else { throw format.malformed("db", "not base64") }
        let slots = try format.entries(header["slots"], part: "header.slots").filter {
            $0["type"]?.lenientInteger == passwordSlot
        }
        guard !slots.isEmpty else {
            throw format.malformed("header.slots", "no slot has a password; export the vault with a password")
        }
        guard slots.count <= maxSlots else {
            throw ImportError(.tooCostly, format, "header.slots", "more than \(maxSlots) passwords")
        }
        let sealed = try sealed(ciphertext, header["params"], part: "header.params")
        let keys = try slots.map { slot throws(ImportError) in try Slot(slot) }
        let key = try masterKey(keys, passphrase: format.needed(passphrase))
        guard let content = Sealing.open(sealed, with: key, context: []) else {
            throw ImportError(.damaged, format, "db", "it was changed or cut off since it was written")
        }
        return try format.json(content, part: "db")
    }

    private static func masterKey(_ slots: [Slot], passphrase: Secret) throws(ImportError) -> Secret {
        for slot in slots {
            if let key = try slot.open(passphrase) { return key }
        }
        throw format.wrongPassphrase("header.slots")
    }

    /// A password slot.
    ///
    /// Its values are checked before anything is computed.
    private struct Slot {
        private let salt: [UInt8]
        private let cost: ScryptCost
        private let sealed: [UInt8]

        init(_ slot: JSONValue) throws(ImportError) {
            guard let salt = AegisFile.bytes(slot["salt"]), (8...64).contains(salt.count),
                let key = AegisFile.bytes(slot["key"]), key.count == 32
            else { throw AegisFile.format.malformed("header.slots", "a salt or key is missing or of a wrong length") }
            guard let rounds = slot["n"]?.lenientInteger, let blockSize = slot["r"]?.lenientInteger,
                let lanes = slot["p"]?.lenientInteger,
                let cost = AegisFile.cost(rounds: rounds, blockSize: blockSize, lanes: lanes)
            else { throw ImportError(.tooCostly, AegisFile.format, "header.slots", "the cost of scrypt is out of bounds") }
            self.salt = salt
            self.cost = cost
            sealed = try AegisFile.sealed(key, slot["key_params"], part: "header.slots.key_params")
        }

        /// Returns the master key; nil when the passphrase does not open this slot.
        func open(_ passphrase: Secret) throws(ImportError) -> Secret? {
            do throws(StoreError) {
                let key = try PassphraseKey.scrypt(passphrase, salt: salt, cost: cost, operation: "open Aegis vault")
                return Sealing.open(sealed, with: key, context: []).map { Secret($0) }
            } catch {
                throw ImportError(.tooCostly, AegisFile.format, "header.slots", error.reason)
            }
        }
    }

    private static func cost(rounds: Int64, blockSize: Int64, lanes: Int64) -> ScryptCost? {
        guard rounds > 0, rounds.nonzeroBitCount == 1, let blockSize = Int(exactly: blockSize), let lanes = Int(exactly: lanes)
        else { return nil }
        return ScryptCost(logRounds: rounds.trailingZeroBitCount, blockSize: blockSize, parallelism: lanes)
    }

    /// Returns nonce, ciphertext and tag in the order that decryption expects.
    private static func sealed(_ ciphertext: [UInt8], _ params: JSONValue?, part: String) throws(ImportError) -> [UInt8] {
        guard let nonce = bytes(params?["nonce"]), nonce.count == 12, let tag = bytes(params?["tag"]), tag.count == 16 else {
            throw format.malformed(part, "the nonce or tag is missing or of a wrong length")
        }
        return nonce + ciphertext + tag
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? { value?.string.flatMap { Hexadecimal.bytes($0) } }

    // MARK: Entries

    private static func gather(_ content: JSONValue) throws(ImportError) -> ImportContent {
        try checkVersion(content["version"], newest: newestContent, part: "db.version")
        var builder = ImportBuilder()
        let groups = ImportedDetails.groupNames(content["groups"], id: "uuid", name: "name")
        for (index, entry) in try format.entries(content["entries"], part: "db.entries").enumerated() {
            var code = code(entry, number: index + 1)
            code.details = details(entry, groups: groups)
            code.add(to: &builder)
        }
        return builder.content
    }

    /// Returns the groups, the note and the icon of an entry, whose groups are ids since content of version 3 and a name before.
    private static func details(_ entry: JSONValue, groups: [String: String]) -> ImportedDetails {
        var details = ImportedDetails()
        for id in entry["groups"]?.array ?? [] { details.addGroup(id: id.string, in: groups) }
        details.addGroup(entry["group"]?.string)
        details.setNote(entry["note"]?.string)
        details.setIcon(entry["icon"]?.string)
        return details
    }

    private static func code(_ entry: JSONValue, number: Int) -> ImportedCode {
        let info = entry["info"]
        var code = ImportedCode(number: number, secret: info?["secret"], parameters: info, algorithm: "algo")
        code.issuer = entry["issuer"]?.string
        code.account = entry["name"]?.string
        code.type = entry["type"]?.string
        return code
    }
}
