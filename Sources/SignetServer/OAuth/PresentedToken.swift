import SignetCore

/// A token that a client or a service presents, with the hash by which it is stored.
struct PresentedToken: Sendable {
    let text: String
    /// The hash in the grant, or the name of the token's row.
    let hash: TokenHash
    /// The ID of the grant with which the token begins; nil for text that names none.
    let grantID: String?

    /// A token as it is: an opaque access token, or a refresh token.
    init(_ text: String) {
        self.text = text
        hash = TokenHash(text)
        grantID = GrantToken.grant(of: text)
    }

    /// A JWT access token that this server has signed.
    fileprivate init(_ text: String, jwtID id: String) {
        self.text = text
        hash = TokenHash(jwtID: id)
        grantID = GrantToken.grant(of: id)
    }
}

extension TokenHash {
    /// The hash by which a JWT access token is stored: that of its `jti`.
    ///
    /// The word before the ID keeps the ID alone, which services may log, from being a token itself.
    init(jwtID id: String) { self.init("\(TokenSigner.accessTokenType) \(id)") }
}

extension ServerContext {
    /// Reads a token that a client or a service presents.
    ///
    /// The signature of a JWT access token is verified here. Everything else, also its expiry, follows from what is stored.
    func presented(_ text: String) async throws -> PresentedToken {
        guard text.utf8.contains(UInt8(ascii: ".")), let token = try await signer.verified(text),
            token.header["typ"] == .string(TokenSigner.accessTokenType), let id = token.claims["jti"]?.string
        else { return PresentedToken(text) }
        return PresentedToken(text, jwtID: id)
    }
}
