#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A JWT that a client signs for a server: one with which it authenticates (RFC 7523 section 2.2, `private_key_jwt` of OpenID
/// Connect Core section 9), or a signed request (CIBA section 7.1.1).
///
/// Nothing is verified before ``check(keys:audiences:at:algorithms:maximumLifetime:verifiedBy:)`` returns.
package struct ClientAssertion: Sendable {
    /// The client that the assertion names in `iss`, and an assertion for its authentication in `sub` too.
    package let clientID: String
    /// The ID of the assertion (`jti`).
    package let id: String
    /// The time at which the assertion expires (`exp`).
    package let expiresAt: Date
    private let token: SignedToken

    /// All claims of the assertion.
    package var claims: [String: JSONValue] { token.claims }

    /// The value of the parameter `client_assertion_type` (RFC 7523 section 2.2).
    package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The maximum length of an assertion, in bytes.
    private static let maximumLength = 8192
    /// The maximum length of the ID of an assertion, in bytes.
    private static let maximumIDLength = 256

    /// Returns an assertion, which the caller signs.
    /// - Parameters:
    ///   - clientID: The ID of the client.
    ///   - audience: The issuer of the server, or the address of the endpoint.
    ///   - key: The public key, whose ID is written to the header.
    ///   - algorithm: The algorithm of the signature.
    ///   - now: The current time, by the server's clock if it is known.
    ///   - lifetime: The time until the assertion expires.
    ///   - id: A new random ID.
    /// - Returns: The unsigned assertion.
    package static func unsigned(
        clientID: String, audience: String, key: JSONWebKey, algorithm: JWSAlgorithm, at now: Date,
        lifetime: Duration = .seconds(60), id: String
    ) -> UnsignedToken {
        let seconds = Int64(now.timeIntervalSince1970)
        var header: [String: JSONValue] = ["typ": .string("JWT"), "alg": .string(algorithm.rawValue)]
        header["kid"] = key.identifier.map { .string($0) }
        return UnsignedToken(
            header: header,
            claims: [
                "iss": .string(clientID), "sub": .string(clientID), "aud": .string(audience), "jti": .string(id),
                "iat": .integer(seconds), "nbf": .integer(seconds), "exp": .integer(seconds + lifetime.components.seconds),
            ])
    }

    /// Reads an assertion, to find the client whose keys verify it.
    /// - Parameters:
    ///   - text: The JWT.
    ///   - namesSubject: True for an assertion with which a client authenticates; false for a signed request.
    /// - Throws: ``ClientAssertionError``.
    package init(_ text: String, namesSubject: Bool = true) throws(ClientAssertionError) {
        guard text.utf8.count <= Self.maximumLength, let token = SignedToken(text) else { throw ClientAssertionError(.form) }
        guard let issuer = token.claims["iss"]?.string, !issuer.isEmpty else { throw ClientAssertionError(.client) }
        if namesSubject {
            guard let subject = token.claims["sub"]?.string, IDTokenRules.areEqual(issuer, subject) else {
                throw ClientAssertionError(.client)
            }
        }
        guard let end = IDTokenRules.seconds(token.claims["exp"]) else { throw ClientAssertionError(.expired) }
        guard let id = token.claims["jti"]?.string, !id.isEmpty, id.utf8.count <= Self.maximumIDLength else {
            throw ClientAssertionError(.identifier)
        }
        clientID = issuer
        self.id = id
        expiresAt = Date(timeIntervalSince1970: end)
        self.token = token
    }

    /// Verifies the signature and checks the claims.
    ///
    /// The caller remembers the ID until ``lastUse``.
    /// - Parameters:
    ///   - keys: The public keys of the client.
    ///   - audiences: The accepted audiences: the issuer, and the addresses of the token endpoint and of the requested endpoint.
    ///   - now: The current time.
    ///   - algorithms: The accepted algorithms.
    ///   - maximumLifetime: The maximum time until the assertion expires.
    ///   - verify: Verifies the signature. The default verifies ES256 and EdDSA.
    /// - Throws: ``ClientAssertionError``.
    package func check(
        keys: [JSONWebKey], audiences: [String], at now: Date, algorithms: [JWSAlgorithm] = JWSAlgorithm.allCases,
        maximumLifetime: Duration = .seconds(3600),
        verifiedBy verify: JWSVerifier = { key, algorithm, signature, input in key.isValid(signature, of: input, algorithm) }
    ) throws(ClientAssertionError) {
        guard let algorithm = token.algorithm.flatMap({ JWSAlgorithm(rawValue: $0) }), algorithms.contains(algorithm) else {
            throw ClientAssertionError(.algorithm)
        }
        let identifier = token.header["kid"]?.string
        let usable = keys.filter { key in
            key.algorithms.contains(algorithm) && (identifier == nil || key.identifier == nil || key.identifier == identifier)
        }
        guard !usable.isEmpty else { throw ClientAssertionError(.key) }
        guard usable.contains(where: { key in token.isSigned(by: { verify(key, algorithm, $0, $1) }) }) else {
            throw ClientAssertionError(.signature)
        }
        guard let named = IDTokenRules.audience(token.claims["aud"]),
            named.contains(where: { IDTokenRules.contains(audiences, $0) })
        else { throw ClientAssertionError(.audience) }
        try checkTimes(at: now, maximumLifetime)
    }

    /// The last time at which the assertion is accepted, until which its ID must be remembered.
    package var lastUse: Date { expiresAt + IDTokenRules.leeway }

    private func checkTimes(at now: Date, _ maximumLifetime: Duration) throws(ClientAssertionError) {
        do throws(IDTokenError) {
            try IDTokenRules.checkTimes(token.claims, now: now.timeIntervalSince1970, areRequired: false)
        } catch {
            throw ClientAssertionError(error.code == .expired ? .expired : .notYetValid)
        }
        guard expiresAt <= now + maximumLifetime.seconds + IDTokenRules.leeway else { throw ClientAssertionError(.expired) }
    }
}
