public import SignetCore
import SignetNetwork

/// Tokens that are bound to a key (RFC 9449).
extension TokenSource {
    /// Returns a proof of possession for a request with a bound token, for the header `DPoP` of a request that another program sends.
    ///
    /// The header `Authorization` has ``AccessToken/authorization``. A proof is for one request, and a server accepts it for a short
    /// time. ``AuthorizedTransport`` makes the proofs of an app's own requests, and answers the servers that require a nonce.
    /// - Parameters:
    ///   - method: The HTTP method, in upper case.
    ///   - url: The address of the request; its query and its fragment aren't part of the proof.
    ///   - token: The token of the request, from ``token()``.
    ///   - nonce: The nonce with which the server answered an earlier request (`DPoP-Nonce`); nil for the last one that is known.
    /// - Returns: The proof; nil for a bearer token, which needs none.
    /// - Throws: ``TokenError``: ``TokenError/Code/loginRequired`` when the key of the token is lost.
    public func proof(
        _ method: String, _ url: String, with token: AccessToken, nonce: String? = nil
    ) async throws(TokenError) -> String? {
        do {
            guard let key = try await server.key(of: token) else { return nil }
            return try await server.proofs.proof(with: key, method, url, presenting: token.value, nonce: nonce)
        } catch {
            throw TokenError(error)
        }
    }

    /// Sends a request with a token, and with a proof of possession if the token is bound.
    /// - Throws: ``LostKey`` for a bound token whose key can never be used again; the errors of the key and of `deliver`.
    func send(
        _ request: HTTPRequest, with token: AccessToken, deliver: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var request = request
        request.headers.set("Authorization", token.authorization)
        guard let key = try await server.key(of: token) else { return try await deliver(request) }
        return try await server.proofs.send(with: key, presenting: token.value) {
            request
        } deliver: { bound in
            try await deliver(bound)
        }.response
    }

    /// Returns the key for the refresh of a token: its key, or a new one for a bearer token of a client whose tokens are now bound.
    /// - Throws: ``LostKey`` for a bound token whose key can never be used again; `StoreError`.
    func refreshKey(of old: AccessToken) async throws -> DPoPKey? {
        if let key = try await server.key(of: old) { return key }
        return try await server.newKey()
    }

    /// Returns new tokens for the session in place of tokens whose key is lost, which are then revoked.
    /// - Throws: ``TokenError/Code/loginRequired`` with the reason without a session. Nothing is removed then.
    func replaced(unusable old: AccessToken, because lost: LostKey, session: SSOToken?) async throws -> AccessToken {
        guard session != nil else { throw TokenError(lost) }
        let new = try await authorized(session, replacing: nil, isRejected: true)
        retire(old, replacedBy: new)
        return new
    }
}
