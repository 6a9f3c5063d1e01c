/// A JWS in compact form (RFC 7515 section 7.1) before it is signed.
///
/// The signature comes from a key that may be in hardware, so that signing isn't part of this type.
package struct UnsignedToken: Sendable, Hashable {
    /// The text that is signed (RFC 7515 section 2): the header and the payload.
    package let signingInput: String

    /// Creates a token from the members of its header and its payload.
    package init(header: [String: JSONValue], claims: [String: JSONValue]) {
        func part(_ members: [String: JSONValue]) -> String { Base64.encode(JSON.encode(JSONValue.object(members)), as: .url) }
        signingInput = "\(part(header)).\(part(claims))"
    }

    /// The bytes that are signed.
    package var bytes: [UInt8] { Array(signingInput.utf8) }

    /// Returns the token with its signature.
    package func signed(with signature: some Collection<UInt8>) -> String {
        "\(signingInput).\(Base64.encode(signature, as: .url))"
    }
}
