import Crypto

/// The mailbox of one mechanism at a push front (docs/push.md): what a server without a desk is told in the place of a phone's token.
///
/// Its address is a public key, and who can sign with that key may read it: the front has to be told nothing, and keeps no secret. The
/// key is made of the mechanism's secret, so there is nothing to store beside it, and a registration that is repeated names the same
/// mailbox. The mechanism's server could make it too; it is the one who writes the messages.
package struct PushMailbox: Sendable {
    /// What the server gives to SNS as the device's token.
    package let address: String
    private let key: Curve25519.Signing.PrivateKey

    /// The authentication scheme of the `WWW-Authenticate` and `Authorization` headers.
    package static let scheme = "Signet-Mailbox"

    private static let prefix = "signet-mailbox-"
    /// `{"alg":"EdDSA","typ":"JWT"}`.
    private static let header = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9"

    /// The mailbox of the mechanism with this secret.
    package init(of secret: Secret) throws {
        let seed = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret.key, info: Array("signet mailbox 1".utf8), outputByteCount: 32)
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed.withUnsafeBytes { Array($0) })
        address = Self.prefix + Base64.encode(Array(key.publicKey.rawRepresentation), as: .url)
    }

    /// Whether `address` is that of a mailbox.
    package static func isAddress(_ address: String) -> Bool { publicKey(of: address) != nil }

    /// Shows who knows the key that the front's nonce was seen: a JWS with EdDSA (RFC 8037).
    package func proof(_ nonce: String) throws -> String {
        let claims: JSONValue = .object(["mailbox": .string(address), "nonce": .string(nonce)])
        let input = "\(Self.header).\(Base64.encode(JSON.encode(claims), as: .url))"
        return "\(input).\(Base64.encode(Array(try key.signature(for: Array(input.utf8))), as: .url))"
    }

    /// The mailbox that a proof is for, and the nonce that it answers; nil unless the signature is that of the mailbox's key.
    package static func verified(_ proof: String) -> (address: String, nonce: String)? {
        let parts = proof.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == header, let payload = try? Base64.decode(parts[1]),
            let claims = try? JSON.value(of: payload), let address = claims["mailbox"]?.string,
            let nonce = claims["nonce"]?.string, let key = publicKey(of: address),
            let signature = try? Base64.decode(parts[2]),
            key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return (address, nonce)
    }

    private static func publicKey(of address: String) -> Curve25519.Signing.PublicKey? {
        guard address.hasPrefix(prefix), let bytes = try? Base64.decode(address.dropFirst(prefix.count)), bytes.count == 32,
            // One mailbox has one address.
            address == prefix + Base64.encode(bytes, as: .url)
        else { return nil }
        return try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
    }
}
