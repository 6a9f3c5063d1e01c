import Crypto
import SignetCore
import SignetStorage

/// The keys of a KeePass database.
struct KDBXKeys {
    /// The key of the content.
    let content: Secret
    /// The key from which those of the authentication codes are derived; only version 4 has them.
    private let authentication: Secret

    /// Computes the keys from a password alone, without a key file and other components.
    /// - Throws: ``ImportError`` with ``ImportError/Code/tooCostly`` when there is not enough memory.
    init(_ password: Secret, _ header: KDBXHeader) throws(ImportError) {
        // The hash of the hashes of all components, of which the password is the only one.
        let composite = Secret(Self.sha256(Self.sha256(password.bytes)))
        let derived = try Self.derived(composite, header.keyDerivation)
        let material = header.seed + derived.bytes
        content = Secret(Self.sha256(material))
        authentication = Secret(SHA512.hash(data: material + [1]))
    }

    /// Returns the key of the authentication code of a block; that of the header is the greatest number.
    func authenticationKey(_ number: UInt64) -> Secret {
        Secret(SHA512.hash(data: LittleEndian.bytes([number]) + authentication.bytes))
    }

    /// Returns true when an authentication code is that of bytes.
    /// - Parameters:
    ///   - code: The code of 32 bytes.
    ///   - bytes: The bytes that it authenticates.
    ///   - number: The number of the block.
    /// - Returns: True when the code is right.
    func isValid(_ code: [UInt8], for bytes: [UInt8], number: UInt64) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: authenticationKey(number).key)
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    private static func derived(
        _ composite: Secret, _ derivation: KDBXHeader.KeyDerivation
    ) throws(ImportError) -> Secret {
        switch derivation {
        case .aes(let key, let rounds):
            let bytes = composite.bytes
            guard let left = AESModes.encrypted(Array(bytes[..<16]), with: key, rounds: rounds),
                let right = AESModes.encrypted(Array(bytes[16...]), with: key, rounds: rounds)
            else { throw KDBXHeader.malformed("AES failed") }
            return Secret(sha256(left + right))
        case .argon2(let isID, let cost):
            do throws(StoreError) {
                return try argon2(composite, cost, isID: isID)
            } catch {
                throw ImportError(.tooCostly, KDBXFile.format, KDBXHeader.part, error.reason)
            }
        }
    }

    private static func argon2(
        _ composite: Secret, _ cost: KDBXHeader.Argon2Cost, isID: Bool
    ) throws(StoreError) -> Secret {
        try Argon2.key(
            isID ? .id : .d, password: composite, salt: cost.salt, iterations: cost.iterations, memoryKiB: cost.memoryKiB,
            parallelism: cost.parallelism, version: cost.version, length: 32, secret: cost.secret,
            associatedData: cost.associatedData)
    }
}
