import Foundation
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
    /// The time at which the token expires or has expired.
    let expiresAt: Date
    let authenticatedAt: Date
    /// The journey of the login, if the token names one.
    let journey: String?
    /// The party that acts for the user; nil for none.
    let actor: JSONValue?

    /// Verifies a text.
    ///
    /// Returns nil for a text that isn't an id_token of a realm of this server.
    init?(_ text: String, at server: ServerContext) async throws {
        guard let token = try await server.signer.verified(text), Self.isIDToken(token) else { return nil }
        let (claims, time) = (token.claims, server.time)
        guard let name = claims["sub"]?.string, let clientID = claims["aud"]?.string,
            let realm = server.realms.first(where: { claims["iss"] == .string(time.issuer(of: $0)) }),
            claims["realm"] == nil || claims["realm"] == .string(realm.description)
        else { return nil }
        user = UserKey(realm: realm, name: name)
        self.clientID = clientID
        session = claims["sid"]?.string.map { TokenHash(text: $0) }
        expiresAt = Date(timeIntervalSince1970: Double(claims["exp"]?.lenientInteger ?? 0))
        authenticatedAt = Date(timeIntervalSince1970: Double(claims["auth_time"]?.lenientInteger ?? 0))
        journey = claims["acr"]?.string
        actor = claims["act"]
    }

    /// Returns true for a token with the type and the claims that every id_token of this server has.
    ///
    /// Other tokens that the server signs don't pass: a logout token has another type and the claim `events`, and a signed response
    /// of `userinfo` has none of the other claims, because no attribute of a user can have their names
    /// (``ClaimsRequest/reservedNames``). Only AM's id_tokens have `tokenName`.
    private static func isIDToken(_ token: SignedToken) -> Bool {
        let claims = token.claims
        guard token.header["typ"] == .string(TokenSigner.plainType), claims["events"] == nil,
            claims["tokenName"] == nil || claims["tokenName"] == .string("id_token"),
            let client = claims["azp"]?.string, claims["aud"] == .string(client), claims["jti"]?.string != nil
        else { return false }
        return ["iat", "exp", "auth_time"].allSatisfy { claims[$0]?.lenientInteger != nil }
    }
}
