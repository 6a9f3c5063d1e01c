import SignetCore

extension AccessToken {
    /// The same token without its id_token.
    var withoutIDToken: AccessToken {
        AccessToken(
            value: value, tokenType: tokenType, scope: scope, issuedAt: issuedAt, expiresAt: expiresAt,
            refreshToken: refreshToken, idToken: nil, session: session, renewalBegun: renewalBegun, isRotated: isRotated)
    }

    /// The same token as one of a session.
    func belonging(to session: SessionIdentity?) -> AccessToken {
        AccessToken(
            value: value, tokenType: tokenType, scope: scope, issuedAt: issuedAt, expiresAt: expiresAt,
            refreshToken: refreshToken, idToken: idToken, session: session, renewalBegun: renewalBegun, isRotated: isRotated)
    }
}
