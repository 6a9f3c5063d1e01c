import Crypto
import CryptoExtras
import JWTKit
import SignetCore

/// Makes id_tokens, and knows those it has made. The keys are kept with the state. The first one is made, or read, when it is first
/// needed: a server that nobody asks for tokens starts at once.
actor TokenSigner {
    private let configured: Secret?
    private let kept: SigningKeys
    /// The newest key, which signs, stands last.
    private var loading: Task<[Key], any Error>?

    /// - Parameter configured: a private key in PEM; nil to make one.
    init(_ configured: Secret?, _ kept: SigningKeys) {
        self.configured = configured
        self.kept = kept
    }

    /// The key set that clients verify with (RFC 7517 section 5), the newest key first.
    var keySet: [String: JSONValue] {
        get async throws { ["keys": .array(try await keys().reversed().map { .object($0.published) })] }
    }

    func sign(_ claims: [String: JSONValue]) async throws -> String {
        guard let key = try await keys().last else { throw CancellationError() }
        return try await key.collection.sign(Claims(members: claims), kid: key.id, header: ["typ": "JWT"])
    }

    /// The claims of an id_token of this server, an expired one too; nil for anything else.
    func claims(of token: String) async throws -> [String: JSONValue]? {
        for key in try await keys().reversed() {
            if let claims = try? await key.collection.verify(token, as: Claims.self) { return claims.members }
        }
        return nil
    }

    /// Makes a new key, which signs from now on. Those before it go on being published.
    func rotate() async throws {
        _ = try await keys()
        _ = try await kept.add(try await Key.newPEM(), onlyAsFirst: false)
        forget()
    }

    /// Another server has changed the keys: they are read again when they are needed.
    func forget() { loading = nil }

    /// One task reads or makes the keys, however many ask for them.
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
        // A key that the configuration has anew signs from now on.
        if let configured, !texts.contains(configured) { texts = try await kept.add(configured, onlyAsFirst: false) }
        var keys: [Key] = []
        for text in texts { keys.append(try await Key(text)) }
        return keys
    }

    private struct Key {
        let collection: JWTKeyCollection
        let id: JWKIdentifier
        /// The public key, as it is published.
        let published: [String: JSONValue]

        /// A new key, as PEM.
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
            // The thumbprint of RFC 7638.
            let text = "{\"e\":\"\(exponent)\",\"kty\":\"RSA\",\"n\":\"\(modulus)\"}"
            let thumbprint = Base64.encode(Array(SHA256.hash(data: Array(text.utf8))), as: .url)
            id = JWKIdentifier(string: thumbprint)
            published = [
                "kty": .string("RSA"), "use": .string("sig"), "alg": .string("RS256"), "kid": .string(thumbprint),
                "n": .string(modulus), "e": .string(exponent),
            ]
            collection = await JWTKeyCollection()
                .add(rsa: try JWTKit.Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256, kid: id)
        }
    }

    /// Claims of any kind. When they end is the reader's question.
    private struct Claims: JWTPayload {
        let members: [String: JSONValue]

        init(members: [String: JSONValue]) { self.members = members }

        init(from decoder: any Decoder) throws {
            members = try decoder.singleValueContainer().decode([String: JSONValue].self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(members)
        }

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
}

extension TokenSigner {
    /// The left half of the access token's SHA-256 (OpenID Connect Core 1.0 section 3.1.3.6).
    static func hash(ofAccessToken token: String) -> String {
        Base64.encode(Array(SHA256.hash(data: Array(token.utf8)).prefix(16)), as: .url)
    }
}
