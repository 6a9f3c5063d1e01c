import Crypto
import CryptoExtras
package import SignetCore

#if canImport(Darwin)
import Foundation
#else
@_spi(_Unicode) import Swift
#endif

/// Keys of 32 bytes made from what a person knows.
package enum PassphraseKey {
    /// By scrypt (RFC 7914), from the bytes as they are.
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

    /// The hash functions that other programs use under PBKDF2.
    package enum Hash: Sendable {
        case sha1
        case sha256
    }

    /// By PBKDF2 with HMAC (RFC 8018 section 5.2), only for files of programs that protect themselves no better.
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

    /// Text in Unicode's composed form (NFC), so that it does not matter how a keyboard writes it; bytes that are no text as
    /// they are.
    package static func composed(_ passphrase: Secret) -> Secret {
        let bytes = passphrase.bytes
        guard bytes.contains(where: { $0 >= 0x80 }), let text = String(validating: bytes, as: UTF8.self) else {
            return passphrase
        }
        #if canImport(Darwin)
        return Secret(text.precomposedStringWithCanonicalMapping.utf8)
        #else
        // FoundationEssentials has no name for it, and Foundation in full is most of a small program's size. This is what the
        // standard library compares strings with.
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfc)
        return Secret(String(scalars).utf8)
        #endif
    }
}
