import Crypto
import Foundation
import SignetCore

/// The client data of a request, which the passkey signs (WebAuthn Level 2 section 5.8.1).
struct WebAuthnClientData: Sendable {
    /// The operation of a request.
    enum Operation: String, Sendable {
        case create = "webauthn.create"
        case get = "webauthn.get"
    }

    /// The JSON text, in the order of members that section 5.8.1.1 prescribes.
    let json: [UInt8]
    /// The SHA-256 of the JSON text.
    let hash: [UInt8]

    init(_ operation: Operation, challenge: [UInt8], origin: WebAuthnOrigin) {
        let text = [operation.rawValue, Base64.encode(challenge, as: .url), origin.text].map { JSON.text(of: .string($0)) }
        json = Array(#"{"type":\#(text[0]),"challenge":\#(text[1]),"origin":\#(text[2]),"crossOrigin":false}"#.utf8)
        hash = Array(SHA256.hash(data: json))
    }
}

/// The authenticator data of a passkey (WebAuthn Level 2 section 6.1).
struct AuthenticatorDataWriter {
    /// True when the user was verified, and not only present.
    let isVerified: Bool
    let signatureCount: UInt32

    /// User present (UP).
    private static let present: UInt8 = 0x01
    /// User verified (UV).
    private static let verified: UInt8 = 0x04
    /// Attested credential data follow (AT).
    private static let attested: UInt8 = 0x40

    // The flags BE (0x08) and BS (0x10) of Level 3 stay 0: backups and `signet sync` don't contain passkeys.

    /// Returns the data of a signature.
    func bytes(for relyingPartyID: String) -> [UInt8] { head(relyingPartyID, 0) }

    /// Returns the data of a new passkey.
    ///
    /// The AAGUID is zero: it identifies the model of an authenticator, and Signet has registered none.
    func bytes(for relyingPartyID: String, creating id: [UInt8], publicKey: [UInt8]) -> [UInt8] {
        let length = [UInt8(id.count >> 8), UInt8(id.count & 0xFF)]
        return head(relyingPartyID, Self.attested) + [UInt8](repeating: 0, count: 16) + length + id + publicKey
    }

    private func head(_ relyingPartyID: String, _ flags: UInt8) -> [UInt8] {
        let flags = Self.present | (isVerified ? Self.verified : 0) | flags
        let count = withUnsafeBytes(of: signatureCount.bigEndian) { Array($0) }
        return Array(SHA256.hash(data: Array(relyingPartyID.utf8))) + [flags] + count
    }
}

/// The attestation object of a new passkey (WebAuthn Level 2 section 6.5.4).
enum AttestationObject {
    /// Returns an object without an attestation statement (section 8.7).
    static func none(_ authenticatorData: [UInt8]) -> [UInt8] {
        bytes(format: "none", statement: [0xA0], authenticatorData)
    }

    /// Returns an object with a signature of the new passkey itself (section 8.2, self attestation).
    static func packed(_ authenticatorData: [UInt8], algorithm: Int, signature: [UInt8]) -> [UInt8] {
        var statement = CBORWriter()
        statement.map(2)
        statement.text("alg")
        statement.integer(algorithm)
        statement.text("sig")
        statement.byteString(signature)
        return bytes(format: "packed", statement: statement.bytes, authenticatorData)
    }

    /// Returns an object.
    /// - Parameters:
    ///   - format: The identifier of the format.
    ///   - statement: The statement, as CBOR.
    ///   - authenticatorData: The authenticator data.
    /// - Returns: The object, as CBOR.
    static func bytes(format: String, statement: [UInt8], _ authenticatorData: [UInt8]) -> [UInt8] {
        var object = CBORWriter()
        object.map(3)
        object.text("fmt")
        object.text(format)
        object.text("attStmt")
        object.encoded(statement)
        object.text("authData")
        object.byteString(authenticatorData)
        return object.bytes
    }
}
