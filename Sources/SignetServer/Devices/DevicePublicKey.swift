import Crypto
import CryptoExtras
import Foundation
import SignetCore

/// The public key of a device.
enum DevicePublicKey: Codable, Sendable, Hashable {
    /// A P-256 key for ECDSA with SHA-256, as the uncompressed point of SEC 1 (65 bytes).
    case es256(point: [UInt8])
    /// An RSA key for signatures with SHA-512 and PKCS #1 v1.5 padding, which the Android SDK uses.
    case rs512(modulus: [UInt8], exponent: [UInt8])
    /// An RSA key for signatures with SHA-256 and PKCS #1 v1.5 padding, which some passkeys have.
    case rs256(modulus: [UInt8], exponent: [UInt8])
    /// An Ed25519 key, which some passkeys have (32 bytes, RFC 8032 section 5.1.5).
    case ed25519(point: [UInt8])

    /// Reads a JSON Web Key (RFC 7517).
    ///
    /// Nil when the key is of another kind or invalid.
    init?(jwk: JSONValue) {
        func number(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap { try? Base64.decode($0) } }
        switch jwk["kty"]?.string {
        case "EC":
            guard jwk["crv"]?.string == "P-256", let x = number("x"), let y = number("y") else { return nil }
            self.init(x: x, y: y)
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e"), Self.isRSA(modulus, exponent) else { return nil }
            self = .rs512(modulus: modulus, exponent: exponent)
        default: return nil
        }
    }

    /// Creates a P-256 key from a point.
    ///
    /// Nil when the point is not on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        let point = [4] + x + y
        guard x.count == 32, y.count == 32, (try? P256.Signing.PublicKey(x963Representation: point)) != nil else { return nil }
        self = .es256(point: point)
    }

    /// Reads the public key of a WebAuthn credential: a COSE key for ES256, EdDSA or RS256 (RFC 9053 sections 2.1 and 2.2, RFC 8812
    /// section 2).
    ///
    /// Nil when the key is of another kind or invalid.
    init?(cose key: CBOR) {
        switch (key[.integer(1)], key[.integer(3)]) {
        case (.integer(2), .integer(-7)):
            guard key[.integer(-1)] == .integer(1), let x = key[.integer(-2)]?.bytes, let y = key[.integer(-3)]?.bytes else {
                return nil
            }
            self.init(x: x, y: y)
        case (.integer(1), .integer(-8)):
            guard key[.integer(-1)] == .integer(6), let point = key[.integer(-2)]?.bytes,
                (try? Curve25519.Signing.PublicKey(rawRepresentation: point)) != nil
            else { return nil }
            self = .ed25519(point: point)
        case (.integer(3), .integer(-257)):
            guard let modulus = key[.integer(-1)]?.bytes, let exponent = key[.integer(-2)]?.bytes,
                Self.isRSA(modulus, exponent)
            else { return nil }
            self = .rs256(modulus: modulus, exponent: exponent)
        default: return nil
        }
    }

    /// Returns true for the numbers of an RSA key that is large enough for signatures.
    private static func isRSA(_ modulus: [UInt8], _ exponent: [UInt8]) -> Bool {
        (try? _RSA.Signing.PublicKey(n: modulus, e: exponent)) != nil
    }

    /// The `alg` value of its signatures in a JWS (RFC 7518 section 3.1).
    var algorithm: String {
        switch self {
        case .es256: "ES256"
        case .rs512: "RS512"
        case .rs256: "RS256"
        case .ed25519: "EdDSA"
        }
    }

    /// Verifies a signature in the format of a JWS.
    ///
    /// For ECDSA, it is the concatenation of the two numbers.
    func accepts(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch self {
        case .es256(let point):
            guard let key = try? P256.Signing.PublicKey(x963Representation: point),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .rs512(let modulus, let exponent):
            return Self.accepts(signature, of: SHA512.hash(data: bytes), by: modulus, exponent)
        case .rs256(let modulus, let exponent):
            return Self.accepts(signature, of: SHA256.hash(data: bytes), by: modulus, exponent)
        case .ed25519(let point):
            return (try? Curve25519.Signing.PublicKey(rawRepresentation: point))?.isValidSignature(signature, for: bytes) == true
        }
    }

    /// Verifies a signature in the format of WebAuthn, which is DER for ECDSA.
    ///
    /// Returns false for a key that no passkey has.
    func accepts(webAuthnSignature signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch self {
        case .es256(let point):
            guard let key = try? P256.Signing.PublicKey(x963Representation: point),
                let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .rs256, .ed25519: return accepts(signature, of: bytes)
        case .rs512: return false
        }
    }

    /// Verifies an RSA signature with PKCS #1 v1.5 padding.
    private static func accepts(
        _ signature: [UInt8], of digest: some Digest, by modulus: [UInt8], _ exponent: [UInt8]
    ) -> Bool {
        guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
    }
}
