/// A P-256 key whose private half only one TPM can use: sealed by that TPM's storage key, to be kept by us.
struct TPMKey: Sendable, Hashable {
    /// The name of the storage key (TPM 2.0 part 1, section 16): algorithm id and digest of its public area. After the TPM
    /// was cleared, and in any other TPM, the storage key has another name.
    let storageKey: [UInt8]
    /// `TPM2B_PUBLIC` and `TPM2B_PRIVATE`, as TPM 2.0 part 2 writes them.
    let blob: [UInt8]

    /// Both parts, each after its length.
    var bytes: [UInt8] { LengthPrefixed.bytes(storageKey) + LengthPrefixed.bytes(blob) }

    init(storageKey: [UInt8], blob: [UInt8]) {
        self.storageKey = storageKey
        self.blob = blob
    }

    /// Reads what ``bytes`` wrote; nil when it did not.
    init?(_ reader: inout ByteReader) {
        guard let storageKey = reader.lengthPrefixed(limit: 68), let blob = reader.lengthPrefixed(limit: 4096) else { return nil }
        self.init(storageKey: storageKey, blob: blob)
    }
}

/// Takes bytes from the front, never more than there are.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The next `count` bytes; nil when there are fewer.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// What ``LengthPrefixed`` wrote; nil when it is longer than `limit`, or not all there.
    mutating func lengthPrefixed(limit: Int) -> [UInt8]? {
        guard let length = bytes(4) else { return nil }
        let count = length.reduce(0) { $0 << 8 | Int($1) }
        return count <= limit ? bytes(count) : nil
    }
}

/// The first bytes of what is kept with a TPM: who wrote it, what it is, in which version.
struct TPMFormat {
    /// Four letters.
    let magic: [UInt8]
    let name: String

    /// A data key, sealed to a key in a TPM.
    static let slot = TPMFormat(magic: Array("SGTP".utf8), name: "slot of the TPM")
    /// A key in a TPM, in a file.
    static let keyFile = TPMFormat(magic: Array("SGTK".utf8), name: "key file of the TPM")

    /// The version, and the suite: P-256 and SHA-256 throughout, AES-256-GCM in the slot.
    private static let version: UInt8 = 1
    private static let suite: UInt8 = 1

    /// What stands in front.
    var preamble: [UInt8] { magic + [Self.version, Self.suite] }

    /// A reader that stands behind the preamble of `bytes`.
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
