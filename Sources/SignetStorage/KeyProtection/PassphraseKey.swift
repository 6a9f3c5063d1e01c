import CryptoExtras
package import SignetCore

#if canImport(Darwin)
import Foundation
#else
@_spi(_Unicode) import Swift
#endif

/// Derivation of keys of 32 bytes from passphrases.
package enum PassphraseKey {
    /// Derives a key with scrypt (RFC 7914) from the unchanged bytes of the passphrase.
    /// - Throws: ``StoreError/Code/failed`` when there is not enough memory.
    package static func scrypt(
        _ passphrase: Secret, salt: [UInt8], cost: ScryptCost, operation: String
    ) throws(StoreError) -> Secret {
        do {
            return Secret(
                key: try KDF.Scrypt.deriveKey(
                    from: passphrase.bytes, salt: salt, outputByteCount: 32, rounds: 1 << cost.logRounds,
                    blockSize: cost.blockSize, parallelism: cost.parallelism))
        } catch {
            throw StoreError(
                .failed, operation, "scrypt failed; it needs \(cost.byteCount / 1_048_576) MiB of memory at this cost")
        }
    }

    /// The hash functions that other programs use with PBKDF2.
    package enum Hash: Sendable {
        case sha1
        case sha256
    }

    /// Derives a key with PBKDF2 with HMAC (RFC 8018 section 5.2).
    ///
    /// Only for files of programs that use nothing stronger.
    /// - Throws: ``StoreError/Code/failed``.
    package static func pbkdf2(
        _ passphrase: Secret, salt: [UInt8], rounds: Int, hash: Hash, operation: String
    ) throws(StoreError) -> Secret {
        do {
            return Secret(
                key: try KDF.Insecure.PBKDF2.deriveKey(
                    from: passphrase.bytes, salt: salt, using: hash == .sha1 ? .insecureSHA1 : .sha256, outputByteCount: 32,
                    unsafeUncheckedRounds: rounds))
        } catch {
            throw StoreError(.failed, operation, "PBKDF2 failed")
        }
    }

    /// Returns a passphrase that is valid UTF-8 in Unicode's composed form (NFC), so that the result does not depend on the
    /// keyboard.
    ///
    /// Returns other bytes unchanged.
    package static func composed(_ passphrase: Secret) -> Secret {
        let bytes = passphrase.bytes
        guard bytes.contains(where: { $0 >= 0x80 }), let text = String(strictUTF8: bytes) else {
            return passphrase
        }
        #if canImport(Darwin)
        return Secret(text.precomposedStringWithCanonicalMapping.utf8)
        #else
        // FoundationEssentials has no API for this, and the full Foundation would be most of the size of a small program. This is
        // the normalization that the standard library uses to compare strings.
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfc)
        return Secret(String(scalars).utf8)
        #endif
    }
}
