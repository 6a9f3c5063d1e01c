import CryptoExtras
import SignetCore

/// A password hash with scrypt (RFC 7914), in the PHC string format `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, with salt and hash in
/// Base64.
///
/// Other programs use the same format.
///
/// It is meant for files that other users can read. Its parameters determine the cost of a check: with `ln=14`, about 16 MiB and
/// 50 ms.
public struct PasswordHash: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let logRounds: Int
    private let blockSize: Int
    private let parallelism: Int
    private let salt: [UInt8]
    private let hash: Secret

    /// The maximum memory for one check, in bytes.
    private static let maxMemory = 256 << 20

    /// Reads the PHC string format.
    ///
    /// Nil for another format, or when a check would take more than 256 MiB.
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
            (128 * blockSize * parallelism) << logRounds <= Self.maxMemory,
            let salt = try? Base64.decode(parts[3]), !salt.isEmpty, let hash = try? Base64.decode(parts[4]),
            (16...64).contains(hash.count)
        else { return nil }
        self.logRounds = logRounds
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
        self.hash = Secret(hash)
    }

    /// A placeholder, because an attacker could use the hash for offline guessing.
    public var description: String { "<scrypt hash>" }
    /// An empty mirror, so that `dump` doesn't show the hash.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Hashes a new password with `ln=14,r=8,p=1`, a salt of 16 bytes and a hash of 32 bytes.
    ///
    /// Nil when memory is insufficient.
    init?(of password: Secret) {
        (logRounds, blockSize, parallelism) = (14, 8, 1)
        salt = Secret.random(byteCount: 16).bytes
        let key = try? KDF.Scrypt.deriveKey(
            from: password.bytes, salt: salt, outputByteCount: 32, rounds: 1 << logRounds, blockSize: blockSize,
            parallelism: parallelism)
        guard let key else { return nil }
        hash = Secret(key: key)
    }

    /// Creates a hash that no password has, with the parameters of ``init(of:)``.
    ///
    /// A check of a password takes as long as with a real hash.
    /// - Parameters:
    ///   - salt: 16 secret bytes, which are different for each user name.
    ///   - hash: 32 secret bytes that come from no password.
    init(decoySalt salt: [UInt8], hash: Secret) {
        (logRounds, blockSize, parallelism) = (14, 8, 1)
        self.salt = salt
        self.hash = hash
    }

    /// The hash in the PHC string format.
    ///
    /// An attacker can use it for offline guessing.
    var text: String {
        // The PHC string format has no Base64 padding.
        let (salt, hash) = (
            Base64.encode(salt, as: .standard).filter { $0 != "=" }, Base64.encode(hash.bytes, as: .standard).filter { $0 != "=" }
        )
        return "$scrypt$ln=\(logRounds),r=\(blockSize),p=\(parallelism)$\(salt)$\(hash)"
    }

    /// Checks a password.
    ///
    /// Returns nil when memory is insufficient.
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

/// Stores the hash in a row as a secret, in the PHC string format. Only the row encoder and decoder accept it.
extension PasswordHash: Codable {
    /// Reads a hash from a row.
    /// - Throws: `DecodingError` with any other decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hash = PasswordHash(String(decoding: try container.decode(Secret.self).bytes, as: UTF8.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not a hash in the PHC format")
        }
        self = hash
    }

    /// Writes the hash to a row.
    /// - Throws: `EncodingError` with any other encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Secret(text.utf8))
    }
}
