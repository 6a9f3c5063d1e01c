import SignetCore
import SignetNetwork

/// The authentication of the client (RFC 6749 section 2.3.1, RFC 7523 section 2.2).
extension AuthorizationServerClient {
    /// Adds the authentication of the client to a form that names the client with `client_id`.
    /// - Throws: ``OAuthError/Code/notConfigured`` when the server's discovery document doesn't list the client's method; the errors of
    ///   the client's key, and of the request for the issuer.
    func authenticate(
        _ fields: inout [(name: String, value: String)], _ headers: inout HTTPHeaders, for action: RequestAction
    ) async throws {
        let client = try client
        switch client.authentication {
        case .none: return
        case .clientSecretBasic(let secret):
            // OpenAM refuses the header together with `client_id`, except at its device authorization endpoint, which requires the
            // field (RFC 8628 section 3.1 permits both). `client_id` is also a parameter of the authorization request that is pushed.
            if action != .deviceAuthorization, action != .pushedAuthorization { fields.removeAll { $0.name == "client_id" } }
            let credentials = "\(client.clientID.percentEncoded()):\(secret.text.percentEncoded())"
            headers.append("Authorization", "Basic " + Base64.encode(Array(credentials.utf8), as: .standard))
        case .clientSecretPost(let secret): fields.append(("client_secret", secret.text))
        case .privateKeyJWT(let key):
            fields.append(("client_assertion_type", ClientAssertion.type))
            fields.append(("client_assertion", try await assertion(of: client, with: key)))
        }
        // The list is that of the token endpoint, and these endpoints may have others (RFC 8414 section 2).
        guard action != .revokeToken, action != .introspectToken else { return }
        try checkIsOffered(client.authentication.method.rawValue)
    }

    /// Returns a new assertion for the server.
    ///
    /// Its only audience is the issuer, as far as that is known: an assertion for the address of an endpoint could be used at another
    /// server that names this address in its metadata.
    private func assertion(of client: OAuthClient, with key: ClientKey) async throws -> String {
        let address = try await tokenAddress()
        let audience = try await issuer().name ?? address
        return try await key.assertion(from: client.clientID, to: audience, at: proofs.time(at: address))
    }

    /// Checks that the discovery document, if it was read, lists a method or has no list.
    private func checkIsOffered(_ method: String) throws(OAuthError) {
        guard let offered = known.authenticationMethods, !offered.isEmpty, !offered.contains(method) else { return }
        let list = offered.prefix(10).map { String($0.prefix(40)) }.joined(separator: ", ")
        throw OAuthError(
            .notConfigured,
            explanation: "the client authenticates with \(method), and the server's token endpoint accepts only \(list)")
    }

    /// Returns the error of a response to the client without the secret of the client, if the server repeats the secret in it.
    func withoutSecret(_ error: OAuthError) -> OAuthError {
        guard let client = try? client, let secret = client.authentication.secret, secret.count > 0 else { return error }
        return HiddenSecret(secret, clientID: client.clientID).removed(from: error)
    }
}
