import JWTKit
import SignetCore

/// The signature keys of a server from its JWKS.
///
/// Keys that can't be read are skipped.
struct ServerKeys: Sendable {
    fileprivate struct Key: Sendable {
        let jwk: JWK
        let identifier: String?
        let kind: String
        let algorithm: String?
    }

    private let keys: [Key]

    /// Reads the keys of a JWKS document.
    init(_ document: [String: JSONValue]) {
        keys = (document["keys"]?.array ?? []).compactMap { entry in
            guard let kind = entry["kty"]?.string, ["RSA", "EC", "OKP"].contains(kind), entry["use"]?.string ?? "sig" == "sig"
            else { return nil }
            // The library requires an ID for each key, and may reject members that it doesn't know.
            var members = (entry.object ?? [:]).filter { ["kty", "n", "e", "x", "y", "crv"].contains($0.key) }
            members["kid"] = .string("key")
            guard let jwk = try? JSON.decode(JWK.self, from: JSON.encode(JSONValue.object(members))) else { return nil }
            return Key(jwk: jwk, identifier: entry["kid"]?.string, kind: kind, algorithm: entry["alg"]?.string)
        }
    }

    /// Returns true when one of the keys may have created a signature with this key ID.
    func hasKey(_ identifier: String?) -> Bool {
        identifier == nil ? !keys.isEmpty : keys.contains { $0.identifier == identifier || $0.identifier == nil }
    }

    /// Verifies a token with the keys, and returns its algorithm and claims.
    /// - Throws: `IDTokenError`.
    func verified(_ token: Secret) async throws(IDTokenError) -> SignedClaims {
        let header = try SignedClaims.header(of: token)
        for key in keys where key.fits(header) {
            let collection = JWTKeyCollection()
            guard (try? await collection.add(jwk: key.jwk)) != nil else { continue }
            // The collection contains only this key, because the library would select a key by the ID in the token.
            if let payload = try? await collection.verify(token.text, as: AnyPayload.self) {
                return SignedClaims(algorithm: header.algorithm, claims: payload.claims)
            }
        }
        throw IDTokenError(.signature)
    }

    private struct AnyPayload: JWTPayload {
        let claims: [String: JSONValue]

        init(from decoder: any Decoder) throws {
            claims = try [String: JSONValue](from: decoder)
        }

        func encode(to encoder: any Encoder) throws { try claims.encode(to: encoder) }
        /// Does nothing.
        ///
        /// Signet checks the claims with its own rules after the signature is verified.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

extension ServerKeys.Key {
    fileprivate func fits(_ header: SignedClaims.Header) -> Bool {
        guard identifier == nil || header.keyIdentifier == nil || identifier == header.keyIdentifier else { return false }
        guard algorithm == nil || algorithm == header.algorithm else { return false }
        return switch header.algorithm.prefix(2) {
        case "RS", "PS": kind == "RSA"
        case "ES": kind == "EC"
        default: kind == "OKP"
        }
    }
}

/// The algorithm and the claims of a signed token.
struct SignedClaims: Sendable {
    let algorithm: String
    let claims: [String: JSONValue]

    struct Header: Sendable {
        let algorithm: String
        let keyIdentifier: String?
    }

    /// Returns the header of a token, which must use one of the accepted asymmetric algorithms.
    static func header(of token: Secret) throws(IDTokenError) -> Header {
        guard let header = part(0, of: token) else { throw IDTokenError(.form) }
        guard let algorithm = header["alg"]?.string, IDTokenRules.algorithms.contains(algorithm), header["crit"] == nil else {
            throw IDTokenError(.algorithm)
        }
        return Header(algorithm: algorithm, keyIdentifier: header["kid"]?.string)
    }

    /// Returns the claims of a token that was verified when it was received.
    static func claims(of token: Secret) -> [String: JSONValue]? { part(1, of: token) }

    /// Returns the subject of a token that was verified when it was received.
    static func subject(of token: Secret) -> String? { claims(of: token)?["sub"]?.string }

    private static func part(_ index: Int, of token: Secret) -> [String: JSONValue]? {
        let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = try? Base64.decode(parts[index]) else { return nil }
        return (try? JSON.value(of: bytes))?.object
    }
}
