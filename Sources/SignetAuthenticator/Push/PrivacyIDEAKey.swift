import Crypto
import CryptoExtras
import Foundation
import SignetCore

/// The RSA key of this device for one push token of privacyIDEA (docs/protocol/privacyidea-push.md section 2).
///
/// Signatures are PKCS #1 v1.5 with SHA-256, the only ones that the server makes and accepts, in Base32 with padding.
struct PrivacyIDEAKey {
    private let key: _RSA.Signing.PrivateKey

    /// Reads a key: DER of PKCS #1, which ``generate()`` makes, or of PKCS #8.
    /// - Throws: ``AuthenticatorError/Code/wrongKind`` when the secret isn't an RSA key of 2048 bits or more.
    init(_ secret: Secret) throws(AuthenticatorError) {
        do {
            key = try _RSA.Signing.PrivateKey(derRepresentation: secret.bytes)
        } catch {
            throw AuthenticatorError(.wrongKind, "the secret of this mechanism isn't an RSA key; enroll the account again")
        }
    }

    /// Makes a key of 3072 bits, as DER of PKCS #1.
    ///
    /// The server accepts any size. This one is as strong as AES-128, and a signature with it takes a third of the time of one with
    /// 4096 bits: each poll needs one.
    @concurrent
    static func generate() async throws -> Secret {
        Secret(Array(try _RSA.Signing.PrivateKey(keySize: .bits3072).derRepresentation))
    }

    /// The public key as the server reads it: Base64 of the DER of a SubjectPublicKeyInfo, without header and line breaks.
    var publicKey: String { Base64.encode(Array(key.publicKey.derRepresentation), as: .standard) }

    /// Returns the signature of a text.
    func signature(of text: String) throws -> String {
        let signature = try key.signature(for: SHA256.hash(data: Array(text.utf8)), padding: .insecurePKCS1v1_5)
        return Base32.encode(signature.rawRepresentation, padded: true)
    }

    /// Reads the server's public key: Base64 of the DER of an RSAPublicKey (PKCS #1), with line breaks.
    /// - Returns: The key as DER of PKCS #1; nil when the text isn't an RSA key of 2048 to 16,384 bits.
    static func serverKey(_ text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace }
        guard digits.utf8.count <= 4096, let bytes = try? Base64.decode(digits),
            let key = _RSA.Signing.PublicKey(pkcs1: bytes)
        else { return nil }
        return Array(key.pkcs1DERRepresentation)
    }

    /// Returns true when the signature of a text was made with the server's private key.
    static func isSignature(_ signature: String, of text: String, by serverKey: [UInt8]) -> Bool {
        guard signature.utf8.count <= 4096, let bytes = try? Base32.decode(signature),
            let key = _RSA.Signing.PublicKey(pkcs1: serverKey)
        else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: bytes), for: SHA256.hash(data: Array(text.utf8)),
            padding: .insecurePKCS1v1_5)
    }
}
