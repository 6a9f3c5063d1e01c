package import Crypto
package import CryptoExtras
import Foundation
package import SignetCore

/// A signature key of a provider that a test scripts.
///
/// It signs without the library that the client uses to check signatures.
package enum ProviderKey: Sendable {
    /// An RSA key.
    case rsa(_RSA.Signing.PrivateKey)
    /// A key of the curve P-256.
    case elliptic(P256.Signing.PrivateKey)
    /// An Ed25519 key.
    case edwards(Curve25519.Signing.PrivateKey)

    /// Three RSA keys of 2048 bits.
    ///
    /// All tests share them, because the generation of one takes a tenth of a second.
    package static let shared: [ProviderKey] = (0..<3).compactMap { _ in
        (try? _RSA.Signing.PrivateKey(keySize: .bits2048)).map { ProviderKey.rsa($0) }
    }

    /// An RSA key of 1024 bits, which RFC 7518 section 3.3 forbids.
    package static let short: ProviderKey? = (try? _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: 1024)))
        .map { ProviderKey.rsa($0) }

    /// A key of the curve P-256 that all tests share.
    package static let p256 = ProviderKey.elliptic(P256.Signing.PrivateKey())
    /// An Ed25519 key that all tests share.
    package static let ed25519 = ProviderKey.edwards(Curve25519.Signing.PrivateKey())

    /// Returns the signature of a text; empty for an algorithm that the key doesn't have.
    package func signature(of input: String, algorithm: String) -> [UInt8] {
        let data = Data(input.utf8)
        switch (self, algorithm) {
        case (.rsa(let key), "RS256"):
            let signature = try? key.signature(for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5)
            return Array(signature?.rawRepresentation ?? Data())
        case (.rsa(let key), "PS256"):
            let signature = try? key.signature(for: SHA256.hash(data: data), padding: .PSS)
            return Array(signature?.rawRepresentation ?? Data())
        case (.elliptic(let key), "ES256"): return Array((try? key.signature(for: data))?.rawRepresentation ?? Data())
        case (.edwards(let key), "EdDSA"): return Array((try? key.signature(for: data)) ?? Data())
        default: return []
        }
    }

    /// The DER form of an ECDSA signature, which RFC 7515 doesn't use.
    package func derSignature(of input: String) -> [UInt8] {
        guard case .elliptic(let key) = self else { return [] }
        return Array((try? key.signature(for: Data(input.utf8)))?.derRepresentation ?? Data())
    }

    /// The modulus of an RSA key, which is public; empty for other keys.
    package var modulus: [UInt8] {
        guard case .rsa(let key) = self else { return [] }
        return Array((try? key.publicKey.getKeyPrimitives())?.modulus ?? Data())
    }

    /// The members of the public key in a JWKS (RFC 7517), without an ID and an algorithm.
    package var members: [String: JSONValue] {
        func text(_ bytes: some Collection<UInt8>) -> JSONValue { .string(Base64.encode(Array(bytes), as: .url)) }
        switch self {
        case .rsa(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            return [
                "kty": .string("RSA"), "use": .string("sig"), "n": text(numbers?.modulus ?? Data()),
                "e": text(numbers?.publicExponent ?? Data()),
            ]
        case .elliptic(let key):
            let point = key.publicKey.rawRepresentation
            return [
                "kty": .string("EC"), "use": .string("sig"), "crv": .string("P-256"), "x": text(point.prefix(32)),
                "y": text(point.suffix(32)),
            ]
        case .edwards(let key):
            return [
                "kty": .string("OKP"), "use": .string("sig"), "crv": .string("Ed25519"),
                "x": text(key.publicKey.rawRepresentation),
            ]
        }
    }
}

/// A key as it is published in the JWKS.
package struct PublishedKey: Sendable {
    /// The key.
    package let key: ProviderKey
    /// The ID of the key; nil for none.
    package let identifier: String?
    /// Members that are added to those of the key, or replace them.
    package var members: [String: JSONValue] = [:]

    /// Creates a published key.
    package init(_ key: ProviderKey, _ identifier: String?, _ members: [String: JSONValue] = [:]) {
        (self.key, self.identifier, self.members) = (key, identifier, members)
    }

    /// The key in a JWKS.
    package var jwk: JSONValue {
        var jwk = key.members
        jwk["kid"] = identifier.map { .string($0) }
        return .object(jwk.merging(members) { $1 })
    }
}
