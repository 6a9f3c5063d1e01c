public import Foundation
import SignetCore

/// The JWTs of push messages and answers, with the API of the Ping SDK: compact JWS with HS256 (RFC 7515, RFC 7518).
public enum CompactJwt {
    /// Signs claims with a shared secret.
    /// - Parameters:
    ///   - base64Secret: The secret in base64; 32 bytes or more (RFC 7518 section 3.2).
    ///   - claims: The claims. Values that JSON can't express are left out.
    /// - Returns: The JWT.
    /// - Throws: ``JwtError/invalidSecret(_:)``.
    public static func signJwtClaims(base64Secret: String, claims: [String: Any]) throws -> String {
        CompactJWS.sign(JSON.encode(JSONValue(any: claims) ?? .object([:])), with: try secret(base64Secret))
    }

    /// Returns true when the text has the form of a JWT whose claims include `requiredFields`.
    ///
    /// The signature is not checked.
    public static func canParseJwt(_ jwt: String, requiredFields: [String] = []) -> Bool {
        guard let claims = try? claims(jwt) else { return false }
        return requiredFields.allSatisfy { claims[$0] != nil }
    }

    /// Returns true when the JWT is signed with HS256 and the shared secret.
    /// - Throws: ``JwtError/invalidFormat(_:)``, ``JwtError/invalidSecret(_:)``.
    public static func verifyJwtSignature(_ jwt: String, base64Secret: String) throws -> Bool {
        let key = try secret(base64Secret)
        guard let jws = try? CompactJWS(jwt) else { throw JwtError.invalidFormat("not a compact JWS") }
        return (try? jws.payload(verifiedWith: key)) != nil
    }

    /// Returns the claims of a JWT, without checking its signature.
    /// - Throws: ``JwtError/invalidFormat(_:)``, ``JwtError/invalidPayload(_:)``.
    public static func parseJwtClaims(_ jwt: String) throws -> [String: Any] { try claims(jwt).mapValues(\.any) }

    private static func claims(_ jwt: String) throws(JwtError) -> [String: JSONValue] {
        guard let jws = try? CompactJWS(jwt) else { throw .invalidFormat("not a compact JWS") }
        guard let claims = (try? JSON.value(of: jws.unverifiedPayload()))?.object else {
            throw .invalidPayload("not a JSON object")
        }
        return claims
    }

    private static func secret(_ base64: String) throws(JwtError) -> Secret {
        guard let bytes = try? Base64.decode(base64) else { throw .invalidSecret("not base64") }
        guard bytes.count >= 32 else { throw .invalidSecret("shorter than 32 bytes") }
        return Secret(bytes)
    }
}

/// An error of ``CompactJwt``.
public enum JwtError: LocalizedError, Sendable {
    /// The secret is not base64, or too short.
    case invalidSecret(String)
    /// The text isn't a JWT.
    case invalidFormat(String)
    /// The claims are not a JSON object.
    case invalidPayload(String)
    /// The claims cannot be signed.
    case signingFailed(String)
    /// A value cannot be converted.
    case failToConvertData(String)
    /// The algorithm is unknown.
    case unsupportedAlgorithm(String)

    /// A description of the error for people.
    public var errorDescription: String? {
        switch self {
        case .invalidSecret(let text): "Unusable JWT secret: \(text)"
        case .invalidFormat(let text): "Malformed JWT: \(text)"
        case .invalidPayload(let text): "Unusable JWT claims: \(text)"
        case .signingFailed(let text): "The JWT cannot be signed: \(text)"
        case .failToConvertData(let text): "A JWT value cannot be converted: \(text)"
        case .unsupportedAlgorithm(let text): "Unknown JWT algorithm: \(text)"
        }
    }
}
