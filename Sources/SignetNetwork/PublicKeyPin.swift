import Crypto
import SignetCore

/// A server's key that a client insists on: the SHA-256 of its SubjectPublicKeyInfo in DER, whatever kind of key it is.
///
/// Made from a certificate with
///
///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes of the digest.
    package let digest: [UInt8]

    /// A pin in base64, with `sha256/` in front of it or not, as OkHttp and HPKP write it.
    /// - Throws: ``Invalid`` when it is not base64 of 32 bytes.
    public init(_ text: String) throws(Invalid) {
        let prefix = "sha256/"
        let digits = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        guard let bytes = try? Base64.decode(digits), bytes.count == 32 else { throw Invalid() }
        digest = bytes
    }

    /// The pin of a key.
    /// - Parameter subjectPublicKeyInfo: The key in DER.
    public init(of subjectPublicKeyInfo: some Sequence<UInt8>) {
        digest = Array(SHA256.hash(data: Array(subjectPublicKeyInfo)))
    }

    /// What was given is no SHA-256 in base64.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// What a pin looks like.
        public var description: String { "a pin is the base64 of a SHA-256: 44 characters, the last of them =" }
    }

    /// The digest in base64.
    public var description: String { Base64.encode(digest, as: .standard) }
}
