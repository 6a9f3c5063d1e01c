public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An access token that was verified for a request: the permission of a client to act for a user.
public struct VerifiedAccessToken: Sendable, Hashable {
    /// The issuer.
    public let issuer: String
    /// The subject (`sub`): the user, or the client for a token that no user granted.
    ///
    /// Nil for an introspection response without one.
    public let subject: String?
    /// The ID of the client (`client_id`, or else `azp`); nil when the token names none.
    public let clientID: String?
    /// The scopes.
    public let scopes: Set<String>
    /// The time at which the token expires, by the provider's clock; nil for an introspection response without one.
    public let expiresAt: Date?
    /// The thumbprint of the client's key (`cnf.jkt`, RFC 9449 section 6), which the request has proved to have.
    ///
    /// Nil for a bearer token.
    public let keyThumbprint: String?
    /// All claims of the token, including those that this package doesn't know.
    public let claims: [String: JSONValue]

    /// Creates a token, for the tests of an app.
    /// - Parameters:
    ///   - issuer: The issuer.
    ///   - subject: The subject.
    ///   - clientID: The ID of the client.
    ///   - scopes: The scopes.
    ///   - expiresAt: The time at which the token expires.
    ///   - keyThumbprint: The thumbprint of the client's key; nil for a bearer token.
    ///   - claims: All claims of the token.
    public init(
        issuer: String, subject: String?, clientID: String? = nil, scopes: Set<String> = [], expiresAt: Date? = nil,
        keyThumbprint: String? = nil, claims: [String: JSONValue] = [:]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.clientID = clientID
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.keyThumbprint = keyThumbprint
        self.claims = claims
    }

    /// Reads claims that were checked.
    /// - Throws: ``AccessTokenError`` for a confirmation (`cnf`) that can't be read.
    init(_ claims: [String: JSONValue], issuer: String) throws(AccessTokenError) {
        let confirmation = try AccessTokenRules.confirmation(of: claims)
        self.init(
            issuer: issuer, subject: claims["sub"]?.string, clientID: (claims["client_id"] ?? claims["azp"])?.string,
            scopes: AccessTokenRules.scopes(of: claims),
            expiresAt: claims["exp"]?.lenientInteger.map { Date(timeIntervalSince1970: Double($0)) },
            keyThumbprint: confirmation?["jkt"]?.string, claims: claims)
    }
}
