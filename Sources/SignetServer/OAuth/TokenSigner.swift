import Crypto
import CryptoExtras
import JWTKit
import SignetCore

/// Makes id_tokens, and knows those it has made. The key is made, or read, when it is first needed: a server that nobody asks
/// for tokens starts at once.
actor TokenSigner {
    private let configured: Secret?
    /// The newest one, which signs, stands last.
    private var keys: [Task<Key, any Error>] = []

    /// - Parameter configured: a private key in PEM; nil to make one.
    init(_ configured: Secret?) {
        self.configured = configured
    }

    /// The key set that clients verify with (RFC 7517 section 5), the newest key first.
    var keySet: [String: JSONValue] {
        get async throws {
            _ = newest
            var published: [JSONValue] = []
            for key in keys.reversed() { published.append(.object(try await key.value.published)) }
            return ["keys": .array(published)]
        }
    }

    func sign(_ claims: [String: JSONValue]) async throws -> String {
        let key = try await newest.value
        return try await key.collection.sign(Claims(members: claims), kid: key.id, header: ["typ": "JWT"])
    }

    /// The claims of an id_token of this server, an expired one too; nil for anything else.
    func claims(of token: String) async throws -> [String: JSONValue]? {
        _ = newest
        for key in keys.reversed() {
            if let claims = try? await key.value.collection.verify(token, as: Claims.self) { return claims.members }
        }
        return nil
    }

    /// Makes a new key, which signs from now on. Those before it go on being published.
    func rotate() async throws {
        _ = try await newest.value
        let task = Task { try await Key(nil) }
        _ = try await task.value
        keys.append(task)
    }

    /// One task makes the key, however many ask for it.
    private var newest: Task<Key, any Error> {
        if let last = keys.last { return last }
        let task = Task { [configured] in try await Key(configured) }
        keys = [task]
        return task
    }

    private struct Key {
        let collection: JWTKeyCollection
        let id: JWKIdentifier
        /// The public key, as it is published.
        let published: [String: JSONValue]

        init(_ configured: Secret?) async throws {
            let key =
                if let configured {
                    try _RSA.Signing.PrivateKey(pemRepresentation: String(decoding: configured.bytes, as: UTF8.self))
                } else {
                    try _RSA.Signing.PrivateKey(keySize: .bits2048)
                }
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
