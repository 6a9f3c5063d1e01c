public import Foundation
public import SignetCore

/// An access token with its related data, with the ForgeRock SDK's names.
///
/// Its secret strings are `Secret`, which cannot be printed. Use ``buildAuthorizationHeader()`` for a request. An archive or an
/// encoded form of it contains the secrets: seal it.
public final class AccessToken: NSObject, NSSecureCoding, Codable, Sendable {
    private let token: SignetCore.AccessToken
    private let session: SSOToken?

    init(_ token: SignetCore.AccessToken, session: SSOToken?) {
        self.token = token
        self.session = token.session == nil ? nil : session
    }

    /// The session that the token was created from; nil for a token from a login in a browser.
    public var sessionToken: Secret? { session?.value }

    /// The token itself.
    public var value: Secret { token.value }
    /// The token type, almost always `Bearer`.
    public var tokenType: String { token.tokenType }
    /// The scopes, separated by spaces.
    public var scope: String { token.scope }
    /// The refresh token, if the server issued one.
    public var refreshToken: Secret? { token.refreshToken }
    /// The ID token, in which the server names the user, if the scope contains `openid`.
    public var idToken: Secret? { token.idToken }
    /// The time at which the token arrived, by this machine's clock.
    public var authenticatedTimestamp: Date { token.issuedAt }
    /// The time at which the token expires, by this machine's clock; `distantFuture` when the server did not say.
    public var expiration: Date { token.expiresAt ?? .distantFuture }
    /// The lifetime in seconds, counted from the arrival; `Int.max` when the server did not say.
    public var expiresIn: Int {
        token.expiresAt.map { Int($0.timeIntervalSince(token.issuedAt).rounded()) } ?? .max
    }
    /// True when the token has expired by this machine's clock.
    public var isExpired: Bool { token.isExpired(at: SystemWallClock().now) }

    /// Returns the value of the `Authorization` header for the token.
    ///
    /// It contains the secret: send it, and never show it.
    public func buildAuthorizationHeader() -> String { token.authorization }

    /// Returns true when two tokens and their related data are equal.
    ///
    /// The engine's own notes about a token are not compared.
    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AccessToken else { return false }
        return value == other.value && tokenType == other.tokenType && scope == other.scope
            && refreshToken == other.refreshToken && idToken == other.idToken && expiration == other.expiration
            && sessionToken == other.sessionToken
    }

    /// The hash of the token's length and scope.
    override public var hash: Int { [tokenType, scope].hashValue }

    /// The type and the scope.
    ///
    /// It never contains a token.
    override public var description: String { token.description }
    /// The value of ``description``.
    override public var debugDescription: String { token.description }

    // MARK: Archives

    /// True: decoding accepts only this class.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes the token from an archive; nil when it has none.
    public convenience init?(coder: NSCoder) {
        guard let archived = Archive.decode(AccessToken.self, in: coder) else { return nil }
        self.init(archived.token, session: archived.session)
    }

    /// Encodes the token for an archive, with its secrets.
    public func encode(with coder: NSCoder) { Archive.encode(self, in: coder) }

    private enum CodingKeys: String, CodingKey { case token, session }
}

extension AccessToken: CustomReflectable {
    /// An empty mirror, so that `dump` shows no token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
