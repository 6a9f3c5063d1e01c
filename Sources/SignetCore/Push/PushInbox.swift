import Crypto

/// The inbox of one mechanism at a push gateway (docs/guides/push.md).
///
/// The device gives its address to a server that has no push stream, in place of a phone's device token.
///
/// The address is a public key. A client that can sign with the private key may read the inbox, so the gateway needs no
/// registration and stores no secret. The key is derived from the mechanism's secret: nothing else has to be stored, and a
/// repeated registration names the same inbox. The mechanism's server could derive the key too, but it writes the messages
/// anyway.
package struct PushInbox: Sendable {
    /// The address that the server gives to SNS as the device token.
    package let address: String
    private let key: Curve25519.Signing.PrivateKey

    /// The authentication scheme of the `WWW-Authenticate` and `Authorization` headers.
    package static let scheme = "Signet-Inbox"

    private static let prefix = "signet-mailbox-"
    /// The encoded header `{"alg":"EdDSA","typ":"JWT"}`.
    private static let header = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9"

    /// Creates the inbox of the mechanism with this secret.
    package init(of secret: Secret) throws {
        let seed = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret.key, info: Array("signet mailbox 1".utf8), outputByteCount: 32)
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed.withUnsafeBytes { Array($0) })
        address = Self.prefix + Base64.encode(Array(key.publicKey.rawRepresentation), as: .url)
    }

    /// Returns true when `address` is the address of an inbox.
    package static func isAddress(_ address: String) -> Bool { publicKey(of: address) != nil }

    /// Returns a proof that the client holds the private key and received the gateway's nonce: a JWS with EdDSA (RFC 8037).
    package func proof(_ nonce: String) throws -> String {
        let claims: JSONValue = .object(["inbox": .string(address), "nonce": .string(nonce)])
        let input = "\(Self.header).\(Base64.encode(JSON.encode(claims), as: .url))"
        return "\(input).\(Base64.encode(Array(try key.signature(for: Array(input.utf8))), as: .url))"
    }

    /// Returns the address and the nonce of a proof; nil unless the signature matches the key in the address.
    package static func verified(_ proof: String) -> (address: String, nonce: String)? {
        let parts = proof.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == header, let payload = try? Base64.decode(parts[1]),
            let claims = try? JSON.value(of: payload), let address = claims["inbox"]?.string,
            let nonce = claims["nonce"]?.string, let key = publicKey(of: address),
            let signature = try? Base64.decode(parts[2]),
            key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return (address, nonce)
    }

    private static func publicKey(of address: String) -> Curve25519.Signing.PublicKey? {
        guard address.hasPrefix(prefix), let bytes = try? Base64.decode(address.dropFirst(prefix.count)), bytes.count == 32,
            // Only the canonical encoding is accepted, so that an inbox has a single address.
            address == prefix + Base64.encode(bytes, as: .url)
        else { return nil }
        return try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
    }
}
