import Crypto
import Foundation
import SignetCore
public import SignetStorage

/// The private key of a client, which signs its assertions with ES256 (RFC 7523 section 2.2, RFC 7518 section 3.4).
///
///     let key = try ClientKey(file: "/etc/billing/client.pem")
///     profile.client?.authentication = .privateKeyJWT(key)
///
/// The server has the public half, which ``publicJWK`` returns for the registration of the client.
public struct ClientKey: Sendable {
    /// The ID of the key (`kid`), with which the server finds the public half.
    public let identifier: String
    private let signer: Signer
    private let publicKey: JSONWebKey

    /// The algorithm of the signatures.
    static let algorithm = JWSAlgorithm.es256
    /// The maximum size of a file with a key, in bytes.
    static let maxSize = 16_384

    /// The private half.
    private enum Signer: Sendable {
        case software(P256.Signing.PrivateKey)
        case key(any SigningKey)
    }

    /// Creates the key of a client from a signing key, for example one in a TPM.
    /// - Parameters:
    ///   - key: The signing key.
    ///   - identifier: The ID of the key at the server; nil for the thumbprint of the public half (RFC 7638).
    /// - Throws: `StoreError` for a key whose public half is not valid.
    public init(_ key: any SigningKey, identifier: String? = nil) throws(StoreError) {
        try self.init(.key(key), key.publicKey, identifier)
    }

    /// Reads the key from a file of mode 0600 that belongs to this user: PEM (PKCS #8 or SEC 1) or a JSON Web Key with its private
    /// member.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - identifier: The ID of the key at the server; nil for the `kid` of a JSON Web Key, or the thumbprint of the public half.
    /// - Throws: `StoreError` when the file can't be read, other users can access it, it is a link, or it has no such key.
    public init(file path: String, identifier: String? = nil) throws(StoreError) {
        try self.init(content: PrivateFile.contents(of: path, limit: Self.maxSize), of: path, identifier: identifier)
    }

    /// Reads the key from the content of a file.
    /// - Parameters:
    ///   - bytes: The content: PEM or a JSON Web Key.
    ///   - name: The name of the file, for the error.
    ///   - identifier: The ID of the key; nil for that of the content or the thumbprint.
    /// - Throws: `StoreError` when the content is not a private key on P-256.
    package init(content bytes: [UInt8], of name: String, identifier: String? = nil) throws(StoreError) {
        let members = (try? JSON.value(of: bytes))?.object
        guard let key = members.map(Self.key(jwk:)) ?? Self.key(pem: bytes) else {
            throw StoreError(
                .invalid, "read \(name)", "it has no private key on P-256: neither PEM without a passphrase nor a JSON Web Key")
        }
        try self.init(.software(key), ES256PublicKey(key.publicKey), identifier ?? members?["kid"]?.string)
    }

    private init(_ signer: Signer, _ point: ES256PublicKey, _ identifier: String?) throws(StoreError) {
        self.signer = signer
        self.identifier = identifier ?? point.thumbprint
        do throws(JSONWebKeyError) {
            publicKey = try JSONWebKey(.p256(x: point.x, y: point.y), identifier: self.identifier, algorithm: Self.algorithm)
        } catch {
            throw StoreError(.corrupt, "use the key of the client", error.description)
        }
    }

    private static func key(pem bytes: [UInt8]) -> P256.Signing.PrivateKey? {
        String(strictUTF8: bytes).flatMap { try? P256.Signing.PrivateKey(pemRepresentation: $0) }
    }

    /// Reads a JSON Web Key with its private member (RFC 7518 section 6.2.2), whose public members must belong to it.
    private static func key(jwk members: [String: JSONValue]) -> P256.Signing.PrivateKey? {
        guard let text = members["d"]?.string, let scalar = try? Base64.decodeURL(text),
            let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar), let stated = ES256PublicKey(jwk: members),
            stated == ES256PublicKey(key.publicKey)
        else { return nil }
        return key
    }

    /// The public half as a JSON Web Key, for the registration of the client: `{"kty":"EC","crv":"P-256",…}`.
    public var publicJWK: String { JSON.text(of: publicKey.json) }

    /// Returns a new assertion.
    /// - Parameters:
    ///   - clientID: The client ID.
    ///   - audience: The issuer of the server, or the address of its token endpoint.
    ///   - now: The current time.
    /// - Returns: The signed assertion.
    /// - Throws: The errors of the key.
    func assertion(from clientID: String, to audience: String, at now: Date) async throws(StoreError) -> String {
        try await signed(
            ClientAssertion.unsigned(
                clientID: clientID, audience: audience, key: publicKey, algorithm: Self.algorithm, at: now, id: Self.newID()))
    }

    /// Returns a signed request with these parameters (OpenID Connect CIBA section 7.1.1).
    func request(
        _ parameters: [(name: String, value: String)], from clientID: String, to audience: String, at now: Date
    ) async throws(StoreError) -> String {
        let seconds = Int64(now.timeIntervalSince1970)
        var claims = Dictionary(parameters.map { ($0.name, JSONValue.string($0.value)) }, uniquingKeysWith: { $1 })
        claims["iss"] = .string(clientID)
        claims["aud"] = .string(audience)
        claims["jti"] = .string(Self.newID())
        claims["iat"] = .integer(seconds)
        claims["nbf"] = .integer(seconds)
        claims["exp"] = .integer(seconds + 60)
        return try await signed(
            UnsignedToken(header: ["alg": .string(Self.algorithm.rawValue), "kid": .string(identifier)], claims: claims))
    }

    /// Returns an unpredictable ID of 128 bits.
    private static func newID() -> String { Base64.encode(Secret.random(byteCount: 16).bytes, as: .url) }

    private func signed(_ token: UnsignedToken) async throws(StoreError) -> String {
        switch signer {
        case .key(let key): return token.signed(with: try await key.signature(of: token.bytes))
        case .software(let key):
            guard let signature = try? key.signature(for: token.bytes).rawRepresentation else {
                throw StoreError(.failed, "sign with the key of the client", "the library refused")
            }
            return token.signed(with: Array(signature))
        }
    }
}

extension ClientKey: Hashable, CustomStringConvertible, CustomReflectable {
    /// Compares the public halves and the IDs of two keys.
    public static func == (left: ClientKey, right: ClientKey) -> Bool { left.publicKey == right.publicKey }

    /// Hashes the public half and the ID.
    public func hash(into hasher: inout Hasher) { hasher.combine(publicKey) }

    /// The ID of the key, and never the private half.
    public var description: String { "<key \(identifier)>" }

    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
