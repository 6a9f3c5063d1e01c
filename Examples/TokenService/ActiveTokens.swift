import Foundation
import SignetCore

/// The access tokens that the provider has declared active, each for at most a minute.
///
/// Without this memory, the service would ask the provider at each request. A logout token ends the memory of a user's tokens at
/// once, so that a token is not accepted for the rest of the minute after the user has logged out.
actor ActiveTokens {
    private struct Entry {
        let claims: AccessClaims
        let end: ContinuousClock.Instant
    }

    private static let lifetime = 60.0

    private let introspection: Introspection
    private var known: [Secret: Entry] = [:]
    /// The number of calls of ``forget(user:)``.
    private var logoutCount = 0

    init(_ introspection: Introspection) {
        self.introspection = introspection
    }

    /// Returns the claims of an access token; nil for a token that is not active.
    /// - Throws: The errors of ``Introspection/claims(of:)``.
    func claims(of token: Secret) async throws -> AccessClaims? {
        let start = ContinuousClock.now
        if let entry = known[token], start < entry.end { return entry.claims }
        let count = logoutCount
        guard let claims = try await introspection.claims(of: token) else { return nil }
        // An answer that was on its way while a user logged out may be older than the logout.
        guard count == logoutCount else { return try await introspection.claims(of: token) }
        let rest = (claims.exp ?? .infinity) - Date().timeIntervalSince1970
        known = known.filter { start < $0.value.end }
        known[token] = Entry(claims: claims, end: start.advanced(by: .seconds(max(0, min(Self.lifetime, rest)))))
        return claims
    }

    /// Forgets the tokens of a user, and those without a user; all tokens when the logout token names only a session.
    func forget(user: String?) {
        logoutCount += 1
        known = known.filter { entry in
            guard let user, let owner = entry.value.claims.sub else { return false }
            return owner != user
        }
    }
}
