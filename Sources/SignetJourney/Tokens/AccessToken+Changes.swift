import SignetCore

extension AccessToken {
    /// The same token without its id_token.
    var withoutIDToken: AccessToken {
        var token = self
        token.idToken = nil
        return token
    }

    /// The same token as one of a session.
    func belonging(to session: SessionIdentity?) -> AccessToken {
        var token = self
        token.session = session
        return token
    }
}
