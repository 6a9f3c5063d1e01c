import Crypto
import SignetCore

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
        var bytes = Array(hash.finalize())
        bytes[31] |= 1
        authorization = Secret(bytes)
    }
}
