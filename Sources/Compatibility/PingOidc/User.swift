/// The claims of a server about a user, by name.
public typealias UserInfo = [String: any Sendable]

/// A user that logged in, with tokens of an OAuth 2.0 server.
public protocol User: Sendable {
    /// Returns valid tokens: the stored ones, or new ones.
    func token() async -> Result<Token, OidcError>
    /// Returns new tokens, even when the stored ones are still valid.
    func refresh() async -> Result<Token, OidcError>
    /// Revokes the tokens at the server and removes them.
    ///
    /// At a server without a revocation endpoint they are only removed, and expire there.
    func revoke() async
    /// Returns the claims about the user.
    /// - Parameter cache: True to return the claims of an earlier call, if there was one, and to keep those of this call.
    /// - Returns: The claims, or the error of the request.
    func userinfo(cache: Bool) async -> Result<UserInfo, OidcError>
    /// Logs the user out on this machine, and at the server if it can be reached.
    func logout() async
}

extension User {
    /// Returns the claims about the user, from memory if possible.
    public func userinfo() async -> Result<UserInfo, OidcError> { await userinfo(cache: true) }

    /// The session of a user that has one.
    public var session: (any Session)? { self as? any Session }
}
