/// A refresh whose response was refused, for example because its ID token names another user.
///
/// It replaces the tokens in the storage until the user logs in again. The used refresh token is therefore never sent again, and
/// the grant of the response stays known until it is revoked.
package struct RefusedRefresh: Sendable, Hashable {
    /// The name of the error code: one of `IDTokenError.Code`, or `repeatedMember` or `unusableToken` of `OAuthError.Code`.
    package let reason: String
    /// The tokens of the response, which must be revoked; nil after the revocation, and for a response without readable tokens.
    package var grant: Grant?

    /// The tokens of a refused response.
    package struct Grant: Sendable, Hashable {
        /// The access token.
        package let accessToken: Secret
        /// The new refresh token; nil when the response had none.
        package let refreshToken: Secret?

        /// Creates a grant from the tokens of a response.
        package init(_ token: AccessToken) {
            self.init(accessToken: token.value, refreshToken: token.refreshToken)
        }

        fileprivate init(accessToken: Secret, refreshToken: Secret?) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
        }
    }

    /// Creates a refused refresh.
    package init(reason: String, grant: Grant?) {
        self.reason = reason
        self.grant = grant
    }
}

extension RefusedRefresh: Codable {
    private enum CodingKeys: String, CodingKey {
        case reason
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }

    /// Reads a stored refused refresh.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let refreshToken = try members.decodeIfPresent(String.self, forKey: .refreshToken).map { Secret(text: $0) }
        self.init(
            reason: try members.decode(String.self, forKey: .reason),
            grant: try members.decodeIfPresent(String.self, forKey: .accessToken).map {
                Grant(accessToken: Secret(text: $0), refreshToken: refreshToken)
            })
    }

    /// Writes the tokens **in plain text**, for a storage that seals its content.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(reason, forKey: .reason)
        try members.encodeIfPresent(grant?.accessToken.text, forKey: .accessToken)
        try members.encodeIfPresent(grant?.refreshToken?.text, forKey: .refreshToken)
    }
}

extension AccessToken {
    /// Returns the record that replaces this token after a refused refresh.
    ///
    /// It has no token that could be used, and has expired, also for programs that don't know this record. The previous ID token
    /// stays, because it identifies the session to end at a logout.
    package func replaced(by refusal: RefusedRefresh) -> AccessToken {
        var record = AccessToken(
            value: Secret(text: ""), tokenType: tokenType, scope: "", issuedAt: issuedAt, expiresAt: issuedAt, refreshToken: nil,
            idToken: idToken, session: session)
        record.refusal = refusal
        return record
    }

    /// The token to send to a revocation endpoint: this token, or the refused grant of a record; nil when a record has none.
    package var revocable: AccessToken? {
        guard let refusal else { return self }
        return refusal.grant.map {
            AccessToken(value: $0.accessToken, tokenType: tokenType, issuedAt: issuedAt, refreshToken: $0.refreshToken)
        }
    }
}
