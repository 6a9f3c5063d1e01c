import SignetCore

/// What a key protector that seals with a key of 32 bytes makes of a data key: a header in clear, which begins with the version of
/// its layout, then what ``Sealing`` writes. The header is authenticated together with the context.
struct WrappedKey {
    /// The version of the layouts that are written here.
    static let version: UInt8 = 1
    /// A nonce, a data key of 32 bytes and a tag.
    private static let sealedLength = 12 + 32 + 16

    /// What is sealed is this long, in every layout.
    static let dataKeyLength = 32

    let header: [UInt8]
    let sealed: [UInt8]

    /// Takes apart what ``seal(_:with:header:context:)`` made with a header of this length.
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

    /// Nil when it was not sealed with this key, this header and this context.
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
