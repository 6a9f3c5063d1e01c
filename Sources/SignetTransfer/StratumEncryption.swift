import SignetCore
import SignetStorage

/// The two forms of an encrypted backup of Stratum, which begin with the name that the program had before.
///
/// `AUTHENTICATORPRO`: a salt of 16 bytes, a nonce of 12 bytes, the ciphertext of AES-256-GCM and its tag; the key is derived by
/// Argon2id. `AuthenticatorPro`, until 2023: a salt of 20 bytes, a vector of 16 bytes and the ciphertext of AES-256-CBC; the key is
/// derived by PBKDF2-HMAC-SHA-1. The format is published with the program's source, as its backup file format.
enum StratumEncryption: CaseIterable {
    case strong
    case legacy

    private static let format = ImportFormat.stratum
    /// The costs of Argon2id, which the file does not contain: 64 MiB, three iterations, four lanes.
    private static let cost: Argon2.FileCost = (memoryKiB: 64 * 1_024, iterations: 3, parallelism: 4)
    /// The number of PBKDF2 rounds, which the file does not contain.
    private static let rounds = 64_000

    private var header: [UInt8] {
        switch self {
        case .strong: Array("AUTHENTICATORPRO".utf8)
        case .legacy: Array("AuthenticatorPro".utf8)
        }
    }

    private var saltLength: Int { self == .strong ? 16 : 20 }
    private var nonceLength: Int { self == .strong ? 12 : 16 }

    /// Returns the form of an encrypted backup; nil for other bytes.
    static func detect(_ bytes: [UInt8]) -> StratumEncryption? { allCases.first { bytes.starts(with: $0.header) } }

    /// Decrypts a backup of this form.
    func open(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> [UInt8] {
        let format = Self.format
        let start = header.count + saltLength
        // Both ciphertexts have at least 16 bytes: a tag, or a block.
        guard bytes.count > start + nonceLength + 16 || (self == .legacy && bytes.count == start + nonceLength + 16) else {
            throw format.malformed("file", "it was cut off")
        }
        let salt = Array(bytes[header.count..<start])
        switch self {
        case .strong:
            let key = try Argon2.fileKey(
                from: format.needed(passphrase), salt: salt, cost: Self.cost, as: format, part: "file")
            guard let content = Sealing.open(bytes[start...], with: key, context: []) else {
                throw format.wrongPassphrase("file")
            }
            return content
        case .legacy:
            let ciphertext = Array(bytes[(start + nonceLength)...])
            guard ciphertext.count.isMultiple(of: 16) else { throw format.malformed("file", "it was cut off") }
            let key = try PassphraseKey.derived(
                from: format.needed(passphrase), salt: salt, rounds: Self.rounds, hash: .sha1, as: format, part: "file")
            let iv = Array(bytes[start..<start + nonceLength])
            // The bytes are not authenticated: a wrong key leaves no padding, or no JSON.
            guard let padded = AESModes.openCBC(ciphertext, with: key, vector: iv),
                let content = AESModes.withoutPadding(padded, isUniform: true), content.first == UInt8(ascii: "{")
            else { throw format.wrongPassphrase("file") }
            return content
        }
    }
}
