import JWTKit
package import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The signature keys of a server from its JWKS.
///
/// Keys that can't be read are skipped.
package struct ServerKeys: Sendable {
    /// One key, with the signature checks that were prepared for it.
    fileprivate final class Key: Sendable {
        let jwk: JWK
        let identifier: String?
        let kind: String
        let algorithm: String?
        private let checks = Mutex<[String: any JWTAlgorithm]>([:])

        init(jwk: JWK, identifier: String?, kind: String, algorithm: String?) {
            self.jwk = jwk
            self.identifier = identifier
            self.kind = kind
            self.algorithm = algorithm
        }

        /// Returns the check of signatures of an algorithm; nil when the key can't be used with it.
        ///
        /// To read a key takes longer than to check a signature with it, so the check is kept.
        func check(for algorithm: String) async -> (any JWTAlgorithm)? {
            if let check = checks.withLock({ $0[algorithm] }) { return check }
            let collection = JWTKeyCollection()
            // The collection contains only this key, because the library would select a key by the ID in the token. The library
            // reads neither the header nor the claims.
            guard (try? await collection.add(jwk: jwk)) != nil, let check = try? await collection.getKey(alg: algorithm) else {
                return nil
            }
            checks.withLock { $0[algorithm] = check }
            return check
        }
    }

    private let keys: [Key]

    /// Reads the keys of a JWKS document.
    package init(_ document: [String: JSONValue]) {
        keys = (document["keys"]?.array ?? []).compactMap { entry in
            guard let kind = entry["kty"]?.string, ["RSA", "EC", "OKP"].contains(kind), Self.mayVerify(entry),
                Self.hasUnpaddedNumbers(entry)
            else { return nil }
            // The library requires an ID for each key, and may reject members that it doesn't know.
            var members = (entry.object ?? [:]).filter { ["kty", "n", "e", "x", "y", "crv"].contains($0.key) }
            members["kid"] = .string("key")
            guard let jwk = try? JSON.decode(JWK.self, from: JSON.encode(JSONValue.object(members))) else { return nil }
            return Key(jwk: jwk, identifier: entry["kid"]?.string, kind: kind, algorithm: entry["alg"]?.string)
        }
    }

    /// Returns true when a key may verify signatures: `use` and `key_ops` are missing or allow it (RFC 7517 sections 4.2 and 4.3).
    ///
    /// Null counts as missing.
    private static func mayVerify(_ entry: JSONValue) -> Bool {
        if let use = entry["use"], use != .null, use != .string("sig") { return false }
        guard let value = entry["key_ops"], value != .null else { return true }
        let operations = value.array ?? []
        let names = operations.compactMap(\.string)
        return names.count == operations.count && Set(names).count == names.count && names.contains("verify")
    }

    /// Returns true when the numbers of a key are base64url without padding (RFC 7518 sections 6.2.1 and 6.3.1, RFC 8037 section
    /// 2).
    private static func hasUnpaddedNumbers(_ entry: JSONValue) -> Bool {
        for name in ["n", "e", "x", "y"] {
            guard let number = entry[name], number != .null else { continue }
            guard let text = number.string, (try? Base64.decodeURL(text)) != nil else { return false }
        }
        return true
    }

    /// Verifies the signature of a token with the keys.
    /// - Throws: `IDTokenError` with the code `signature`, and an explanation when the server has no usable key for the token.
    package func verify(_ token: SignedClaims) async throws(IDTokenError) {
        var hasUsableKey = false
        for key in keys where key.fits(token) {
            guard let check = await key.check(for: token.algorithm) else { continue }
            if token.isSigned(by: { try check.verify($0, signs: $1) }) { return }
            hasUsableKey = true
        }
        guard !hasUsableKey else { throw IDTokenError(.signature) }
        let name = token.keyIdentifier.map { " with the ID \"\(OAuthError.plain($0))\"" } ?? ""
        throw IDTokenError(.signature, explanation: "the server has no usable key for \(token.algorithm)\(name)")
    }
}

extension ServerKeys.Key {
    fileprivate func fits(_ token: SignedClaims) -> Bool {
        guard identifier == nil || token.keyIdentifier == nil || identifier == token.keyIdentifier else { return false }
        guard algorithm == nil || algorithm == token.algorithm else { return false }
        return switch token.algorithm.prefix(2) {
        case "RS", "PS": kind == "RSA"
        case "ES": kind == "EC"
        default: kind == "OKP"
        }
    }
}

/// The algorithm and the claims of a signed token.
///
/// The signature of a token from a response must be verified before the claims are used (``ServerKeys/verify(_:)``). Stored tokens
/// were verified when they were received.
package struct SignedClaims: Sendable {
    /// The signature algorithm in the header.
    package let algorithm: String
    let keyIdentifier: String?
    private let token: SignedToken

    /// The members of the header.
    package var header: [String: JSONValue] { token.header }
    /// The claims.
    package var claims: [String: JSONValue] { token.claims }

    /// Reads a token, which must use one of the accepted asymmetric algorithms.
    package init(_ text: Secret) throws(IDTokenError) {
        guard let token = SignedToken(text.text) else { throw IDTokenError(.form) }
        guard let algorithm = token.algorithm, IDTokenRules.algorithms.contains(algorithm) else { throw IDTokenError(.algorithm) }
        self.algorithm = algorithm
        self.token = token
        keyIdentifier = token.header["kid"]?.string
    }

    func isSigned(by verify: (_ signature: [UInt8], _ signingInput: [UInt8]) throws -> Bool) -> Bool {
        token.isSigned(by: verify)
    }

    /// Returns the claims of a token that was verified when it was received; nil when they can't be read.
    static func claims(of stored: Secret) -> [String: JSONValue]? { SignedToken(stored.text)?.claims }

    /// Returns the subject of a token that was verified when it was received.
    /// - Throws: `IDTokenError` when the token has no readable subject, because a response about an unknown subject can't be
    ///   compared with it.
    static func subject(of stored: Secret) throws(IDTokenError) -> String {
        guard let subject = claims(of: stored)?["sub"]?.string else { throw IDTokenError(.subject) }
        return subject
    }
}
