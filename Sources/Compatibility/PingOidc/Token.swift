import Foundation
package import SignetCore

/// The tokens of an OAuth 2.0 server, with the API of the Ping SDK.
///
/// The properties contain the secrets themselves. Descriptions don't.
public struct Token: Codable, Sendable {
    /// The tokens in the form of the engine.
    package let record: AccessToken

    /// The access token.
    public var accessToken: String { record.value.text }
    /// The token type, for example `Bearer`.
    public var tokenType: String? { record.tokenType.isEmpty ? nil : record.tokenType }
    /// The granted scope.
    public var scope: String? { record.scope.isEmpty ? nil : record.scope }
    /// The lifetime in seconds; 0 when the server didn't state one.
    public var expiresIn: Int64 {
        record.expiresAt.map { Int64($0.timeIntervalSince(record.issuedAt).rounded()) } ?? 0
    }
    /// The refresh token, if the server issued one.
    public var refreshToken: String? { record.refreshToken?.text }
    /// The ID token, if the server issued one.
    public var idToken: String? { record.idToken?.text }
    /// The time of expiration in seconds since 1970; the maximum when the server didn't state one.
    public var expiresAt: Int64 { record.expiresAt.map { Int64($0.timeIntervalSince1970) } ?? .max }

    /// Creates tokens that arrived now.
    public init(
        accessToken: String, tokenType: String?, scope: String?, expiresIn: Int64, refreshToken: String?, idToken: String?
    ) {
        let now = SystemWallClock().now
        self.init(
            AccessToken(
                value: Secret(text: accessToken), tokenType: tokenType ?? "", scope: scope ?? "", issuedAt: now,
                expiresAt: now + Double(expiresIn), refreshToken: refreshToken.map { Secret(text: $0) },
                idToken: idToken.map { Secret(text: $0) }))
    }

    /// Creates tokens from those of the engine.
    package init(_ record: AccessToken) { self.record = record }

    /// True when the access token has expired.
    public var isExpired: Bool { isExpired(threshold: 0) }

    /// Returns true when the access token expires within `threshold` seconds.
    public func isExpired(threshold: Int64) -> Bool {
        record.isExpired(at: SystemWallClock().now + Double(threshold))
    }

    /// Returns false when the ID token names only other clients as its audience; its signature is not verified.
    ///
    /// Returns true for tokens without a readable ID token, and for a nil client ID.
    package func isIssued(to clientID: String?) -> Bool {
        guard let clientID, let idToken, let jws = try? CompactJWS(idToken), let payload = try? jws.unverifiedPayload(),
            let claims = (try? JSON.value(of: payload))?.object, let audience = claims["aud"]
        else { return true }
        let names = audience.string.map { [$0] } ?? audience.array?.compactMap(\.string) ?? []
        return names.isEmpty || names.contains(clientID)
    }
}

extension Token {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case scope
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case expiresAt = "expires_at"
        case issuedAt = "issued_at"
    }

    /// Reads stored tokens, also those that the Ping SDK stored, and the response of a token endpoint.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        if members.contains(.issuedAt) {
            self.init(try AccessToken(from: decoder))
            return
        }
        func secret(_ key: CodingKeys) throws -> Secret? {
            try members.decodeIfPresent(String.self, forKey: key).map { Secret(text: $0) }
        }
        let lifetime = TimeInterval(try members.decode(Int64.self, forKey: .expiresIn))
        let expiry = try members.decodeIfPresent(Int64.self, forKey: .expiresAt).map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
        let issuedAt = expiry.map { $0 - lifetime } ?? SystemWallClock().now
        self.init(
            AccessToken(
                value: Secret(text: try members.decode(String.self, forKey: .accessToken)),
                tokenType: try members.decodeIfPresent(String.self, forKey: .tokenType) ?? "",
                scope: try members.decodeIfPresent(String.self, forKey: .scope) ?? "", issuedAt: issuedAt,
                expiresAt: issuedAt + lifetime, refreshToken: try secret(.refreshToken), idToken: try secret(.idToken)))
    }

    /// Writes the tokens **in plain text**, for a storage that seals its content.
    public func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(expiresIn, forKey: .expiresIn)
    }
}

extension Token: CustomStringConvertible, CustomReflectable {
    /// The token type, the scope and the expiration, and never a token.
    public var description: String { "isExpired: \(isExpired), expires_in: \(expiresIn), \(record)" }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
