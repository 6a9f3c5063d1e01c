import Crypto
import SignetCore

#if canImport(CTSS2) && canImport(Glibc)
import CTSS2
#endif

/// A user's PIN, as a TPM gets it: docs/reference/tpm-formats.md, section "Key file".
struct TPMPin: Sendable {
    /// The authorization value of the key, 32 bytes.
    ///
    /// A PIN can be longer than a TPM takes. The last byte is never zero, because TPMs remove trailing zeros.
    let authorization: Secret

    init(_ pin: Secret, tag: String) {
        var hash = SHA256()
        hash.update(data: Array("signet secured key pin 1".utf8) + LengthPrefixed.bytes(Array(tag.utf8)))
        pin.withUnsafeBytes { hash.update(bufferPointer: $0) }
        // The iterator of a digest makes a copy of its own, which would stay in memory.
        var bytes = hash.finalize().withUnsafeBytes { Array($0) }
        bytes[31] |= 1
        authorization = Secret(bytes)
        #if canImport(CTSS2) && canImport(Glibc)
        bytes.withUnsafeMutableBytes { ctss2_wipe($0.baseAddress, $0.count) }
        #endif
    }
}
