import Crypto
import SignetCore

/// The pin of a server key that a client requires: the SHA-256 of its SubjectPublicKeyInfo in DER.
///
/// It works for every type of key.
///
/// Compute it from a certificate with
///
///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes of the digest.
    package let digest: [UInt8]

    /// Parses a pin in base64, with or without the prefix `sha256/` that OkHttp and HPKP use.
    /// - Throws: ``Invalid`` when it is not base64 of 32 bytes.
    public init(_ text: String) throws(Invalid) {
        let prefix = "sha256/"
        let digits = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        guard let bytes = try? Base64.decode(digits), bytes.count == 32 else { throw Invalid() }
        digest = bytes
    }

    /// Computes the pin of a key.
    /// - Parameter subjectPublicKeyInfo: The key in DER.
    public init(of subjectPublicKeyInfo: some Sequence<UInt8>) {
        digest = Array(SHA256.hash(data: Array(subjectPublicKeyInfo)))
    }

    /// The error for a text that isn't a SHA-256 in base64.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// A human-readable description of the format of a pin.
        public var description: String { "a pin is the base64 of a SHA-256: 44 characters, the last of them =" }
    }

    /// The digest in base64.
    public var description: String { Base64.encode(digest, as: .standard) }
}
