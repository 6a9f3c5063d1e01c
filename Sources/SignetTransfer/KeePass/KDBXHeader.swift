import SignetCore

/// The header of a KeePass database, which is not encrypted.
///
/// All values are checked before a key is computed.
struct KDBXHeader {
    /// The encryption of the content.
    enum Cipher {
        case aes256
        case chaCha20
    }

    /// The function that computes the key from the password.
    enum KeyDerivation {
        /// Encryptions of the password's hash with AES-256 in a row, with this key.
        case aes(key: Secret, rounds: Int)
        /// Argon2d, or Argon2id when `isID` is true.
        case argon2(isID: Bool, Argon2Cost)
    }

    /// The parameters of Argon2.
    struct Argon2Cost {
        var salt: [UInt8] = []
        var iterations = 0
        var memoryKiB = 0
        var parallelism = 0
        var version = 0
        var secret: [UInt8] = []
        var associatedData: [UInt8] = []
    }

    /// The two numbers with which each file begins.
    static let magic: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]
    static let part = "header"
    static let seedLength = 32
    /// The maximum number of rounds of AES; KeePassXC chooses one for a second of work, about 50 million at most.
    private static let maxRounds = 100_000_000

    /// The major version, 3 or 4.
    let version: Int
    let cipher: Cipher
    let isCompressed: Bool
    let seed: [UInt8]
    /// The initialization vector or nonce of the content.
    let vector: [UInt8]
    let keyDerivation: KeyDerivation
    /// Version 3: the encryption of protected values, with its key; version 4 has them in the content.
    let innerStream: (id: Int, key: [UInt8])?
    /// Version 3: the first bytes of the content.
    let startBytes: [UInt8]
    /// The bytes of the header.
    let bytes: [UInt8]

    /// Reads the header at the beginning of a file.
    /// - Throws: ``ImportError``.
    init(_ file: [UInt8]) throws(ImportError) {
        var reader = KDBXReader(file)
        guard reader.bytes(Self.magic.count) == Self.magic, let minor = reader.number(2), let major = reader.number(2) else {
            throw Self.malformed("it does not begin like a KeePass database")
        }
        guard major == 4 || (major == 3 && minor <= 1) else {
            let advice = "version \(major).\(minor) is not read; save the database with a current KeePassXC, or export XML or CSV"
            throw ImportError(major > 4 ? .newerVersion : .unknownFormat, KDBXFile.format, Self.part, advice)
        }
        version = major
        let fields = try Self.fields(&reader, lengthSize: major == 4 ? 4 : 2)
        bytes = Array(file[..<reader.position])

        cipher = try Self.cipher(fields[2])
        guard let compression = KDBXReader.number(fields[3]), compression <= 1 else {
            throw Self.malformed("the compression is missing or unknown")
        }
        isCompressed = compression == 1
        guard let seed = fields[4], seed.count == Self.seedLength, let vector = fields[7],
            vector.count == (cipher == .aes256 ? 16 : 12)
        else { throw Self.malformed("the seed or the vector is missing or of a wrong length") }
        self.seed = seed
        self.vector = vector
        if major == 4 {
            keyDerivation = try Self.keyDerivation(fields[11])
            innerStream = nil
            startBytes = []
        } else {
            keyDerivation = try Self.aes(seed: fields[5], rounds: fields[6])
            guard let key = fields[8], let start = fields[9], start.count == Self.seedLength,
                let id = KDBXReader.number(fields[10])
            else { throw Self.malformed("a value of the content's encryption is missing") }
            innerStream = (id: id, key: key)
            startBytes = start
        }
    }

    static func malformed(_ reason: String) -> ImportError { KDBXFile.format.malformed(part, reason) }

    /// Reads the fields up to the one that ends the header.
    private static func fields(_ reader: inout KDBXReader, lengthSize: Int) throws(ImportError) -> [Int: [UInt8]] {
        var fields: [Int: [UInt8]] = [:]
        while true {
            guard let id = reader.number(1), let length = reader.number(lengthSize), let value = reader.bytes(length) else {
                throw ImportError(.damaged, KDBXFile.format, part, "it was cut off")
            }
            if id == 0 { return fields }
            guard fields.updateValue(value, forKey: id) == nil else { throw malformed("a field is given twice") }
        }
    }

    private static func cipher(_ id: [UInt8]?) throws(ImportError) -> Cipher {
        switch id.map({ Hexadecimal.text(of: $0) }) {
        case "31C1F2E6BF714350BE5805216AFC5AFF": return .aes256
        case "D6038A2B8B6F4CB5A524339A31DBB59A": return .chaCha20
        case nil: throw malformed("the encryption is missing")
        default:
            throw ImportError(
                .unknownFormat, KDBXFile.format, part,
                "its encryption is not read, only AES-256 and ChaCha20; choose one of these in the settings of the database, or export "
                    + "XML or CSV")
        }
    }

    // MARK: Key derivation

    private static func aes(seed: [UInt8]?, rounds: [UInt8]?) throws(ImportError) -> KeyDerivation {
        guard let seed, seed.count == seedLength, rounds?.count == 8 else {
            throw malformed("a value of the key derivation is missing or of a wrong length")
        }
        guard let rounds = KDBXReader.number(rounds), (1...maxRounds).contains(rounds) else { throw tooCostly }
        return .aes(key: Secret(seed), rounds: rounds)
    }

    private static var tooCostly: ImportError {
        ImportError(.tooCostly, KDBXFile.format, part, "the cost of the key is out of bounds")
    }

    /// Reads the parameters of the key derivation in version 4.
    private static func keyDerivation(_ field: [UInt8]?) throws(ImportError) -> KeyDerivation {
        guard let field, let values = variants(field), let id = values["$UUID"] else {
            throw malformed("the key derivation is missing or cannot be read")
        }
        switch Hexadecimal.text(of: id) {
        case "C9D9F39A628A4460BF740D08C18A4FEA", "7C02BB8279A74AC0927D114A00648238":
            return try aes(seed: values["S"], rounds: values["R"])
        case "EF636DDF8C29444B91F7A9A403E30A0C": return .argon2(isID: false, try argon2(values))
        case "9E298B1956DB4773B23DFC3EC6F0A1E6": return .argon2(isID: true, try argon2(values))
        default: throw malformed("the key derivation is unknown")
        }
    }

    private static func argon2(_ values: [String: [UInt8]]) throws(ImportError) -> Argon2Cost {
        guard let salt = values["S"], (8...64).contains(salt.count), let version = KDBXReader.number(values["V"]),
            version == 0x10 || version == 0x13
        else { throw malformed("a value of Argon2 is missing or unknown") }
        guard let iterations = KDBXReader.number(values["I"]), let memory = KDBXReader.number(values["M"]),
            let parallelism = KDBXReader.number(values["P"]),
            Argon2.isAcceptable(iterations: iterations, memoryKiB: memory / 1_024, parallelism: parallelism)
        else { throw tooCostly }
        return Argon2Cost(
            salt: salt, iterations: iterations, memoryKiB: memory / 1_024, parallelism: parallelism, version: version,
            secret: values["K"] ?? [], associatedData: values["A"] ?? [])
    }

    /// Reads a dictionary of KeePass ("VariantDictionary"): each value has a type, a name and its bytes.
    ///
    /// Returns nil when it cannot be read.
    private static func variants(_ bytes: [UInt8]) -> [String: [UInt8]]? {
        var reader = KDBXReader(bytes)
        // The upper byte of the version changes with the format.
        guard let version = reader.number(2), version >> 8 == 1 else { return nil }
        var values: [String: [UInt8]] = [:]
        while let type = reader.number(1), type != 0 {
            guard let nameLength = reader.number(4), let name = reader.bytes(nameLength),
                let valueLength = reader.number(4), let value = reader.bytes(valueLength),
                values.updateValue(value, forKey: String(decoding: name, as: UTF8.self)) == nil
            else { return nil }
        }
        return values
    }
}
