import SignetCore

extension AccessToken {
    /// A copy of the token without its ID token.
    var withoutIDToken: AccessToken {
        var token = self
        token.idToken = nil
        return token
    }

    /// Returns a copy of the token that belongs to the given session.
    func belonging(to session: SessionIdentity?) -> AccessToken {
        var token = self
        token.session = session
        return token
    }
}
