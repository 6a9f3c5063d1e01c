import Foundation
import SignetCore

/// The terms of a token request besides the scopes, and the limits of its tokens.
struct TokenTerms: Sendable {
    /// The resources that the client requests (RFC 8707).
    var resources: [String] = []
    /// The lifetime of the access token in seconds; nil for that of the client.
    var lifetime: Int?
    /// The time that the access token doesn't outlive; nil for none.
    var latestEnd: Date?
    /// False for a grant without a refresh token (RFC 6749 section 4.4.3).
    var includesRefreshToken = true

    /// Returns the resources that the access token is for; empty when it is for the client, and nil when one of the requested
    /// ones isn't among those of the grant, or else of the client.
    func audience(of grant: Grant, _ client: RegisteredClient) -> [String]? {
        guard !resources.isEmpty else { return grant.resources ?? Array(client.audiences.prefix(1)) }
        let allowed = grant.resources ?? client.audiences
        return resources.allSatisfy(allowed.contains) ? resources : nil
    }

    func end(_ end: Date) -> Date { latestEnd.map { min($0, end) } ?? end }
}

extension RegisteredClient {
    /// Returns the hash by which an access token of the client is stored.
    /// - Parameter text: The token, or the `jti` of a JWT.
    /// - Returns: The hash in the grant, or the name of the token's row.
    func hash(ofAccessToken text: String) -> TokenHash {
        switch accessTokens {
        case .opaque: TokenHash(text)
        case .jwt: TokenHash(jwtID: text)
        }
    }
}

extension ProofKey {
    /// Returns true when the verifier matches the challenge, or both are missing.
    ///
    /// A verifier without a challenge indicates a PKCE downgrade attack (RFC 9700 section 2.1.1).
    static func matches(_ verifier: String?, _ challenge: String?) -> Bool {
        guard let verifier, let challenge else { return verifier == nil && challenge == nil }
        return ConstantTime.areEqual(Self.challenge(for: verifier), challenge)
    }
}

extension RegisteredClient {
    /// Returns the client's lifetimes, each at least one second.
    func lifetimes(_ time: RequestTime) -> TokenLifetimes {
        var lifetimes = self.lifetimes ?? time.configuration.lifetimes
        for member in [
            \TokenLifetimes.authorizationCode, \.accessToken, \.refreshToken, \.idToken, \.deviceCode, \.pushedRequest,
        ] { lifetimes[keyPath: member] = max(1, lifetimes[keyPath: member]) }
        return lifetimes
    }
}
