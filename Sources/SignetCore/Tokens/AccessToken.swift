#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an OAuth 2.0 token endpoint gave, and when: the access token with all that came beside it.
///
/// None of its texts can be printed, dumped or logged. To use it, put ``authorization`` into the header of that name.
public struct AccessToken: Sendable, Hashable {
    /// The token itself.
    public let value: Secret
    /// How it is presented, nearly always `Bearer`.
    public let tokenType: String
    /// What it is good for, as the server wrote it: names with a space between, empty when it said nothing.
    public package(set) var scope: String
    /// When it came, by this machine's clock.
    public let issuedAt: Date
    /// When it ends, by this machine's clock; nil when the server did not say.
    public let expiresAt: Date?
    /// What gets the next one, if the server gave such a token.
    public package(set) var refreshToken: Secret?
    /// Who is logged in, as the server signed it, if an id_token was asked for.
    public package(set) var idToken: Secret?
    /// The session that it was made from; nil for one from a browser or a device login.
    package var session: SessionIdentity?
    /// When a refresh was begun whose end is not known: the server may have used up ``refreshToken`` already.
    package private(set) var renewalBegun: Date?
    /// Whether the server gives a new refresh token with each refresh; nil until it has been seen.
    package var isRotated: Bool?

    /// A token as given.
    /// - Parameters:
    ///   - value: The token itself.
    ///   - tokenType: How it is used, for example `Bearer`.
    ///   - scope: What it is good for.
    ///   - issuedAt: When it came.
    ///   - expiresAt: When it ends; nil when that is not known.
    ///   - refreshToken: What renews it, if there is anything.
    ///   - idToken: Who logged in, as the server signed it.
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

    /// The value of the `Authorization` header that presents the token: `Bearer …`. It is the secret itself: send it, and show
    /// it to nobody. Servers that write the scheme in lower case expect it in its usual form all the same (RFC 6750).
    public var authorization: String {
        let scheme = tokenType.lowercased() == "bearer" || tokenType.isEmpty ? "Bearer" : tokenType
        return "\(scheme) \(value.text)"
    }

    /// Whether it has ended at `now`. One whose end is not known has not.
    public func isExpired(at now: Date) -> Bool {
        expiresAt.map { now >= $0 } ?? false
    }

    /// Whether it ends within `threshold` from `now` on: `now > issued + expires_in − threshold` (protocol/journey.md 4.4).
    public func isExpiring(at now: Date, within threshold: Duration) -> Bool {
        expiresAt.map { now > $0 - threshold.seconds } ?? false
    }

    /// The same token with a note that a refresh was begun, or without one.
    package func noting(renewalBegun: Date?) -> AccessToken {
        var token = self
        token.renewalBegun = renewalBegun?.asStored
        return token
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The type and the scope; never a token.
    public var description: String { "<\(tokenType) token for \(scope.isEmpty ? "no named scope" : scope)>" }
    /// Nothing: `dump` shows no child.
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
    }

    /// Reads a stored token. Times are seconds since the beginning of 1970.
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
    }

    /// Writes the token **in the clear**, for a storage that seals what it is given.
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
    }
}

extension Date {
    /// The same moment as it comes back from its seconds since 1970: a date counts from another year, more finely.
    var asStored: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
}

extension Duration {
    /// Seconds, with their fraction.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
