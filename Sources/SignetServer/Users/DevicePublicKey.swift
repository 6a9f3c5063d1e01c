import Crypto
import CryptoExtras
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The public half of a key that lives on a device.
enum DevicePublicKey: Codable, Sendable, Hashable {
    /// P-256, as the uncompressed point of SEC 1 (65 bytes), for ECDSA with SHA-256.
    case es256(point: [UInt8])
    /// RSA with SHA-512 and PKCS #1 v1.5 padding, as Android's SDK signs.
    case rs512(modulus: [UInt8], exponent: [UInt8])

    /// Reads a JSON Web Key (RFC 7517). Nil when it is of another kind, or no valid key.
    init?(jwk: JSONValue) {
        func number(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap { try? Base64.decode($0) } }
        switch jwk["kty"]?.string {
        case "EC":
            guard jwk["crv"]?.string == "P-256", let x = number("x"), let y = number("y") else { return nil }
            self.init(x: x, y: y)
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e"),
                (try? _RSA.Signing.PublicKey(n: modulus, e: exponent)) != nil
            else { return nil }
            self = .rs512(modulus: modulus, exponent: exponent)
        default: return nil
        }
    }

    /// A point of P-256. Nil when it is not on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        let point = [4] + x + y
        guard x.count == 32, y.count == 32, (try? P256.Signing.PublicKey(x963Representation: point)) != nil else { return nil }
        self = .es256(point: point)
    }

    /// The name of its signatures in a JWS (RFC 7518 section 3.1).
    var algorithm: String {
        switch self {
        case .es256: "ES256"
        case .rs512: "RS512"
        }
    }

    /// Whether the key made a signature as a JWS carries it: for ECDSA the two numbers one after the other.
    func accepts(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch self {
        case .es256(let point):
            guard let key = try? P256.Signing.PublicKey(x963Representation: point),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .rs512(let modulus, let exponent):
            guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else { return false }
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA512.hash(data: bytes),
                padding: .insecurePKCS1v1_5)
        }
    }

    /// Whether the key made a signature as WebAuthn carries it: for ECDSA in DER.
    func accepts(derSignature signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard case .es256(let point) = self, let key = try? P256.Signing.PublicKey(x963Representation: point),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}
