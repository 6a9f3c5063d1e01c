import Foundation
import SignetCore

/// The checks of token responses.
extension AuthorizationServerClient {
    /// Returns the values for a new authorization request that a user has to answer, with additional parameters beside those of
    /// the client.
    func attempt(adding parameters: [String: String] = [:]) -> AuthorizationAttempt {
        .new(adding: parameters, begun: clock.now)
    }

    /// Returns the tokens of a new grant after checking them.
    ///
    /// When the check fails, they are revoked if possible. Only an authorization request of OpenID Connect requires an ID token.
    func taken(
        _ answer: TokenAnswer, attempt: AuthorizationAttempt? = nil, requiresIDToken: Bool = true
    ) async throws -> AccessToken {
        do {
            try await check(answer, attempt: attempt, requiresIDToken: requiresIDToken)
        } catch {
            // The type of the refused token may be any text, and is not sent.
            let token = AccessToken(
                value: answer.token.value, issuedAt: answer.token.issuedAt, refreshToken: answer.token.refreshToken)
            try? await revoke(token)
            throw error
        }
        return answer.token
    }

    /// Checks the token response of a new grant and its ID token (OpenID Connect Core section 3.1.3.7).
    /// - Parameters:
    ///   - answer: The response of the token endpoint.
    ///   - attempt: The authorization request; nil for a grant without such a request.
    ///   - requiresIDToken: True when the scope `openid` requires an ID token.
    /// - Throws: `OAuthError` when the tokens can't be used; `IDTokenError` when the ID token is missing or not valid; the errors
    ///   of the requests for the issuer and the keys.
    private func check(_ answer: TokenAnswer, attempt: AuthorizationAttempt?, requiresIDToken: Bool) async throws {
        try TokenResponse.check(answer.token)
        let client = try client
        let requestsIDToken = client.scopes.contains("openid")
        guard let idToken = answer.token.idToken else {
            // A server can't drop the scope without a word: the login would have no user (OpenID Connect Core section 3.1.3.3).
            let isGranted = answer.token.scope.split(separator: " ").contains("openid")
            guard !requiresIDToken || !requestsIDToken && !isGranted else { throw IDTokenError(.form) }
            return
        }
        let (signed, issuer) = try await signedClaims(of: idToken, for: client)
        let requested = attempt.map { attempt in
            RequestedAuthentication(
                client.authorizationParameters.merging(attempt.addedParameters) { $1 },
                duration: attempt.begun.map { answer.token.issuedAt.timeIntervalSince($0) } ?? 0,
                requiresContext: client.requiresACR)
        }
        try IDTokenRules(
            issuer: issuer, clientID: client.clientID, trustedAudiences: client.trustedAudiences,
            nonce: requestsIDToken ? attempt?.nonce : nil, accessToken: answer.token.value, requested: requested
        ).check(signed.claims, algorithm: signed.algorithm, now: answer.now)
    }

    /// Checks the response to a refresh and its ID token, which may be missing (OpenID Connect Core section 12.2).
    /// - Parameters:
    ///   - answer: The response of the token endpoint.
    ///   - previous: The claims of the stored ID token; nil when none is stored.
    /// - Returns: True when the ID token of the response, if there is one, replaces the stored one.
    /// - Throws: `OAuthError` when the tokens can't be used; `IDTokenError` when the ID token isn't valid; the errors of the
    ///   requests for the issuer and the keys.
    func isReplacement(_ answer: TokenAnswer, of previous: IDTokenRules.Previous?) async throws -> Bool {
        try TokenResponse.check(answer.token)
        guard let idToken = answer.token.idToken else { return true }
        let client = try client
        let (signed, issuer) = try await signedClaims(of: idToken, for: client)
        return try IDTokenRules(
            issuer: issuer, clientID: client.clientID, trustedAudiences: client.trustedAudiences, nonce: nil,
            accessToken: answer.token.value, previous: previous
        ).isReplacement(
            signed.claims, algorithm: signed.algorithm, now: answer.now, clocksDiffer: answer.clocksDiffer)
    }

    /// Returns the claims of an ID token whose signature and algorithm are right, and the issuer that they must name.
    private func signedClaims(
        of idToken: Secret, for client: OAuthClient
    ) async throws -> (signed: SignedClaims, issuer: String) {
        let signed = try await verified(idToken)
        guard let issuer = try await issuer().name else { throw IDTokenError(.issuer) }
        guard accepts(signed.algorithm, for: client) else { throw IDTokenError(.algorithm) }
        return (signed, issuer)
    }

    /// Returns true when an ID token may be signed with an algorithm: the one that the app expects, or else one of those in the
    /// discovery document if it was read and lists some.
    private func accepts(_ algorithm: String, for client: OAuthClient) -> Bool {
        if let expected = client.idTokenSignedResponseAlg { return algorithm == expected }
        let listed = known.idTokenSigningAlgs
        return listed.isEmpty || listed.contains(algorithm)
    }
}
