import Crypto
import CryptoExtras
import Foundation
package import SignetNetwork
import SwiftASN1
import X509

/// A certificate authority for tests, and the certificates it signs.
package struct TestAuthority {
    /// The kinds of key that a server can have.
    package enum Kind: String, CaseIterable, Sendable {
        case rsa2048, rsa3072, rsa4096, p256, p384, ed25519

        func key() throws -> Certificate.PrivateKey {
            switch self {
            case .rsa2048: try Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048))
            case .rsa3072: try Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits3072))
            case .rsa4096: try Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits4096))
            case .p256: Certificate.PrivateKey(P256.Signing.PrivateKey())
            case .p384: Certificate.PrivateKey(P384.Signing.PrivateKey())
            case .ed25519: Certificate.PrivateKey(Curve25519.Signing.PrivateKey())
            }
        }
    }

    /// A server's certificate and key in PEM.
    package struct Identity: Sendable {
        package let certificate: String
        package let key: String
        /// The pin of the key, computed from the certificate by a different library than the one under test.
        package let pin: PublicKeyPin
    }

    private let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    private let name: DistinguishedName
    /// The authority's own certificate in PEM.
    package let certificate: String

    package init(_ commonName: String = "Test authority") throws {
        name = try DistinguishedName { CommonName(commonName) }
        let root = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey, notValidBefore: Date() - 3600,
            notValidAfter: Date() + 86_400, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            }, issuerPrivateKey: key)
        certificate = try root.serializeAsPEM().pemString
    }

    /// Returns a server's key and a certificate for it.
    package func identity(
        _ kind: Kind = .p256, for host: String = "localhost", isExpired: Bool = false
    ) throws -> Identity {
        let theirs = try kind.key()
        let leaf = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: theirs.publicKey,
            notValidBefore: Date() - 7200, notValidAfter: Date() + (isExpired ? -3600 : 3600), issuer: name,
            subject: try DistinguishedName { CommonName(host) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                SubjectAlternativeNames([.dnsName(host)])
            }, issuerPrivateKey: key)
        return Identity(
            certificate: try leaf.serializeAsPEM().pemString, key: try theirs.serializeAsPEM().pemString,
            pin: PublicKeyPin(of: try theirs.publicKey.serializeAsPEM().derBytes))
    }
}
