import Crypto
import CryptoExtras
import Foundation
import JWTKit
import SignetCore

/// Signs and verifies id_tokens, and signs logout tokens and responses of `userinfo`.
///
/// The keys are stored with the state. They are read, or the first one is generated, when they are first needed, so that the
/// server starts without delay.
actor TokenSigner {
    private let configured: Secret?
    private let kept: SigningKeys
    /// The task that loads the keys; the newest key, which signs, is last.
    private var loading: Task<[Key], any Error>?
    /// The key that is not published, for ``signWithUnknownKey(_:)``; nil until it is needed.
    private var unknownKey: Key?

    /// Creates the signer.
    /// - Parameters:
    ///   - configured: A private key in PEM; nil to generate one.
    ///   - kept: The keys in the stored state.
    init(_ configured: Secret?, _ kept: SigningKeys) {
        self.configured = configured
        self.kept = kept
    }

    /// The key set for verification by clients (RFC 7517 section 5), the newest key first.
    var keySet: [String: JSONValue] {
        get async throws { ["keys": .array(try await keys().reversed().map { .object($0.published) })] }
    }

    /// The type of a signed JWT that needs no other type (RFC 7519 section 5.1), such as an id_token.
    static let plainType = "JWT"
    /// The type of a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4).
    static let logoutType = "logout+jwt"

    /// Signs claims with the newest key.
    /// - Parameters:
    ///   - claims: The claims.
    ///   - type: The type in the header.
    /// - Returns: The JWT.
    /// - Throws: An error when the keys cannot be read, or the configured key isn't valid.
    func sign(_ claims: [String: JSONValue], type: String = plainType) async throws -> String {
        guard let key = try await keys().last else { throw CancellationError() }
        return try key.sign(claims, type: type)
    }

    /// Signs claims with a key that is not in the key set, for a fault.
    /// - Parameter claims: The claims.
    /// - Returns: A JWT whose header names the key (`kid`).
    /// - Throws: An error when the key cannot be generated.
    func signWithUnknownKey(_ claims: [String: JSONValue]) async throws -> String {
        let key: Key
        if let unknownKey { key = unknownKey } else { key = try await Key(try await Key.newPEM()) }
        unknownKey = key
        return try key.sign(claims, type: Self.plainType)
    }

    /// Returns a token that this server signed, even an expired one; nil for any other text.
    ///
    /// JWTKit verifies the signature only; the header and the claims are read once (``SignedToken``).
    func verified(_ text: String) async throws -> SignedToken? {
        guard let token = SignedToken(text), token.algorithm == Self.algorithm else { return nil }
        for key in try await keys().reversed() {
            let algorithm = try await key.collection.getKey(for: key.id, alg: Self.algorithm)
            if token.isSigned(by: { try algorithm.verify($0, signs: $1) }) { return token }
        }
        return nil
    }

    private static let algorithm = "RS256"

    /// Generates a new key, which signs from now on.
    ///
    /// Earlier keys are still published.
    func rotate() async throws {
        _ = try await keys()
        _ = try await kept.add(try await Key.newPEM(), onlyAsFirst: false)
        forget()
    }

    /// Forgets the loaded keys after another server has changed them.
    ///
    /// They are read again when they are needed.
    func forget() { loading = nil }

    /// Returns the keys.
    ///
    /// Concurrent callers share one task that reads or generates them.
    private func keys() async throws -> [Key] {
        let task = loading ?? Task { [configured, kept] in try await Self.load(configured, kept) }
        loading = task
        do {
            return try await task.value
        } catch {
            if loading == task { loading = nil }
            throw error
        }
    }

    private static func load(_ configured: Secret?, _ kept: SigningKeys) async throws -> [Key] {
        var texts = try await kept.all()
        if texts.isEmpty {
            let first: Secret
            if let configured { first = configured } else { first = try await Key.newPEM() }
            texts = try await kept.add(first, onlyAsFirst: true)
        }
        // A key that is new in the configuration signs from now on.
        if let configured, !texts.contains(configured) { texts = try await kept.add(configured, onlyAsFirst: false) }
        var keys: [Key] = []
        for text in texts { keys.append(try await Key(text)) }
        return keys
    }

    private struct Key {
        /// The key for verification.
        let collection: JWTKeyCollection
        let id: JWKIdentifier
        private let privateKey: _RSA.Signing.PrivateKey
        /// The header of a JWT with ``TokenSigner/plainType``, in base64url.
        private let plainHeader: String
        /// The public key as a JWK.
        let published: [String: JSONValue]

        /// Generates a key, as PEM.
        @concurrent
        static func newPEM() async throws -> Secret {
            Secret(try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.utf8)
        }

        /// Reads a private key in PEM.
        init(_ text: Secret) async throws {
            let key = try _RSA.Signing.PrivateKey(pemRepresentation: String(decoding: text.bytes, as: UTF8.self))
            let numbers = try key.publicKey.getKeyPrimitives()
            let modulus = Base64.encode(Array(numbers.modulus), as: .url)
            let exponent = Base64.encode(Array(numbers.publicExponent), as: .url)
            // Compute the JWK thumbprint (RFC 7638).
            let text = "{\"e\":\"\(exponent)\",\"kty\":\"RSA\",\"n\":\"\(modulus)\"}"
            let thumbprint = Base64.encode(Array(SHA256.hash(data: Array(text.utf8))), as: .url)
            id = JWKIdentifier(string: thumbprint)
            privateKey = key
            plainHeader = Self.header(thumbprint, type: TokenSigner.plainType)
            published = [
                "kty": .string("RSA"), "use": .string("sig"), "alg": .string(TokenSigner.algorithm), "kid": .string(thumbprint),
                "n": .string(modulus), "e": .string(exponent),
            ]
            collection = await JWTKeyCollection()
                .add(rsa: try JWTKit.Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256, kid: id)
        }

        /// Returns claims as a signed JWT (RFC 7515 section 7.1).
        func sign(_ claims: [String: JSONValue], type: String) throws -> String {
            let header = type == TokenSigner.plainType ? plainHeader : Self.header(id.string, type: type)
            let input = "\(header).\(Self.part(.object(claims)))"
            let digest = SHA256.hash(data: Array(input.utf8))
            let signature = try privateKey.signature(for: digest, padding: .insecurePKCS1v1_5)
            return "\(input).\(Base64.encode(signature.rawRepresentation, as: .url))"
        }

        private static func header(_ keyID: String, type: String) -> String {
            part(.object(["alg": .string(TokenSigner.algorithm), "kid": .string(keyID), "typ": .string(type)]))
        }

        /// Returns JSON in base64url.
        private static func part(_ value: JSONValue) -> String {
            let bytes: [UInt8] = JSON.encode(value)
            return Base64.encode(bytes, as: .url)
        }
    }
}

extension TokenSigner {
    /// Returns the left half of the access token's SHA-256 (OpenID Connect Core 1.0 section 3.1.3.6).
    static func hash(ofAccessToken token: String) -> String {
        Base64.encode(Array(SHA256.hash(data: Array(token.utf8)).prefix(16)), as: .url)
    }
}
