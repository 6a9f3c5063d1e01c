/// The statement of a TPM 2.0 that a signing key is in it and cannot leave it (`TPM2_Certify`, TPM 2.0 part 3, section 18.2).
///
/// The TPM signs the statement with its attestation key, a restricted key that signs nothing that was made outside of the TPM. The
/// attestation key is the same for all programs of the machine, so it identifies the machine: send a statement only to a server that may
/// know that.
///
///     let key = try attestation.verifiedKey(nonce: challenge, trusting: enrolledNames)
///
/// A statement proves as much as the attestation key does. A server therefore has to know the names of attestation keys that are in
/// TPMs, from the enrollment of the machine. A server that takes the name from the first statement of a machine
/// (``attestationKeyName``) only proves later that it is the same machine.
public struct KeyAttestation: Sendable, Hashable {
    /// The signed statement (`TPMS_ATTEST`, TPM 2.0 part 2, section 10.12.12).
    public let statement: [UInt8]
    /// The signature of the attestation key: the numbers r and s, 32 bytes each.
    public let signature: [UInt8]
    /// The public area of the attested key (`TPMT_PUBLIC`, TPM 2.0 part 2, section 12.2.4).
    public let keyArea: [UInt8]
    /// The public area of the attestation key (`TPMT_PUBLIC`).
    public let attestationKeyArea: [UInt8]

    /// Creates an attestation from its parts, which ``verifiedKey(nonce:trusting:)`` checks.
    public init(statement: [UInt8], signature: [UInt8], keyArea: [UInt8], attestationKeyArea: [UInt8]) {
        self.statement = statement
        self.signature = signature
        self.keyArea = keyArea
        self.attestationKeyArea = attestationKeyArea
    }

    /// Reads an attestation from JSON, as ``json`` writes it.
    ///
    /// Returns nil when a member is missing or is not base64url.
    public init?(json: JSONValue) {
        func bytes(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { try? Base64.decodeURL($0) } }
        guard let statement = bytes("certInfo"), let signature = bytes("sig"), let keyArea = bytes("pubArea"),
            let attestationKeyArea = bytes("aikArea")
        else { return nil }
        self.init(statement: statement, signature: signature, keyArea: keyArea, attestationKeyArea: attestationKeyArea)
    }

    /// The attestation as JSON: its parts in base64url, with the names of WebAuthn's format `tpm` (WebAuthn Level 2, section 8.3), and
    /// `aikArea` for the public area of the attestation key.
    public var json: JSONValue {
        .object([
            "certInfo": .string(Base64.encode(statement, as: .url)), "sig": .string(Base64.encode(signature, as: .url)),
            "pubArea": .string(Base64.encode(keyArea, as: .url)),
            "aikArea": .string(Base64.encode(attestationKeyArea, as: .url)),
        ])
    }

    /// The name of the attestation key (TPM 2.0 part 1, section 16): the number of SHA-256 and the digest of its public area, 34 bytes.
    public var attestationKeyName: [UInt8] { TPMPublicArea.name(of: attestationKeyArea) }

    // TPM 2.0 part 2, sections 6.2 and 6.9: `TPM_GENERATED_VALUE` and `TPM_ST_ATTEST_CERTIFY`.
    private static let (generated, certified) = (0xFF54_4347, 0x8017)
    /// The length of the clock and of the version of the firmware in a statement (sections 10.11.1 and 10.12.12).
    private static let clockAndVersion = 17 + 8

    /// Verifies the attestation and returns the public half of the attested key.
    /// - Parameters:
    ///   - nonce: The challenge that this server has sent, and accepts once.
    ///   - names: The names of the attestation keys that the server trusts.
    /// - Returns: The public half of a key that the TPM made, that never leaves the TPM, and that signs.
    /// - Throws: ``KeyAttestationError``.
    public func verifiedKey(nonce: [UInt8], trusting names: Set<[UInt8]>) throws(KeyAttestationError) -> ES256PublicKey {
        guard names.contains(attestationKeyName) else { throw .attestationKey }
        guard let attestationKey = TPMPublicArea(attestationKeyArea), let key = TPMPublicArea(keyArea) else { throw .form }
        guard attestationKey.attributes.isSuperset(of: [.bound, .restricted, .sign]),
            attestationKey.attributes.isDisjoint(with: .decrypt)
        else { throw .attestationKey }
        guard attestationKey.publicKey.isValid(signature, of: statement) else { throw .signature }
        let certified = try Self.certifiedKey(statement)
        guard ConstantTime.areEqual(certified.nonce, nonce) else { throw .nonce }
        guard certified.name == TPMPublicArea.name(of: keyArea) else { throw .name }
        guard key.attributes.isSuperset(of: [.bound, .sign]), key.attributes.isDisjoint(with: [.restricted, .decrypt]) else {
            throw .attributes
        }
        return key.publicKey
    }

    /// Reads the nonce and the name of the key from a statement.
    private static func certifiedKey(_ statement: [UInt8]) throws(KeyAttestationError) -> (nonce: [UInt8], name: [UInt8]) {
        var reader = ByteReader(statement)
        func sized() -> [UInt8]? { reader.number(ofBytes: 2).flatMap { reader.bytes($0) } }
        guard reader.number() == generated, reader.number(ofBytes: 2) == certified, sized() != nil, let nonce = sized(),
            reader.bytes(clockAndVersion) != nil, let name = sized(), sized() != nil, reader.rest.isEmpty
        else { throw .form }
        return (nonce, name)
    }
}

/// An error that reports an invalid key attestation.
///
/// The error is its own code.
public struct KeyAttestationError: Error, ErrorCode {
    /// A part does not have the form of a TPM's statement about a P-256 key.
    public static let form = KeyAttestationError(rawValue: "not a statement of a TPM about a P-256 key")
    /// The attestation key is not trusted, or is not a restricted key that never leaves its TPM.
    public static let attestationKey = KeyAttestationError(rawValue: "the attestation key is not trusted")
    /// The attestation key did not sign the statement.
    public static let signature = KeyAttestationError(rawValue: "the signature does not match")
    /// The statement answers another challenge.
    public static let nonce = KeyAttestationError(rawValue: "the statement answers another challenge")
    /// The statement is about another key.
    public static let name = KeyAttestationError(rawValue: "the statement is about another key")
    /// The key could leave the TPM, was made outside of it, or is not a key that signs data of programs.
    public static let attributes = KeyAttestationError(rawValue: "the key is not bound to the TPM")

    /// All errors of this version.
    public static let allCases: [KeyAttestationError] = [.form, .attestationKey, .signature, .nonce, .name, .attributes]

    /// A description of the error.
    public let rawValue: String

    /// Creates an error from its description.
    public init(rawValue: String) { self.rawValue = rawValue }
}
