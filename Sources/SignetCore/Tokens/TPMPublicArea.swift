import Crypto

/// The public area of a P-256 key in a TPM (TPM 2.0 part 2, section 12.2.4, `TPMT_PUBLIC`), as far as an attestation needs it.
struct TPMPublicArea {
    /// The attributes of the key (section 8.3.2).
    let attributes: Attributes
    /// The public half.
    let publicKey: ES256PublicKey

    /// The attributes of a key in a TPM (section 8.3.2, `TPMA_OBJECT`).
    struct Attributes: OptionSet {
        let rawValue: UInt32
        static let fixedTPM = Attributes(rawValue: 0x0000_0002)
        static let fixedParent = Attributes(rawValue: 0x0000_0010)
        static let sensitiveDataOrigin = Attributes(rawValue: 0x0000_0020)
        static let restricted = Attributes(rawValue: 0x0001_0000)
        static let decrypt = Attributes(rawValue: 0x0002_0000)
        static let sign = Attributes(rawValue: 0x0004_0000)

        /// A key that the TPM made and that never leaves it.
        static let bound: Attributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin]
    }

    // Section 6.3 and 6.4.
    private static let (ecc, sha256, null, ecdsa, p256) = (0x0023, 0x000B, 0x0010, 0x0018, 0x0003)
    private static let longestPolicy = 64

    /// Reads the area of a key that signs with ECDSA and SHA-256 on P-256; nil for any other.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number(ofBytes: 2) == Self.ecc, reader.number(ofBytes: 2) == Self.sha256,
            let attributes = reader.number(ofBytes: 4), let policy = reader.number(ofBytes: 2), policy <= Self.longestPolicy,
            reader.bytes(policy) != nil, reader.number(ofBytes: 2) == Self.null, reader.number(ofBytes: 2) == Self.ecdsa,
            reader.number(ofBytes: 2) == Self.sha256, reader.number(ofBytes: 2) == Self.p256,
            reader.number(ofBytes: 2) == Self.null, let x = Self.coordinate(&reader), let y = Self.coordinate(&reader),
            reader.rest.isEmpty, let publicKey = ES256PublicKey(x963: [4] + x + y)
        else { return nil }
        self.attributes = Attributes(rawValue: UInt32(attributes))
        self.publicKey = publicKey
    }

    /// Reads a coordinate, whose leading zeros a TPM may omit, to 32 bytes.
    private static func coordinate(_ reader: inout ByteReader) -> [UInt8]? {
        guard let count = reader.number(ofBytes: 2), count <= 32, let bytes = reader.bytes(count) else { return nil }
        return [UInt8](repeating: 0, count: 32 - count) + bytes
    }

    /// Returns the name of a key with this area: the number of the hash algorithm and the digest (part 1, section 16).
    static func name(of area: [UInt8]) -> [UInt8] { [0x00, 0x0B] + Array(SHA256.hash(data: area)) }
}
