import SignetCore

/// A data key that a key protector sealed with a key of 32 bytes.
///
/// It consists of an unencrypted header, which begins with the version of its layout, and the output of ``Sealing``. The header
/// is authenticated together with the context.
struct WrappedKey {
    /// The version of the layout that this code writes.
    static let version: UInt8 = 1
    /// The length of a nonce, a data key of 32 bytes and a tag.
    private static let sealedLength = 12 + 32 + 16

    /// The length of the data key, in every layout.
    static let dataKeyLength = 32

    let header: [UInt8]
    let sealed: [UInt8]

    /// Parses the output of ``seal(_:with:header:context:)`` with a header of this length.
    /// - Throws: ``StoreError/Code/corrupt``, ``StoreError/Code/newerFormat``.
    init(_ wrapped: [UInt8], headerLength: Int) throws(StoreError) {
        guard let version = wrapped.first, version > 0 else { throw Self.damaged }
        guard version <= Self.version else {
            throw StoreError(
                .newerFormat, "open vault",
                "the slot has version \(version), from a newer Signet; this one knows version \(Self.version)")
        }
        guard wrapped.count == headerLength + Self.sealedLength else { throw Self.damaged }
        header = Array(wrapped[..<headerLength])
        sealed = Array(wrapped[headerLength...])
    }

    static func seal(
        _ dataKey: Secret, with key: Secret, header: [UInt8], context: [UInt8]
    ) throws(StoreError) -> [UInt8] {
        guard dataKey.count == dataKeyLength else {
            throw StoreError(.failed, "seal", "a data key has \(dataKeyLength) bytes, not \(dataKey.count)")
        }
        return try header + Sealing.seal(dataKey.bytes, with: key, context: Self.context(header, context))
    }

    /// Opens the data key; nil when it was not sealed with this key, this header and this context.
    func open(with key: Secret, context: [UInt8]) -> Secret? {
        Sealing.open(sealed, with: key, context: Self.context(header, context)).map { Secret($0) }
    }

    static var damaged: StoreError {
        StoreError(.corrupt, "open vault", "the slot's content is damaged; the vault was left as it is")
    }

    private static func context(_ header: [UInt8], _ context: [UInt8]) -> [UInt8] {
        [header, context].flatMap(LengthPrefixed.bytes)
    }
}
