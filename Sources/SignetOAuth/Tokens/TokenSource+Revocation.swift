import SignetCore

/// The revocation of tokens that the app doesn't use any more.
extension TokenSource {
    /// Takes over the variant of the protocol that is stored with a session, because OpenAM has another revocation endpoint.
    ///
    /// Without a session, the known variant stays.
    func recallDialect(of session: SSOToken?) {
        if let session { server.dialect.recall(session) }
    }

    /// Records a replaced or removed token for ``revokeReplaced()``.
    ///
    /// A server may have issued the same access token or refresh token again.
    func retire(_ old: AccessToken, replacedBy new: AccessToken?) {
        let isSame = old.value == new?.value || old.refreshToken != nil && old.refreshToken == new?.refreshToken
        guard !isSame, old.refreshToken != nil || !old.isExpired(at: clock.now) else { return }
        unrevoked.withLock { $0.append(old) }
    }

    /// Revokes the tokens that renewals have replaced or removed, as far as that is possible.
    ///
    /// One caller waits for it, and the others that share the renewal don't. A caller that is canceled stops waiting, and the
    /// requests continue.
    func revokeReplaced() async {
        guard unrevoked.withLock({ !$0.isEmpty }) else { return }
        // Each caller with tokens to revoke starts its own requests. `Task.value` would keep a canceled caller waiting for them.
        try? await SingleFlight<Void>().run { [self] in
            let tokens = unrevoked.withLock { tokens in
                defer { tokens = [] }
                return tokens
            }
            for token in tokens { try? await server.revoke(token) }
        }
    }

    /// Revokes a token of another session.
    ///
    /// A failure is reported to the caller (protocol/journey.md section 4.4), because the token may belong to another user and
    /// stays valid.
    func revoke(foreign token: AccessToken) async throws {
        do {
            try await server.revoke(token)
        } catch let error as OAuthError where error.code == .notOffered {
            // A server without that endpoint can't revoke tokens.
        }
    }
}
