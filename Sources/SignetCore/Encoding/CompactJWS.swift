import Crypto

/// A JSON Web Signature in compact form (RFC 7515) with HMAC-SHA-256 only.
///
/// All push messages, registrations and answers have this form.
///
/// The form and the algorithm are checked first, then the signature over the received bytes, in constant time. The claims are
/// read only after that. The only exception is `unverifiedPayload()`.
public struct CompactJWS: Sendable {
    private let signingInput: Substring
    private let header: Substring
    private let payload: Substring
    private let signature: Substring

    /// Splits `text` at its two dots.
    /// - Throws: ``JWSError/form`` when the text does not have exactly two dots.
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

    /// Returns the payload after the algorithm and the signature have been verified.
    /// - Throws: ``JWSError``.
    public func payload(verifiedWith secret: Secret) throws(JWSError) -> [UInt8] {
        guard try hasExpectedAlgorithm() else { throw .algorithm }
        guard let signature = try? Base64.decode(signature) else { throw .signature }
        let mac = Self.mac(of: signingInput, secret: secret)
        guard mac.withUnsafeBytes({ ConstantTime.areEqual($0, signature) }) else { throw .signature }
        return try unverifiedPayload()
    }

    /// Returns the payload without verifying the signature.
    ///
    /// Use it only to find the secret that verifies the message.
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

    /// The header `{"typ":"JWT","alg":"HS256"}`.
    ///
    /// It has exactly these two members, because one SDK verifies no other header.
    private static let standardHeader = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9"

    private func hasExpectedAlgorithm() throws(JWSError) -> Bool {
        if header == Self.standardHeader { return true }
        guard let bytes = try? Base64.decode(header), let json = try? JSON.value(of: bytes) else {
            throw .form
        }
        // RFC 7515 section 4.1.11: extensions in `crit` must be understood, and this implementation supports none.
        return json["alg"] == .string("HS256") && json["crit"] == nil
    }

    private static func mac(of text: Substring, secret: Secret) -> HMAC<SHA256>.MAC {
        var text = text
        return text.withUTF8 { HMAC<SHA256>.authenticationCode(for: $0, using: secret.key) }
    }
}

/// An error that reports an invalid signed message.
///
/// The error is its own code.
public struct JWSError: Error, ErrorCode {
    /// The text does not consist of three base64url segments, or the header is not JSON.
    public static let form = JWSError(rawValue: "not a compact JWS")
    /// The header has an algorithm other than HS256, or a critical extension.
    public static let algorithm = JWSError(rawValue: "the algorithm is not HS256")
    /// The signature does not match the secret.
    public static let signature = JWSError(rawValue: "the signature does not match")

    /// All errors of this version.
    public static let allCases: [JWSError] = [.form, .algorithm, .signature]

    /// A description of the error.
    public let rawValue: String

    /// Creates an error from its description.
    public init(rawValue: String) { self.rawValue = rawValue }
}
