import SignetCore
import SignetNetwork

/// The address of an authorization request, whose parameters may be pushed to the server beforehand (RFC 9126).
extension AuthorizationServerClient {
    /// Returns the address at which a browser, or this client with a session, requests an authorization code.
    ///
    /// When the server or the client requires it, the parameters are pushed to the server, and the address only has a reference to
    /// them. A failure of that is an error: the parameters are never sent in the address instead.
    /// - Parameters:
    ///   - attempt: The authorization request.
    ///   - redirectURI: The redirect URI that receives the response.
    ///   - key: The key to which the code is bound (`dpop_jkt`, RFC 9449 section 10); nil for none.
    /// - Returns: The address, which is confidential.
    /// - Throws: The errors of the requests.
    func authorizationAddress(
        _ attempt: AuthorizationAttempt, redirectURI: String, boundTo key: DPoPKey? = nil
    ) async throws -> String {
        let client = try client
        let endpoint = try await address(\.authorize, "authorization endpoint")
        let parameters = self.parameters(of: attempt, client, redirectURI: redirectURI, boundTo: key)
        guard client.pushesRequests || known.requiresPushedRequests else {
            return FormCoding.address(endpoint, adding: parameters)
        }
        let reference = try await push(parameters)
        // RFC 9126 section 4: The parameters of the request are those that were pushed.
        return FormCoding.address(endpoint, adding: [("client_id", client.clientID), ("request_uri", reference)])
    }

    /// Pushes the parameters of an authorization request to the server, and returns the reference to them (RFC 9126 section 2).
    private func push(_ parameters: [(name: String, value: String)]) async throws -> String {
        let url = try await address(\.pushedAuthorization, "pushed authorization request endpoint")
        let response = try await post(parameters, to: url, for: .pushedAuthorization)
        let members: [String: JSONValue]
        do throws(OAuthError) { members = try self.members(response, from: url) } catch { throw withoutSecret(error) }
        guard let reference = members["request_uri"]?.string, !reference.isEmpty else {
            throw OAuthError(.unreadable, status: response.status, explanation: "the answer has no request_uri").naming(
                url, response)
        }
        return reference
    }

    private func parameters(
        of attempt: AuthorizationAttempt, _ client: OAuthClient, redirectURI: String, boundTo key: DPoPKey?
    ) -> [(name: String, value: String)] {
        let name = "dpop_jkt"
        var extra = client.extraParameters(adding: attempt.addedParameters).filter { $0.name != name }
        if let key { extra.append((name, key.thumbprint)) }
        return attempt.parameters(clientID: client.clientID, redirectURI: redirectURI, scopes: client.scopes, extra: extra)
    }
}
