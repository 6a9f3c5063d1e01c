import Crypto
import Foundation
import SignetCore

/// The algorithm of a passkey that ``VaultPasskeys`` creates, by its number in COSE (RFC 9053 section 2).
public enum PasskeyAlgorithm: Int, Sendable, Hashable, CaseIterable {
    /// ECDSA over P-256 with SHA-256.
    case es256 = -7
    /// Ed25519.
    case eddsa = -8

    /// The name in JOSE (RFC 7518 section 3.1, RFC 8037 section 3.1).
    public var name: String {
        switch self {
        case .es256: "ES256"
        case .eddsa: "EdDSA"
        }
    }
}

/// The private key of a passkey.
enum PasskeyKey: Sendable {
    case es256(P256.Signing.PrivateKey)
    case eddsa(Curve25519.Signing.PrivateKey)

    /// Creates a random key.
    init(_ algorithm: PasskeyAlgorithm) {
        switch algorithm {
        case .es256: self = .es256(P256.Signing.PrivateKey())
        case .eddsa: self = .eddsa(Curve25519.Signing.PrivateKey())
        }
    }

    /// Reads a stored key; nil when it is invalid.
    init?(_ algorithm: PasskeyAlgorithm, _ secret: Secret) {
        let key: PasskeyKey? = secret.withUnsafeBytes { bytes in
            switch algorithm {
            case .es256: (try? P256.Signing.PrivateKey(rawRepresentation: bytes)).map { .es256($0) }
            case .eddsa: (try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)).map { .eddsa($0) }
            }
        }
        guard let key else { return nil }
        self = key
    }

    var algorithm: PasskeyAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        }
    }

    /// The 32 bytes that are stored: the scalar of P-256, or the seed of Ed25519 (RFC 8032 section 5.1.5).
    var secret: Secret {
        switch self {
        case .es256(let key): Secret(key.rawRepresentation)
        case .eddsa(let key): Secret(key.rawRepresentation)
        }
    }

    /// The public key as a COSE key (RFC 9053 section 7).
    var publicKey: [UInt8] {
        var cose = CBORWriter()
        switch self {
        case .es256(let key):
            let point = Array(key.publicKey.rawRepresentation)
            cose.map(5)
            for (label, value) in [(1, 2), (3, -7), (-1, 1)] {
                cose.integer(label)
                cose.integer(value)
            }
            cose.integer(-2)
            cose.byteString(point.prefix(32))
            cose.integer(-3)
            cose.byteString(point.suffix(32))
        case .eddsa(let key):
            cose.map(4)
            for (label, value) in [(1, 1), (3, -8), (-1, 6)] {
                cose.integer(label)
                cose.integer(value)
            }
            cose.integer(-2)
            cose.byteString(Array(key.publicKey.rawRepresentation))
        }
        return cose.bytes
    }

    /// Returns the signature in the form of WebAuthn (Level 2 section 6.5.6): DER for ES256, 64 bytes for EdDSA.
    func signature(of bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .es256(let key): Array(try key.signature(for: bytes).derRepresentation)
        case .eddsa(let key): Array(try key.signature(for: bytes))
        }
    }
}
