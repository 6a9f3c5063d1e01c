import SignetCore
import SignetNetwork

/// The question about a token of another client (RFC 7662).
extension AuthorizationServerClient {
    /// Returns the members of the response to a question about an access token.
    /// - Throws: `OAuthError` for a response that isn't one of the protocol; `TransportError`; the errors of interceptors.
    func introspect(_ token: Secret) async throws -> [String: JSONValue] {
        let url = try await address(\.introspection, "introspection endpoint")
        let fields = [("token", token.text), ("token_type_hint", "access_token"), ("client_id", try client.clientID)]
        let response = try await post(fields, to: url, for: .introspectToken)
        do throws(OAuthError) { return try members(response, from: url) } catch { throw withoutSecret(error) }
    }
}
