import JWTKit
import SignetCore
import SignetNetwork

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys with which a server signs, as its JWKS lists them. A key that is not understood does not hide the others.
struct ServerKeys: Sendable {
    fileprivate struct Key: Sendable {
        let jwk: JWK
        let identifier: String?
        let kind: String
        let algorithm: String?
    }

    private let keys: [Key]

    /// The keys of a JWKS document.
    init(_ document: [String: JSONValue]) {
        keys = (document["keys"]?.array ?? []).compactMap { entry in
            guard let kind = entry["kty"]?.string, ["RSA", "EC", "OKP"].contains(kind), entry["use"]?.string ?? "sig" == "sig"
            else { return nil }
            // The library wants a name for each key, and must not be shown what it does not know.
            var members = (entry.object ?? [:]).filter { ["kty", "n", "e", "x", "y", "crv"].contains($0.key) }
            members["kid"] = .string("key")
            guard let jwk = try? JSON.decode(JWK.self, from: JSON.encode(JSONValue.object(members))) else { return nil }
            return Key(jwk: jwk, identifier: entry["kid"]?.string, kind: kind, algorithm: entry["alg"]?.string)
        }
    }

    /// Whether one of them could have made a signature under this name.
    func hasKey(_ identifier: String?) -> Bool {
        identifier == nil ? !keys.isEmpty : keys.contains { $0.identifier == identifier || $0.identifier == nil }
    }

    /// The header and the claims of a token that one of the keys has signed.
    /// - Throws: `IDTokenError`.
    func verified(_ token: Secret) async throws(IDTokenError) -> SignedClaims {
        let header = try SignedClaims.header(of: token)
        for key in keys where key.fits(header) {
            let collection = JWTKeyCollection()
            guard (try? await collection.add(jwk: key.jwk)) != nil else { continue }
            // The library would look for a key by the token's own name for it.
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
        /// The claims are checked by our own rules, once the signature is.
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

/// What a signed token says.
struct SignedClaims: Sendable {
    let algorithm: String
    let claims: [String: JSONValue]

    struct Header: Sendable {
        let algorithm: String
        let keyIdentifier: String?
    }

    /// The header, whose algorithm is one that everybody can verify.
    static func header(of token: Secret) throws(IDTokenError) -> Header {
        guard let header = part(0, of: token) else { throw IDTokenError(.form) }
        guard let algorithm = header["alg"]?.string, IDTokenRules.algorithms.contains(algorithm), header["crit"] == nil else {
            throw IDTokenError(.algorithm)
        }
        return Header(algorithm: algorithm, keyIdentifier: header["kid"]?.string)
    }

    /// The claims of a token that was verified when it came.
    static func claims(of token: Secret) -> [String: JSONValue]? { part(1, of: token) }

    /// Whom such a token names.
    static func subject(of token: Secret) -> String? { claims(of: token)?["sub"]?.string }

    private static func part(_ index: Int, of token: Secret) -> [String: JSONValue]? {
        let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = try? Base64.decode(parts[index]) else { return nil }
        return (try? JSON.value(of: bytes))?.object
    }
}
