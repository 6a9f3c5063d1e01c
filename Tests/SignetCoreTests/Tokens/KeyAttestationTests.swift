import Crypto
import Foundation
import SignetCore
import Testing

@Suite("The attestation of a key in a TPM")
struct KeyAttestationTests {
    private static let nonce = Array("a challenge of the server".utf8)

    /// The parts of an attestation, which a test changes before the statement is made and signed.
    fileprivate struct Parts {
        let signer = P256.Signing.PrivateKey()
        let key = P256.Signing.PrivateKey()
        var magic: [UInt8] = [0xFF, 0x54, 0x43, 0x47]
        var kind: [UInt8] = [0x80, 0x17]
        var nonce = KeyAttestationTests.nonce
        // fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA, sign; restricted too for the signer.
        var attributes: UInt32 = 0x0004_0472
        var signerAttributes: UInt32 = 0x0005_0472
        var scheme: [UInt8] = [0x00, 0x18, 0x00, 0x0B]
        var rest: [UInt8] = []
        var certifiedArea: [UInt8]?
        var signature: [UInt8]?

        var area: [UInt8] { area(key.publicKey, attributes) }
        var signerArea: [UInt8] { area(signer.publicKey, signerAttributes) }

        private func area(_ key: P256.Signing.PublicKey, _ attributes: UInt32) -> [UInt8] {
            let point = Array(key.rawRepresentation)
            return [0x00, 0x23, 0x00, 0x0B] + Self.bytes(attributes) + [0, 0, 0x00, 0x10] + scheme + [0x00, 0x03, 0x00, 0x10]
                + Self.sized(Array(point.prefix(32))) + Self.sized(Array(point.suffix(32)))
        }

        private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

        private static func sized(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }

        private static func name(_ area: [UInt8]) -> [UInt8] { [0, 0x0B] + Array(SHA256.hash(data: area)) }

        func attestation() throws -> KeyAttestation {
            let qualified = Self.sized([UInt8](repeating: 1, count: 34))
            let statement =
                magic + kind + qualified + Self.sized(nonce) + [UInt8](repeating: 0, count: 25)
                + Self.sized(Self.name(certifiedArea ?? area)) + qualified + rest
            let signature = try signature ?? Array(signer.signature(for: statement).rawRepresentation)
            return KeyAttestation(statement: statement, signature: signature, keyArea: area, attestationKeyArea: signerArea)
        }
    }

    private static func failure(_ attestation: KeyAttestation, trusting names: Set<[UInt8]>? = nil) -> KeyAttestationError? {
        do throws(KeyAttestationError) {
            _ = try attestation.verifiedKey(nonce: nonce, trusting: names ?? [attestation.attestationKeyName])
            return nil
        } catch {
            return error
        }
    }

    @Test("The attestation of a trusted key returns the attested key, also after it was sent as JSON")
    func attestationReturnsKey() throws {
        let parts = Parts()
        let attestation = try parts.attestation()
        let json = try JSON.value(of: JSON.encode(attestation.json))
        let sent = try #require(KeyAttestation(json: json))
        #expect(sent == attestation)
        let name = [0, 0x0B] + Array(SHA256.hash(data: parts.signerArea))
        #expect(sent.attestationKeyName == name)
        let key = try sent.verifiedKey(nonce: Self.nonce, trusting: [name])
        #expect(key.coordinates == Array(parts.key.publicKey.rawRepresentation))
    }

    /// A statement that libtpms 0.9.2 made for the nonce of 32 bytes 7, by the calls of tpm2-tss that Signet uses.
    private static let statementOfTPM = JSONValue.object([
        "certInfo": .string(
            "_1RDR4AXACIAC6vwP9hsS_lxl5WOlW_-UumkRxEYsOlpNlbHGKZMuvEtACAHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH"
                + "BwcHBwAAAAAAAADhAAAAAQAAAAABIBkQIwAWNjYAIgALz6Br8qc070tVsWDMcF6Ia7p3OwV0oYLBjsq7epJ4ddYAIgAL94Iv"
                + "jCGG3FhbnhRDjWLzNiHTI67SmIGw6qyQ_ck_1Yc"),
        "sig": .string(
            "_ZhiKTwZqec-kUcDOkL6jkU7IH7DY25nKIRq8g4Bf3EPtuFYDQVDO55VSlGiv1la7XPMD-OLUuM27SLncFm_Xw"),
        "pubArea": .string(
            "ACMACwAEBHIAAAAQABgACwADABAAIHJKRaEM9SR2gZRQ4Xy3szKnDH45yrxduIb6JwNTpqVmACCoypjLd9JdTslWzqTTejdk"
                + "CglbVuCXU2EjomSjqMB4WQ"),
        "aikArea": .string(
            "ACMACwAFBHIAAAAQABgACwADABAAIJM3OpN7XGWvaEjupedrw9fRi7n6l-AwmT1gNmDpSwTOACAVrdIkJwFoaVIWrcXBmZPF"
                + "G7Jc_2EW9moO8BPeBF3x6w"),
    ])

    @Test("The statement of a TPM is verified, and no byte of it can be changed")
    func verifiesStatementOfTPM() throws {
        let attestation = try #require(KeyAttestation(json: Self.statementOfTPM))
        let (nonce, names) = ([UInt8](repeating: 7, count: 32), Set([attestation.attestationKeyName]))
        let key = try attestation.verifiedKey(nonce: nonce, trusting: names)
        #expect(key.x963.suffix(32) == attestation.keyArea.suffix(32))
        for position in attestation.statement.indices {
            var statement = attestation.statement
            statement[position] ^= 1
            let changed = KeyAttestation(
                statement: statement, signature: attestation.signature, keyArea: attestation.keyArea,
                attestationKeyArea: attestation.attestationKeyArea)
            #expect(throws: KeyAttestationError.signature) { try changed.verifiedKey(nonce: nonce, trusting: names) }
        }
    }

    /// A change of an attestation, and the error that it causes.
    struct Change: CustomTestStringConvertible {
        let testDescription: String
        let error: KeyAttestationError
        fileprivate let apply: @Sendable (inout Parts) -> Void

        fileprivate init(
            _ description: String, _ error: KeyAttestationError, _ apply: @escaping @Sendable (inout Parts) -> Void
        ) {
            (testDescription, self.error, self.apply) = (description, error, apply)
        }

        static let all = [
            Change("another magic number", .form) { $0.magic[0] = 0 },
            Change("a statement of another kind", .form) { $0.kind[1] = 0x18 },
            Change("bytes behind the statement", .form) { $0.rest = [0] },
            Change("another scheme than ECDSA", .form) { $0.scheme[1] = 0x19 },
            Change("another challenge", .nonce) { $0.nonce.append(0) },
            Change("no challenge", .nonce) { $0.nonce = [] },
            Change("the name of another key", .name) { $0.certifiedArea = [1] },
            Change("a signature of 64 other bytes", .signature) { $0.signature = [UInt8](repeating: 1, count: 64) },
            Change("no signature", .signature) { $0.signature = [] },
            Change("a key that can be moved to another TPM", .attributes) { $0.attributes &= ~0x2 },
            Change("a key that can be moved to another parent", .attributes) { $0.attributes &= ~0x10 },
            Change("a key that was made outside of the TPM", .attributes) { $0.attributes &= ~0x20 },
            Change("a key that does not sign", .attributes) { $0.attributes &= ~0x4_0000 },
            Change("a key that also decrypts", .attributes) { $0.attributes |= 0x2_0000 },
            Change("a restricted key", .attributes) { $0.attributes |= 0x1_0000 },
            Change("an attestation key that signs any data", .attestationKey) { $0.signerAttributes &= ~0x1_0000 },
            Change("an attestation key that was made outside of the TPM", .attestationKey) { $0.signerAttributes &= ~0x20 },
            Change("an attestation key that can leave the TPM", .attestationKey) { $0.signerAttributes &= ~0x2 },
        ]
    }

    @Test("An attestation with a wrong part is refused", arguments: Change.all)
    func refusesChangedAttestation(change: Change) throws {
        var parts = Parts()
        change.apply(&parts)
        let attestation = try parts.attestation()
        #expect(Self.failure(attestation) == change.error)
    }

    @Test("An attestation by an attestation key that the server does not trust is refused")
    func refusesUntrustedAttestationKey() throws {
        let attestation = try Parts().attestation()
        let other = try Parts().attestation()
        #expect(Self.failure(attestation, trusting: []) == .attestationKey)
        #expect(Self.failure(attestation, trusting: [other.attestationKeyName]) == .attestationKey)
        let replaced = KeyAttestation(
            statement: attestation.statement, signature: attestation.signature, keyArea: attestation.keyArea,
            attestationKeyArea: other.attestationKeyArea)
        #expect(Self.failure(replaced, trusting: [attestation.attestationKeyName, other.attestationKeyName]) == .signature)
    }

    @Test("An attestation that is cut anywhere is refused")
    func refusesCutAttestation() throws {
        let parts = Parts()
        let whole = try parts.attestation()
        for count in 0..<whole.statement.count {
            let statement = Array(whole.statement.prefix(count))
            let signature = Array(try parts.signer.signature(for: statement).rawRepresentation)
            let cut = KeyAttestation(
                statement: statement, signature: signature, keyArea: whole.keyArea, attestationKeyArea: whole.attestationKeyArea)
            #expect(Self.failure(cut) == .form, "\(count) bytes of the statement")
        }
        for count in 0..<whole.keyArea.count {
            let cut = KeyAttestation(
                statement: whole.statement, signature: whole.signature, keyArea: Array(whole.keyArea.prefix(count)),
                attestationKeyArea: whole.attestationKeyArea)
            #expect(Self.failure(cut) == .form, "\(count) bytes of the area")
        }
    }

    @Test("JSON without one of the parts, or with other text than base64url, is refused as an attestation")
    func refusesIncompleteJSON() throws {
        let attestation = try Parts().attestation()
        let members = try #require(attestation.json.object)
        for name in members.keys {
            var incomplete = members
            incomplete[name] = nil
            #expect(KeyAttestation(json: .object(incomplete)) == nil)
            incomplete[name] = .string("+/=")
            #expect(KeyAttestation(json: .object(incomplete)) == nil)
        }
    }
}
