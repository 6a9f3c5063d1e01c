/// A JSON Web Signature in compact form (RFC 7515 section 7.1) whose payload is a JSON object, such as an ID token.
///
/// The text is read once. The check of the signature and the rules for the claims use the parts of this value, so that what is
/// verified is what is used. Nothing is verified before ``isSigned(by:)`` returns true.
package struct SignedToken: Sendable {
    /// The members of the header.
    package let header: [String: JSONValue]
    /// The members of the payload.
    package let claims: [String: JSONValue]
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    /// Reads a token.
    ///
    /// Returns nil for a text that doesn't consist of three base64url segments without padding, and when the header or the payload
    /// isn't a JSON object, or contains a name twice.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = try? Base64.decodeURL(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// The signature algorithm in the header; nil when the header has none, and when it has a critical parameter (`crit`), because
    /// this package supports no extension (RFC 7515 section 4.1.11).
    package var algorithm: String? { header["crit"] == nil ? header["alg"]?.string : nil }

    /// Returns the result of a check of the signature.
    /// - Parameter verify: A function that returns true when a signature of these bytes is valid.
    /// - Returns: The result of `verify`; false when it throws.
    package func isSigned(by verify: (_ signature: [UInt8], _ signingInput: [UInt8]) throws -> Bool) -> Bool {
        (try? verify(signature, signingInput)) ?? false
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        guard let bytes = try? Base64.decodeURL(part) else { return nil }
        return (try? JSON.value(of: bytes))?.object
    }
}
