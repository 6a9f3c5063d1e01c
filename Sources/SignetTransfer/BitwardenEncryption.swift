import Crypto
import Foundation
import SignetCore
import SignetStorage

/// The encryption of a password-protected JSON export of Bitwarden.
///
/// A key is derived from the password by PBKDF2-HMAC-SHA-256 or Argon2id, and stretched by HKDF (RFC 5869) to a key for
/// AES-256-CBC and one for HMAC-SHA-256. `encKeyValidation_DO_NOT_EDIT` has a random text, so that a wrong password is detected.
struct BitwardenEncryption {
    private static let format = ImportFormat.bitwarden
    private static let validationPart = "encKeyValidation_DO_NOT_EDIT"
    /// The accepted numbers of rounds of PBKDF2.
    ///
    /// Bitwarden uses 600,000 by default and at most two million.
    private static let rounds: ClosedRange<Int64> = 1_000...10_000_000
    private static let pbkdf2: Int64 = 0
    private static let argon2id: Int64 = 1

    private let file: JSONValue
    private let salt: [UInt8]
    private let validation: Ciphertext
    private let data: Ciphertext

    init(_ file: JSONValue) throws(ImportError) {
        self.file = file
        // The salt is used as the text in base64 that the file has.
        guard let salt = file["salt"]?.string, (8...1_024).contains(salt.utf8.count) else {
            throw Self.format.malformed("salt", "it is missing or of a wrong length")
        }
        self.salt = Array(salt.utf8)
        validation = try Ciphertext(file[Self.validationPart], part: Self.validationPart)
        data = try Ciphertext(file["data"], part: "data")
    }

    /// Decrypts the content.
    func open(with passphrase: Secret) throws(ImportError) -> JSONValue {
        let key = try key(from: passphrase)
        guard validation.open(with: key) != nil else { throw Self.format.wrongPassphrase(Self.validationPart) }
        guard let content = data.open(with: key) else {
            throw ImportError(.damaged, Self.format, "data", "it was changed or cut off since it was written")
        }
        return try Self.format.json(content, part: "data")
    }

    private func key(from passphrase: Secret) throws(ImportError) -> Secret {
        guard let iterations = file["kdfIterations"]?.lenientInteger else {
            throw Self.format.malformed("kdfIterations", "not a number")
        }
        switch file["kdfType"]?.lenientInteger {
        case Self.pbkdf2:
            guard Self.rounds.contains(iterations) else {
                throw ImportError(.tooCostly, Self.format, "kdfIterations", "the number of rounds is out of bounds")
            }
            return try PassphraseKey.derived(
                from: passphrase, salt: salt, rounds: Int(iterations), hash: .sha256, as: Self.format, part: "kdfIterations")
        case Self.argon2id:
            guard let memory = file["kdfMemory"]?.lenientInteger, let lanes = file["kdfParallelism"]?.lenientInteger else {
                throw Self.format.malformed("kdfMemory", "the memory or the parallelism of Argon2 is missing")
            }
            // The file has the memory in MiB. The salt of Argon2 is the hash of the salt.
            return try Argon2.fileKey(
                from: passphrase, salt: Array(SHA256.hash(data: salt)),
                cost: (
                    memoryKiB: (0...1_024).contains(memory) ? memory * 1_024 : -1, iterations: iterations, parallelism: lanes
                ), as: Self.format, part: "kdfMemory")
        default:
            throw ImportError(
                .newerVersion, Self.format, "kdfType", "neither PBKDF2 nor Argon2id; export it as '.json' without a password")
        }
    }

    /// A text in Bitwarden's form for AES-256-CBC and HMAC-SHA-256: `2.`, the initialization vector, the ciphertext and the
    /// authentication code, in base64 and separated by `|`.
    private struct Ciphertext {
        private let iv: [UInt8]
        private let bytes: [UInt8]
        private let code: [UInt8]

        init(_ value: JSONValue?, part: String) throws(ImportError) {
            guard let text = value?.string, let dot = text.firstIndex(of: ".") else {
                throw BitwardenEncryption.format.malformed(part, "it is missing or not encrypted")
            }
            guard text[..<dot] == "2" else {
                throw ImportError(
                    .newerVersion, BitwardenEncryption.format, part,
                    "its kind of encryption is not read; export it as '.json' without a password")
            }
            let parts = text[text.index(after: dot)...].split(separator: "|", omittingEmptySubsequences: false)
                .map { try? Base64.decode($0) }
            guard parts.count == 3, let iv = parts[0], let bytes = parts[1], let code = parts[2], iv.count == 16,
                !bytes.isEmpty, bytes.count.isMultiple(of: 16), code.count == 32
            else { throw BitwardenEncryption.format.malformed(part, "not a vector, a ciphertext and a code in base64") }
            (self.iv, self.bytes, self.code) = (iv, bytes, code)
        }

        /// Returns the plaintext; nil when it was not encrypted with a key that is stretched from `key`.
        func open(with key: Secret) -> [UInt8]? {
            let authentication = BitwardenEncryption.stretched(key, "mac")
            guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: iv + bytes, using: authentication.key) else {
                return nil
            }
            return AESModes.openCBC(bytes, with: BitwardenEncryption.stretched(key, "enc"), vector: iv)
                .flatMap { AESModes.withoutPadding($0, isUniform: true) }
        }
    }

    private static func stretched(_ key: Secret, _ purpose: String) -> Secret {
        Secret(key: HKDF<SHA256>.expand(pseudoRandomKey: key.key, info: Array(purpose.utf8), outputByteCount: 32))
    }
}
