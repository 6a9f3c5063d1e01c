#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A logout token that was checked: the provider's statement that sessions of a user have ended (OpenID Connect Back-Channel
/// Logout 1.0 section 2.4).
///
/// With a ``sessionID``, the app ends the session with that ID. Without one, it ends all sessions of the ``subject`` at the
/// issuer. A session that has already ended, or that the app never had, counts as ended.
public struct LogoutToken: Sendable, Hashable {
    /// The issuer (`iss`).
    public let issuer: String
    /// The subject (`sub`), as in the ID token of the login; nil when the token has a ``sessionID`` only.
    public let subject: String?
    /// The ID of the session (`sid`), as in the ID token of the login; nil when the token has a ``subject`` only.
    public let sessionID: String?
    /// The time at which the provider issued the token (`iat`), by the provider's clock.
    public let issuedAt: Date
    /// The time at which the token expires (`exp`), by the provider's clock.
    public let expiresAt: Date
    /// The ID of the token (`jti`), which is unique at its issuer.
    public let id: String
    /// All claims of the token, including those that this package doesn't know.
    public let claims: [String: JSONValue]

    /// Creates a token, for the tests of an app.
    /// - Parameters:
    ///   - issuer: The issuer.
    ///   - subject: The subject; nil when the token has a session ID only.
    ///   - sessionID: The ID of the session; nil when the token has a subject only.
    ///   - issuedAt: The time at which the provider issued the token.
    ///   - expiresAt: The time at which the token expires.
    ///   - id: The ID of the token.
    ///   - claims: All claims of the token.
    public init(
        issuer: String, subject: String?, sessionID: String?, issuedAt: Date, expiresAt: Date, id: String,
        claims: [String: JSONValue] = [:]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.sessionID = sessionID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.id = id
        self.claims = claims
    }
}

/// The requirements for logout tokens that an app may change.
public struct LogoutTokenPolicy: Sendable, Hashable {
    /// The signature algorithm that the client has registered for its ID tokens, for example `RS256`.
    ///
    /// Nil to accept the asymmetric algorithms that the discovery document lists for ID tokens, or all of them when it lists none.
    public var algorithm: String?
    /// True when a token must have the type `logout+jwt` in its header (`typ`).
    ///
    /// The default is false, because the specification only recommends this type. A header without a type, and the type `JWT`,
    /// are accepted then.
    public var requiresType: Bool
    /// The audiences that a token may name beside the client.
    public var trustedAudiences: [String]
    /// The maximum time since a token was issued.
    ///
    /// The default is five minutes. The IDs of tokens are remembered for this time at most.
    public var maximumAge: Duration

    /// Creates requirements.
    /// - Parameters:
    ///   - algorithm: The required signature algorithm; nil for each asymmetric algorithm.
    ///   - requiresType: True when a token must have the type `logout+jwt`.
    ///   - trustedAudiences: The audiences that a token may name beside the client.
    ///   - maximumAge: The maximum time since a token was issued.
    public init(
        algorithm: String? = nil, requiresType: Bool = false, trustedAudiences: [String] = [],
        maximumAge: Duration = .seconds(300)
    ) {
        self.algorithm = algorithm
        self.requiresType = requiresType
        self.trustedAudiences = trustedAudiences
        self.maximumAge = maximumAge
    }
}
