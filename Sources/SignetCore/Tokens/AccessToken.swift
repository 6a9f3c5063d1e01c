#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The response of an OAuth 2.0 token endpoint with the time of its arrival: the access token and all values that came with it.
///
/// Its secrets cannot be printed, dumped or logged. To use the token, send ``authorization`` as the `Authorization` header.
public struct AccessToken: Sendable, Hashable {
    /// The access token.
    public let value: Secret
    /// The token type: `Bearer`, or `DPoP` for a token that is bound to a key of the client (RFC 9449).
    public let tokenType: String
    /// The granted scope, as the server wrote it: names separated by spaces, or empty when the server sent none.
    public package(set) var scope: String
    /// The time at which the token arrived, by this machine's clock.
    public let issuedAt: Date
    /// The time at which the token expires, by this machine's clock; nil when the server did not say.
    public let expiresAt: Date?
    /// The refresh token, if the server gave one.
    public package(set) var refreshToken: Secret?
    /// The id_token, which identifies the user and is signed by the server, if the client requested one.
    public package(set) var idToken: Secret?
    /// The session from which the token was obtained; nil when it came from a browser login or a device login.
    package var session: SessionIdentity?
    /// The time at which a refresh was started whose result is not known: the server may have used up ``refreshToken`` already.
    package private(set) var renewalBegun: Date?
    /// A Boolean value that indicates whether the server issues a new refresh token with each refresh; nil until a refresh has
    /// shown it.
    package var isRotated: Bool?
    /// True after the server refused the refresh token without ending the grant.
    ///
    /// The refresh token is then kept only to revoke the grant.
    package var isRefreshRefused = false
    /// The refused refresh that ended the login; nil for a token that may be used.
    package var refusal: RefusedRefresh?
    /// The key to which the tokens are bound; nil for bearer tokens.
    package var binding: TokenBinding?

    /// Creates a token.
    /// - Parameters:
    ///   - value: The access token.
    ///   - tokenType: The token type, for example `Bearer`.
    ///   - scope: The granted scope.
    ///   - issuedAt: The time at which the token arrived.
    ///   - expiresAt: The time at which the token expires; nil when it is not known.
    ///   - refreshToken: The refresh token, if there is one.
    ///   - idToken: The id_token, which identifies the user and is signed by the server.
    public init(
        value: Secret, tokenType: String = "Bearer", scope: String = "", issuedAt: Date, expiresAt: Date? = nil,
        refreshToken: Secret? = nil, idToken: Secret? = nil
    ) {
        self.init(
            value: value, tokenType: tokenType, scope: scope, issuedAt: issuedAt, expiresAt: expiresAt,
            refreshToken: refreshToken, idToken: idToken, session: nil)
    }

    package init(
        value: Secret, tokenType: String, scope: String, issuedAt: Date, expiresAt: Date?, refreshToken: Secret?,
        idToken: Secret?, session: SessionIdentity?, renewalBegun: Date? = nil, isRotated: Bool? = nil
    ) {
        self.value = value
        self.tokenType = tokenType
        self.scope = scope
        self.issuedAt = issuedAt.asStored
        self.expiresAt = expiresAt?.asStored
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.session = session
        self.renewalBegun = renewalBegun?.asStored
        self.isRotated = isRotated
    }

    /// The value of the `Authorization` header that presents the token: `Bearer …`, or `DPoP …` for a bound token.
    ///
    /// It contains the secret: send it, and do not show or log it. Servers that return `bearer` in lower case still expect
    /// `Bearer` (RFC 6750). A bound token needs a `DPoP` header beside it (RFC 9449 section 7.1).
    public var authorization: String {
        let scheme = isBound ? "DPoP" : tokenType.lowercased() == "bearer" || tokenType.isEmpty ? "Bearer" : tokenType
        return "\(scheme) \(value.text)"
    }

    /// True for a token that only the holder of a key may use (RFC 9449 section 5).
    public var isBound: Bool { tokenType.lowercased() == "dpop" }

    /// Returns true when the token has expired at `now`, and false when its expiry is not known.
    public func isExpired(at now: Date) -> Bool {
        expiresAt.map { now >= $0 } ?? false
    }

    /// Returns true when the token expires within `threshold` after `now`: `now > issued + expires_in − threshold`
    /// (protocol/journey.md 4.4).
    public func isExpiring(at now: Date, within threshold: Duration) -> Bool {
        expiresAt.map { now > $0 - threshold.seconds } ?? false
    }

    /// Returns a copy of the token with the time at which a refresh was started, or without it when `renewalBegun` is nil.
    package func recording(renewalBegun: Date?) -> AccessToken {
        var token = self
        token.renewalBegun = renewalBegun?.asStored
        return token
    }

    /// Returns a copy of the token whose refresh token isn't sent to the token endpoint again.
    package func recordingRefusedRefresh() -> AccessToken {
        var token = self
        token.isRefreshRefused = true
        return token
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The type and the scope, and never a token.
    public var description: String { "<\(tokenType) token for \(scope.isEmpty ? "no named scope" : scope)>" }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AccessToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case value = "access_token"
        case tokenType = "token_type"
        case scope
        case issuedAt = "issued_at"
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case session
        case renewalBegun = "renewal_begun"
        case isRotated = "rotated"
        case isRefreshRefused = "refresh_refused"
        case refusal = "refused"
        case binding = "dpop"
    }

    /// Reads a stored token.
    ///
    /// Times are seconds since 1970.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func secret(_ key: CodingKeys) throws -> Secret? {
            try members.decodeIfPresent(String.self, forKey: key).map { Secret(text: $0) }
        }
        func date(_ key: CodingKeys) throws -> Date? {
            try members.decodeIfPresent(Double.self, forKey: key).map { Date(timeIntervalSince1970: $0) }
        }
        self.init(
            value: Secret(text: try members.decode(String.self, forKey: .value)),
            tokenType: try members.decode(String.self, forKey: .tokenType),
            scope: try members.decode(String.self, forKey: .scope),
            issuedAt: Date(timeIntervalSince1970: try members.decode(Double.self, forKey: .issuedAt)),
            expiresAt: try date(.expiresAt), refreshToken: try secret(.refreshToken), idToken: try secret(.idToken),
            session: try members.decodeIfPresent(String.self, forKey: .session).map { SessionIdentity(digest: $0) },
            renewalBegun: try date(.renewalBegun),
            isRotated: try members.decodeIfPresent(Bool.self, forKey: .isRotated))
        isRefreshRefused = try members.decodeIfPresent(Bool.self, forKey: .isRefreshRefused) ?? false
        refusal = try members.decodeIfPresent(RefusedRefresh.self, forKey: .refusal)
        binding = try members.decodeIfPresent(TokenBinding.self, forKey: .binding)
    }

    /// Writes the token **in plain text**, for a storage that seals its content.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(value.text, forKey: .value)
        try members.encode(tokenType, forKey: .tokenType)
        try members.encode(scope, forKey: .scope)
        try members.encode(issuedAt.timeIntervalSince1970, forKey: .issuedAt)
        try members.encodeIfPresent(expiresAt?.timeIntervalSince1970, forKey: .expiresAt)
        try members.encodeIfPresent(refreshToken?.text, forKey: .refreshToken)
        try members.encodeIfPresent(idToken?.text, forKey: .idToken)
        try members.encodeIfPresent(session?.digest, forKey: .session)
        try members.encodeIfPresent(renewalBegun?.timeIntervalSince1970, forKey: .renewalBegun)
        try members.encodeIfPresent(isRotated, forKey: .isRotated)
        if isRefreshRefused { try members.encode(true, forKey: .isRefreshRefused) }
        try members.encodeIfPresent(refusal, forKey: .refusal)
        try members.encodeIfPresent(binding, forKey: .binding)
    }
}

extension Date {
    /// The date as it is after conversion to seconds since 1970 and back.
    ///
    /// `Date` counts from 2001, so the conversion rounds it.
    var asStored: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
}

extension Duration {
    /// The duration in seconds, including the fraction.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
