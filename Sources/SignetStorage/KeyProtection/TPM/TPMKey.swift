import SignetCore

/// A P-256 key whose private half only one TPM can use.
///
/// The TPM's storage key seals it, and it is stored outside of the TPM.
struct TPMKey: Sendable, Hashable {
    /// The name of the storage key (TPM 2.0 part 1, section 16): algorithm ID and digest of its public area.
    ///
    /// The storage key of another TPM, or of this TPM after it was cleared, has another name.
    let storageKey: [UInt8]
    /// `TPM2B_PUBLIC` and `TPM2B_PRIVATE` in the encoding of TPM 2.0 part 2.
    let blob: [UInt8]

    /// Both parts, each preceded by its length.
    var bytes: [UInt8] { LengthPrefixed.bytes(storageKey) + LengthPrefixed.bytes(blob) }

    init(storageKey: [UInt8], blob: [UInt8]) {
        self.storageKey = storageKey
        self.blob = blob
    }

    /// Reads the output of ``bytes``; nil when it is invalid.
    init?(_ reader: inout ByteReader) {
        guard let storageKey = reader.lengthPrefixed(limit: 68), let blob = reader.lengthPrefixed(limit: 4096) else { return nil }
        self.init(storageKey: storageKey, blob: blob)
    }
}

/// The preamble of data that is used with a TPM: magic bytes, version and suite.
struct TPMFormat {
    /// The four magic bytes, which are ASCII letters.
    let magic: [UInt8]
    let name: String

    /// The format of a data key that is sealed to a key in a TPM.
    static let slot = TPMFormat(magic: Array("SGTP".utf8), name: "slot of the TPM")
    /// The format of a file with a key in a TPM.
    static let keyFile = TPMFormat(magic: Array("SGTK".utf8), name: "key file of the TPM")

    /// The version and the suite.
    ///
    /// The suite uses P-256 and SHA-256 throughout, and AES-256-GCM in the slot.
    private static let version: UInt8 = 1
    private static let suite: UInt8 = 1

    /// The bytes at the beginning of the data.
    var preamble: [UInt8] { magic + [Self.version, Self.suite] }

    /// Checks the preamble of `bytes` and returns a reader for the bytes after it.
    /// - Throws: ``StoreError/Code/newerFormat`` or ``StoreError/Code/corrupt``.
    func reader(_ bytes: [UInt8], _ operation: String) throws(StoreError) -> ByteReader {
        var reader = ByteReader(bytes)
        guard reader.bytes(magic.count) == magic, let marks = reader.bytes(2) else { throw damaged(operation) }
        guard marks == [Self.version, Self.suite] else {
            throw StoreError(
                .newerFormat, operation,
                "the \(name) has version \(marks[0]), suite \(marks[1]); this program knows \(Self.version) and \(Self.suite)")
        }
        return reader
    }

    func damaged(_ operation: String) -> StoreError {
        StoreError(.corrupt, operation, "the \(name) is damaged; it was left as it is")
    }
}
