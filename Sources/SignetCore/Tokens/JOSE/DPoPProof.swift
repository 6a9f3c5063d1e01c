#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A DPoP proof (RFC 9449): a JWT that shows that the sender of a request has a private key.
///
/// A value of this type has a valid signature. ``check(for:at:within:acceptsNonce:)`` compares it with the request.
package struct DPoPProof: Sendable, Hashable {
    /// The public key in the header.
    package let key: JSONWebKey
    /// The thumbprint of the key (`jkt`).
    package let thumbprint: String
    /// The ID of the proof (`jti`).
    package let id: String
    /// The time of issue (`iat`).
    package let issuedAt: Date
    /// The nonce; nil when the proof has none.
    package let nonce: String?
    private let claims: [String: JSONValue]

    /// The address to which the proof belongs (`htu`), normalized; nil when it isn't an absolute web address.
    package var url: String? { claims["htu"]?.string.flatMap { DPoPRequest.normalized($0) } }

    /// The HTTP field that contains a proof (RFC 9449 section 4.1), and the name of the authentication scheme (section 7.1).
    package static let field = "DPoP"
    /// The HTTP field in which a server sends a nonce (RFC 9449 section 8).
    package static let nonceField = "DPoP-Nonce"
    /// The token type of a bound access token (RFC 9449 section 5), which is compared without case.
    package static let tokenType = "DPoP"
    /// The type in the header of a proof (RFC 9449 section 4.2).
    package static let type = "dpop+jwt"
    /// The maximum length of a proof, in bytes.
    ///
    /// A proof with an RSA key of 8192 bits has about 3 kB.
    package static let maximumLength = 8192
    /// The maximum length of the ID of a proof, in bytes.
    private static let maximumIDLength = 256

    /// Returns a proof for a request, which the caller signs.
    /// - Parameters:
    ///   - request: The request to which the proof belongs.
    ///   - key: The public key.
    ///   - algorithm: The algorithm of the signature.
    ///   - now: The current time, by the server's clock if it is known.
    ///   - id: A new random ID (at least 96 bits).
    ///   - nonce: The server's last nonce; nil when it sent none.
    /// - Returns: The unsigned proof.
    package static func unsigned(
        for request: DPoPRequest, key: JSONWebKey, algorithm: JWSAlgorithm, at now: Date, id: String, nonce: String? = nil
    ) -> UnsignedToken {
        var claims: [String: JSONValue] = [
            "htm": .string(request.method), "htu": .string(request.url), "jti": .string(id),
            "iat": .integer(Int64(now.timeIntervalSince1970)),
        ]
        claims["ath"] = request.accessTokenHash.map { .string($0) }
        claims["nonce"] = nonce.map { .string($0) }
        return UnsignedToken(
            header: [
                "typ": .string(type), "alg": .string(algorithm.rawValue), "jwk": .object(key.requiredMembers),
            ], claims: claims)
    }

    /// Reads a proof and verifies its signature with the key in its header.
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - algorithms: The accepted algorithms.
    ///   - verify: Verifies the signature. The default verifies ES256 and EdDSA.
    /// - Throws: ``DPoPError``.
    package init(
        _ text: String, algorithms: [JWSAlgorithm] = [.es256, .edDSA],
        verifiedBy verify: JWSVerifier = { key, algorithm, signature, input in key.isValid(signature, of: input, algorithm) }
    ) throws(DPoPError) {
        guard text.utf8.count <= Self.maximumLength, let token = SignedToken(text) else { throw DPoPError(.form) }
        guard token.header["typ"]?.string?.lowercased() == Self.type else { throw DPoPError(.type) }
        guard let algorithm = token.algorithm.flatMap({ JWSAlgorithm(rawValue: $0) }), algorithms.contains(algorithm) else {
            throw DPoPError(.algorithm)
        }
        guard let value = token.header["jwk"], let key = try? JSONWebKey(value), key.algorithms.contains(algorithm) else {
            throw DPoPError(.key)
        }
        guard token.isSigned(by: { verify(key, algorithm, $0, $1) }) else { throw DPoPError(.signature) }
        guard let id = token.claims["jti"]?.string, !id.isEmpty, id.utf8.count <= Self.maximumIDLength else {
            throw DPoPError(.identifier)
        }
        guard let seconds = IDTokenRules.seconds(token.claims["iat"]) else { throw DPoPError(.issuedAt) }
        if let nonce = token.claims["nonce"], nonce.string == nil { throw DPoPError(.nonce) }
        self.key = key
        thumbprint = key.thumbprint
        self.id = id
        issuedAt = Date(timeIntervalSince1970: seconds)
        nonce = token.claims["nonce"]?.string
        claims = token.claims
    }

    /// The limits for the time of issue of a proof.
    package struct Window: Sendable, Hashable {
        /// The maximum age of a proof, in seconds.
        package let age: Double
        /// The maximum time by which a proof may be issued in the future, in seconds.
        package let lead: Double

        /// Creates limits; the default is one minute in both directions.
        package init(age: Double = IDTokenRules.leeway, lead: Double = IDTokenRules.leeway) {
            self.age = age
            self.lead = lead
        }
    }

    /// Compares the proof with the request in which it came (RFC 9449 section 4.3).
    ///
    /// The caller compares the thumbprint with that of the access token, and remembers the ID until ``lastUse(within:)``.
    /// - Parameters:
    ///   - request: The request, with its access token if it has one.
    ///   - now: The current time.
    ///   - window: The limits for the time of issue.
    ///   - acceptsNonce: Returns true for a nonce that the server accepts; nil stands for a proof without one. The default accepts
    ///     each.
    /// - Throws: ``DPoPError``; the code `nonce` only when everything else is right.
    package func check(
        for request: DPoPRequest, at now: Date, within window: Window = Window(),
        acceptsNonce: (String?) -> Bool = { _ in true }
    ) throws(DPoPError) {
        guard let method = claims["htm"]?.string, IDTokenRules.areEqual(method, request.method) else { throw DPoPError(.method) }
        guard let url, IDTokenRules.areEqual(url, request.url) else { throw DPoPError(.url) }
        let age = now.timeIntervalSince(issuedAt)
        let areTimesRight = (try? IDTokenRules.checkTimes(claims, now: now.timeIntervalSince1970, areRequired: false)) != nil
        guard -window.lead <= age, age < window.age, areTimesRight else { throw DPoPError(.issuedAt) }
        if let expected = request.accessTokenHash {
            guard let hash = claims["ath"]?.string, ConstantTime.areEqual(hash, expected) else { throw DPoPError(.accessToken) }
        }
        guard acceptsNonce(nonce) else { throw DPoPError(.nonce) }
    }

    /// Returns the time from which the proof isn't accepted any more, until which its ID must be remembered.
    package func lastUse(within window: Window = Window()) -> Date { issuedAt + window.age }
}
