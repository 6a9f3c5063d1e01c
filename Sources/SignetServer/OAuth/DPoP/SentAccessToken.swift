import Hummingbird
import SignetCore

/// An access token as a request presents it: as a bearer token (RFC 6750), or with a DPoP proof (RFC 9449 section 7.1).
struct SentAccessToken: Sendable {
    let text: String
    /// The proof beside the token; nil for a bearer token.
    let proof: ReceivedProof?

    /// Reads the token of a request, from `Authorization` or from a form (RFC 6750 sections 2.1 and 2.2).
    ///
    /// Returns nil for a request without a token.
    /// - Throws: ``OAuthErrorResponse`` for a proof that is missing or not valid.
    init?(_ request: Request, _ context: AppRequestContext, at server: ServerContext) async throws {
        if let token = request.credentials(DPoPProof.tokenType) {
            text = token
            guard let proof = try ReceivedProof(request, context, at: server, accessToken: token) else {
                throw DPoPEndpoint.resource.refusal(code: "invalid_dpop_proof", "The DPoP proof is missing")
            }
            self.proof = proof
            return
        }
        proof = nil
        if let token = request.credentials("Bearer") {
            text = token
            return
        }
        guard request.method == .post, request.header("content-type") != nil,
            let token = try await request.form(context)["access_token"]
        else { return nil }
        text = token
    }
}

extension AccessGrant {
    /// Refuses a token that a request doesn't present in the way of its type.
    /// - Parameter key: The thumbprint of the key of the accepted proof; nil for a bearer token.
    /// - Throws: ``OAuthErrorResponse`` for a bound token without a proof of its key, and for a bearer token with a proof.
    func check(sentWith key: String?) throws(OAuthErrorResponse) {
        guard grant.dpopKey != key else { return }
        let message =
            grant.dpopKey == nil
            ? "The access token is a bearer token" : "The access token is bound to a key, of which the request has no DPoP proof"
        throw DPoPEndpoint.resource.refusal(code: "invalid_token", message)
    }
}
