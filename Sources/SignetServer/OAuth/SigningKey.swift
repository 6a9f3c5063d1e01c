import Crypto
import CryptoExtras
import Foundation
import SignetCore

/// A private key that signs tokens, with its public key.
struct SigningKey: Sendable {
    /// The type of a key.
    ///
    /// The raw value is stored and must not change.
    enum Kind: String, Codable, Sendable, CaseIterable {
        case rsa = "RSA"
        case p256 = "P-256"
        case ed25519 = "Ed25519"

        /// The algorithms of the key; an RSA key is used for both kinds of padding, as AM's is.
        var algorithms: [JWSAlgorithm] {
            switch self {
            case .rsa: [.rs256, .ps256]
            case .p256: [.es256]
            case .ed25519: [.edDSA]
            }
        }
    }

    private enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    private let material: Material
    private let stored: StoredSigningKey
    var kind: Kind { stored.kind }
    let publicKey: JSONWebKey
    /// The ID of the key: its thumbprint (RFC 7638).
    let id: String
    /// The time at which another key replaced this one; nil for a key that signs.
    var retiredAt: Date? { stored.retiredAt }

    /// Reads a stored key: an RSA key in PEM, or the bytes of another one.
    /// - Throws: An error when the key isn't valid.
    init(_ stored: StoredSigningKey) throws {
        self.stored = stored
        switch stored.kind {
        case .rsa:
            let key = try _RSA.Signing.PrivateKey(pemRepresentation: String(decoding: stored.secret.bytes, as: UTF8.self))
            let numbers = try key.publicKey.getKeyPrimitives()
            material = .rsa(key)
            publicKey = try JSONWebKey(.rsa(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent)))
        case .p256:
            let key = try P256.Signing.PrivateKey(rawRepresentation: stored.secret.bytes)
            let point = Array(key.publicKey.rawRepresentation)
            material = .p256(key)
            publicKey = try JSONWebKey(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        case .ed25519:
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: stored.secret.bytes)
            material = .ed25519(key)
            publicKey = try JSONWebKey(.ed25519(Array(key.publicKey.rawRepresentation)))
        }
        id = publicKey.thumbprint
    }

    /// Generates a key in the form that is stored.
    @concurrent
    static func generate(_ kind: Kind) async throws -> Secret {
        switch kind {
        case .rsa: Secret(try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.utf8)
        case .p256: Secret(Array(P256.Signing.PrivateKey().rawRepresentation))
        case .ed25519: Secret(Array(Curve25519.Signing.PrivateKey().rawRepresentation))
        }
    }

    /// Returns true while tokens that the key has signed can be valid (``StoredSigningKey/isUsable(at:for:)``).
    func isUsable(at now: Date, for overlap: Double) -> Bool { stored.isUsable(at: now, for: overlap) }

    /// Returns the ID (`kid`) of the key for an algorithm: each entry of the key set has its own.
    func id(for algorithm: JWSAlgorithm) -> String { algorithm == .ps256 ? "\(id).PS256" : id }

    /// The entries of the key set (RFC 7517 section 5), one for each algorithm.
    var published: [JSONValue] {
        get throws {
            try kind.algorithms.map { try JSONWebKey(publicKey.numbers, identifier: id(for: $0), algorithm: $0).json }
        }
    }

    /// Signs claims.
    /// - Parameters:
    ///   - claims: The claims.
    ///   - algorithm: One of the algorithms of the ``kind``.
    ///   - type: The type in the header.
    /// - Returns: The JWT.
    /// - Throws: An error when the signature cannot be made.
    @concurrent
    func sign(_ claims: [String: JSONValue], _ algorithm: JWSAlgorithm, type: String) async throws -> String {
        let token = UnsignedToken(
            header: ["typ": .string(type), "alg": .string(algorithm.rawValue), "kid": .string(id(for: algorithm))],
            claims: claims)
        let signature: [UInt8]
        switch material {
        case .rsa(let key):
            signature = Array(
                try key.signature(for: token.bytes, padding: algorithm.padding ?? .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): signature = Array(try key.signature(for: token.bytes).rawRepresentation)
        case .ed25519(let key): signature = Array(try key.signature(for: token.bytes))
        }
        return token.signed(with: signature)
    }

    /// Returns true when the key signed the token with the algorithm that it names.
    func hasSigned(_ token: SignedToken) -> Bool {
        guard let algorithm = token.algorithm.flatMap(JWSAlgorithm.init), kind.algorithms.contains(algorithm) else {
            return false
        }
        return token.isSigned { JSONWebKey.verify(publicKey, algorithm, $0, $1) }
    }
}
