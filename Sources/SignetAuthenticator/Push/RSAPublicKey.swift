import CryptoExtras
import SwiftASN1

/// An RSAPublicKey of PKCS #1 (RFC 8017 appendix A.1.1): the DER that privacyIDEA sends as the server's key.
///
/// It is not read with `_RSA.Signing.PublicKey(derRepresentation:)`: in swift-crypto 4.5 that initializer frees the key twice when
/// the DER is malformed, and ends the process.
struct RSAPublicKey: DERParseable {
    private let modulus: ArraySlice<UInt8>
    private let exponent: ArraySlice<UInt8>

    init(derEncoded node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { fields in
            Self(
                modulus: try ArraySlice(derEncoded: &fields, withIdentifier: .integer),
                exponent: try ArraySlice(derEncoded: &fields, withIdentifier: .integer))
        }
    }

    private init(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        (self.modulus, self.exponent) = (modulus, exponent)
    }

    /// The key for signatures; nil when it isn't an RSA key of 2048 to 16,384 bits.
    var signingKey: _RSA.Signing.PublicKey? {
        guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent), (2048...16_384).contains(key.keySizeInBits) else {
            return nil
        }
        return key
    }
}

extension _RSA.Signing.PublicKey {
    /// Reads the DER of an RSAPublicKey; nil when it isn't one of 2048 to 16,384 bits.
    init?(pkcs1 der: [UInt8]) {
        guard let key = (try? RSAPublicKey(derEncoded: der))?.signingKey else { return nil }
        self = key
    }
}
