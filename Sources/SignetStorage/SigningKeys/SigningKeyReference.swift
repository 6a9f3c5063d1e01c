import SignetCore

/// The content of a signing key's reference: docs/reference/tpm-formats.md, section "Signing key".
enum SigningKeyReference {
    /// The private half of a key in software, 32 bytes.
    case software(Secret)
    /// A key that the TPM's storage key seals.
    case tpm(TPMKey)
    /// The representation that CryptoKit makes of a key in the Secure Enclave.
    case secureEnclave([UInt8])

    private static let operation = "open a signing key"
    private static let magic = Array("SGSK".utf8)
    private static let version: UInt8 = 1

    /// The number of the place in the bytes.
    private enum Kind: UInt8 {
        case software = 1
        case tpm = 2
        case secureEnclave = 3
    }

    /// The bytes of the reference.
    var bytes: Secret {
        switch self {
        case .software(let scalar): Self.secret(.software, scalar.bytes)
        case .tpm(let key): Self.secret(.tpm, key.bytes)
        case .secureEnclave(let bytes): Self.secret(.secureEnclave, LengthPrefixed.bytes(bytes))
        }
    }

    private static func secret(_ kind: Kind, _ content: [UInt8]) -> Secret {
        Secret(magic + [version, kind.rawValue] + content)
    }

    /// Reads the bytes of a reference.
    /// - Throws: ``StoreError/Code/corrupt``, ``StoreError/Code/newerFormat``.
    init(_ reference: Secret) throws(StoreError) {
        var reader = ByteReader(reference.bytes)
        guard reader.bytes(Self.magic.count) == Self.magic, let marks = reader.bytes(2) else { throw Self.damaged }
        guard marks[0] == Self.version, let kind = Kind(rawValue: marks[1]) else {
            throw StoreError(
                .newerFormat, Self.operation,
                "its reference has version \(marks[0]), kind \(marks[1]); this program knows version \(Self.version), kinds 1 to 3"
            )
        }
        let read: SigningKeyReference? =
            switch kind {
            case .software: reader.bytes(32).map { SigningKeyReference.software(Secret($0)) }
            case .tpm: TPMKey(&reader).map { SigningKeyReference.tpm($0) }
            case .secureEnclave: reader.lengthPrefixed(limit: 4096).map { SigningKeyReference.secureEnclave($0) }
            }
        guard let read, reader.rest.isEmpty else { throw Self.damaged }
        self = read
    }

    /// The error for a reference that is not what was written.
    static var damaged: StoreError { StoreError(.corrupt, operation, "its reference is damaged; it was left as it is") }
}
