import SignetCore

/// An id_token that a client sends back as `id_token_hint` (OpenID Connect Core 1.0 section 3.1.2.1).
///
/// This server signed it and is its issuer. It may have expired.
struct IDTokenHint: Sendable {
    /// The user that the token was issued for.
    let user: UserKey
    /// The client that the token was issued for.
    let clientID: String
    /// The session that the token was issued in, if the token names one.
    let session: TokenHash?

    /// Verifies a text.
    ///
    /// Returns nil for a text that isn't an id_token of a realm of this server.
    init?(_ text: String, at server: ServerContext) async throws {
        guard let claims = try await server.signer.claims(of: text), claims["tokenName"] == .string("id_token"),
            let name = claims["sub"]?.string, let clientID = claims["aud"]?.string, let path = claims["realm"]?.string
        else { return nil }
        let realm = RealmPath(path)
        guard realm.description == path, claims["iss"] == .string(server.time.issuer(of: realm)) else { return nil }
        user = UserKey(realm: realm, name: name)
        self.clientID = clientID
        session = claims["sid"]?.string.map { TokenHash(text: $0) }
    }
}
