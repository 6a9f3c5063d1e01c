import SignetCore
import SignetNetwork

/// A response to a refresh that was refused.
///
/// The refresh token was used, and the server may have issued new tokens.
struct RefusedResponse: Error {
    let refusal: RefusedRefresh

    init(_ error: IDTokenError, _ token: AccessToken) {
        refusal = RefusedRefresh(reason: error.code.rawValue, grant: RefusedRefresh.Grant(token))
    }

    /// Creates the error for a response whose tokens can't be used, or are unknown, because readers disagree about them.
    init(_ error: OAuthError, _ token: AccessToken? = nil) {
        refusal = RefusedRefresh(reason: error.code.rawValue, grant: token.map { RefusedRefresh.Grant($0) })
    }
}

extension AuthorizationServerClient {
    /// Exchanges a refresh token for tokens, which are bound to a key if there is one.
    ///
    /// Checks a new ID token against the previous one. The result has no ID token when the previous one stays.
    /// - Throws: ``RefusedResponse`` when the response was refused; the errors of the requests.
    func refresh(_ token: AccessToken, with refreshToken: Secret, boundTo key: DPoPKey?) async throws -> AccessToken {
        // The keys are fetched first, so that nothing delays the storage of the response.
        if token.idToken != nil {
            do { try await prepareToCheck() } catch let error where TokenError(error).isRetryable {}
        }
        // A fault of the discovery document isn't one of the response.
        let url = try await tokenAddress()
        let answer: TokenAnswer
        do {
            // The request contains no scope. The granted scope stays, and a scope in the request could only narrow it (RFC 6749
            // section 6).
            answer = try await tokens(
                [("grant_type", "refresh_token"), ("refresh_token", refreshToken.text), ("client_id", try client.clientID)],
                to: url, scope: "", for: .refreshToken, boundTo: key)
        } catch let error as OAuthError where error.code == .repeatedMember {
            throw RefusedResponse(error)
        }
        do {
            let stored = answer.token.idToken == nil ? nil : token.idToken
            let previous = try stored.map { idToken throws(IDTokenError) in
                try IDTokenRules.Previous(SignedClaims.claims(of: idToken) ?? [:])
            }
            var accepted = answer.token
            if try await isReplacement(answer, of: previous) == false { accepted.idToken = nil }
            return accepted
        } catch let error as IDTokenError {
            throw RefusedResponse(error, answer.token)
        } catch let error as OAuthError where error.code == .unusableToken {
            throw RefusedResponse(error, answer.token)
        } catch let error as OAuthError where [.notConfigured, .notOffered, .repeatedMember].contains(error.code) {
            throw RefusedResponse(IDTokenError(.keys), answer.token)
        } catch {
            // The keys aren't available: a fault of the network, or a server that doesn't return them. The access token is valid
            // without them, and the previous ID token is kept.
            var token = answer.token
            token.idToken = nil
            return token
        }
    }
}
