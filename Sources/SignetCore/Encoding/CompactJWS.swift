import Crypto

/// A JSON Web Signature in compact form (RFC 7515), with HMAC-SHA-256 and nothing else: the form of every push message,
/// registration and answer.
///
/// The form and the algorithm are checked first, then the signature over the bytes as they came, in constant time; only then
/// are the claims looked at. The one exception is `unverifiedPayload()`, which says in its name what it is.
public struct CompactJWS: Sendable {
    private let signingInput: Substring
    private let header: Substring
    private let payload: Substring
    private let signature: Substring

    /// Cuts `text` at its two dots.
    public init(_ text: String) throws(JWSError) {
        var text = text
        let dots = text.withUTF8 { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") } }
        guard dots.count == 2 else { throw .form }
        let (first, second) = (
            text.utf8.index(text.startIndex, offsetBy: dots[0]), text.utf8.index(text.startIndex, offsetBy: dots[1])
        )
        header = text[..<first]
        payload = text[text.utf8.index(after: first)..<second]
        signature = text[text.utf8.index(after: second)...]
        signingInput = text[..<second]
    }

    /// The payload, after the algorithm and the signature have been checked.
    public func payload(verifiedWith secret: Secret) throws(JWSError) -> [UInt8] {
        guard try hasExpectedAlgorithm() else { throw .algorithm }
        guard let signature = try? Base64.decode(signature) else { throw .signature }
        let mac = Self.mac(of: signingInput, secret: secret)
        guard mac.withUnsafeBytes({ ConstantTime.areEqual($0, signature) }) else { throw .signature }
        return try unverifiedPayload()
    }

    /// The payload of a message that nobody has vouched for. Good only for finding out whose secret to verify with.
    package func unverifiedPayload() throws(JWSError) -> [UInt8] {
        guard let bytes = try? Base64.decode(payload) else { throw .form }
        return bytes
    }

    /// Signs `payload`.
    public static func sign(_ payload: some Collection<UInt8>, with secret: Secret) -> String {
        let input = "\(standardHeader).\(Base64.encode(payload, as: .url))"
        let signature = mac(of: input[...], secret: secret)
        return "\(input).\(signature.withUnsafeBytes { Base64.encode($0, as: .url) })"
    }

    /// `{"typ":"JWT","alg":"HS256"}`: exactly these two members, since one SDK verifies no other header.
    private static let standardHeader = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9"

    private func hasExpectedAlgorithm() throws(JWSError) -> Bool {
        if header == Self.standardHeader { return true }
        guard let bytes = try? Base64.decode(header), let json = try? JSON.value(of: bytes) else {
            throw .form
        }
        // RFC 7515 section 4.1.11: what the header calls critical must be understood, and nothing beyond the basics is.
        return json["alg"] == .string("HS256") && json["crit"] == nil
    }

    private static func mac(of text: Substring, secret: Secret) -> HMAC<SHA256>.MAC {
        var text = text
        return text.withUTF8 { HMAC<SHA256>.authenticationCode(for: $0, using: secret.key) }
    }
}

/// Why a signed message was refused.
public enum JWSError: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// Not three segments of base64url, or a header that is not JSON.
    case form
    /// The header asks for something other than HS256, or for an extension.
    case algorithm
    /// The signature is not the secret's.
    case signature

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .form: "not a compact JWS"
        case .algorithm: "the algorithm is not HS256"
        case .signature: "the signature does not match"
        }
    }
}
