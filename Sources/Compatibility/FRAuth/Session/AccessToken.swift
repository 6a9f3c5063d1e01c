public import Foundation
public import SignetCore

/// An access token with its related data, with the ForgeRock SDK's names.
///
/// Its secret strings are `Secret`, which cannot be printed. Use ``buildAuthorizationHeader()`` for a request.
public struct AccessToken: Sendable, Hashable {
    private let token: SignetCore.AccessToken
    /// The session that the token was created from; nil for a token from a login in a browser.
    public let sessionToken: Secret?

    init(_ token: SignetCore.AccessToken, session: SSOToken?) {
        self.token = token
        sessionToken = token.session == nil ? nil : session?.value
    }

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
}

extension AccessToken {
    /// Returns true when two tokens and their related data are equal.
    ///
    /// The engine's own notes about a token are not compared.
    public static func == (one: AccessToken, other: AccessToken) -> Bool {
        one.value == other.value && one.tokenType == other.tokenType && one.scope == other.scope
            && one.refreshToken == other.refreshToken && one.idToken == other.idToken && one.expiration == other.expiration
            && one.sessionToken == other.sessionToken
    }

    /// Hashes the token.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The type and the scope.
    ///
    /// It never contains a token.
    public var description: String { token.description }
    /// An empty mirror, so that `dump` shows no token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
