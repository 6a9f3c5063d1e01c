/// A signature algorithm of a JWS (RFC 7518 section 3.1, RFC 8037 section 3.1).
///
/// All are asymmetric: a server that knows a client's public key must not accept a MAC made with it (RFC 8725 section 3.1).
public enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable, Codable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// EdDSA with Ed25519.
    case edDSA = "EdDSA"
}
