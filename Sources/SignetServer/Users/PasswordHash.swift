import CryptoExtras
import SignetCore

/// A password as other programs keep it: scrypt (RFC 7914), in the PHC form
/// `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, salt and hash in Base64.
///
/// It is for files that others can read. What a check costs is in the hash: with `ln=14` some 16 MiB and 50 ms.
public struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let logRounds: Int
    private let blockSize: Int
    private let parallelism: Int
    private let salt: [UInt8]
    private let hash: Secret

    /// The most memory that one check may take, in bytes.
    private static let mostMemory = 256 << 20

    /// Reads the PHC form. Nil when it is another one, or when a check would take more than 256 MiB.
    public init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        var numbers: [String: Int] = [:]
        for pair in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let number = Int(sides[1]), numbers.updateValue(number, forKey: String(sides[0])) == nil
            else {
                return nil
            }
        }
        guard numbers.count == 3, let logRounds = numbers["ln"], let blockSize = numbers["r"], let parallelism = numbers["p"],
            (1...24).contains(logRounds), (1...64).contains(blockSize), (1...16).contains(parallelism),
            (128 * blockSize * parallelism) << logRounds <= Self.mostMemory,
            let salt = try? Base64.decode(parts[3]), !salt.isEmpty, let hash = try? Base64.decode(parts[4]),
            (16...64).contains(hash.count)
        else { return nil }
        self.logRounds = logRounds
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
        self.hash = Secret(hash)
    }

    /// A placeholder: who has the hash can guess at leisure.
    public var description: String { "<scrypt hash>" }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Hashes a password as new ones are: `ln=14,r=8,p=1`, a salt and a hash of 32 bytes. Nil when there is not enough memory.
    init?(of password: Secret) {
        (logRounds, blockSize, parallelism) = (14, 8, 1)
        salt = Secret.random(byteCount: 16).bytes
        let key = try? KDF.Scrypt.deriveKey(
            from: password.bytes, salt: salt, outputByteCount: 32, rounds: 1 << logRounds, blockSize: blockSize,
            parallelism: parallelism)
        guard let key else { return nil }
        hash = Secret(key: key)
    }

    /// The PHC form. Who has it can guess at leisure.
    var text: String {
        // Without padding, as the PHC form has it.
        let (salt, hash) = (
            Base64.encode(salt, as: .standard).filter { $0 != "=" }, Base64.encode(hash.bytes, as: .standard).filter { $0 != "=" }
        )
        return "$scrypt$ln=\(logRounds),r=\(blockSize),p=\(parallelism)$\(salt)$\(hash)"
    }

    /// Whether this is the password. Nil when there is not enough memory to find out.
    func accepts(_ password: Secret) -> Bool? {
        let key = try? KDF.Scrypt.deriveKey(
            from: password.bytes, salt: salt, outputByteCount: hash.count, rounds: 1 << logRounds, blockSize: blockSize,
            parallelism: parallelism)
        guard let key else { return nil }
        return key.withUnsafeBytes { offered in
            hash.withUnsafeBytes { expected in ConstantTime.areEqual(offered, expected) }
        }
    }
}

/// In a row it stands in the PHC form, as a secret: no encoder but that of rows takes it.
extension PasswordHash: Codable {
    /// - Throws: `DecodingError` unless it is a row that is read.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hash = PasswordHash(String(decoding: try container.decode(Secret.self).bytes, as: UTF8.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no hash in the PHC form")
        }
        self = hash
    }

    /// - Throws: `EncodingError` unless it is a row that is written.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Secret(text.utf8))
    }
}
