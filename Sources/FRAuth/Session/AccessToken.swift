public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An access token with what came beside it, under the ForgeRock auth family's names.
///
/// Its texts are `Secret`, which cannot be printed; ``buildAuthorizationHeader()`` is what a request needs.
public struct AccessToken: Sendable, Hashable {
    private let token: SignetCore.AccessToken
    /// The session that it was made from; nil for one from a login in a browser.
    public let sessionToken: Secret?

    init(_ token: SignetCore.AccessToken, session: SSOToken?) {
        self.token = token
        sessionToken = token.session == nil ? nil : session?.value
    }

    /// The token itself.
    public var value: Secret { token.value }
    /// How it is presented, nearly always `Bearer`.
    public var tokenType: String { token.tokenType }
    /// What it is good for, with spaces between.
    public var scope: String { token.scope }
    /// What gets the next one, if the server gave such a token.
    public var refreshToken: Secret? { token.refreshToken }
    /// Who is logged in, as the server signed it, if the scope has `openid`.
    public var idToken: Secret? { token.idToken }
    /// When it came, by this machine's clock.
    public var authenticatedTimestamp: Date { token.issuedAt }
    /// When it ends, by this machine's clock; `distantFuture` when the server did not say.
    public var expiration: Date { token.expiresAt ?? .distantFuture }
    /// How many seconds it was good for when it came; `Int.max` when the server did not say.
    public var expiresIn: Int {
        token.expiresAt.map { Int($0.timeIntervalSince(token.issuedAt).rounded()) } ?? .max
    }
    /// Whether it has ended, by this machine's clock.
    public var isExpired: Bool { token.isExpired(at: SystemWallClock().now) }

    /// The value of the `Authorization` header that presents the token. It is the secret itself: send it, and show it to nobody.
    public func buildAuthorizationHeader() -> String { token.authorization }
}

extension AccessToken {
    /// Whether two are the same token with the same things beside it. What the engine notes about one is no part of it.
    public static func == (one: AccessToken, other: AccessToken) -> Bool {
        one.value == other.value && one.tokenType == other.tokenType && one.scope == other.scope
            && one.refreshToken == other.refreshToken && one.idToken == other.idToken && one.expiration == other.expiration
            && one.sessionToken == other.sessionToken
    }

    /// Hashes the token itself.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The type and the scope; never a token.
    public var description: String { token.description }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
