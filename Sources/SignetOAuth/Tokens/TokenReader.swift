public import SignetCore
import SignetStorage

/// A reader of the stored items that never sends a request.
///
/// Use it in a window that shows the logged-in user, or in a program that must not wait.
public struct TokenReader: Sendable {
    private let store: SessionStore
    private let clock: any WallClock

    /// Creates a reader of a store.
    public init(_ store: SessionStore, clock: any WallClock = SystemWallClock()) {
        self.store = store
        self.clock = clock
    }

    /// Returns the access token; nil when none is stored or it has expired.
    /// - Throws: ``TokenError/Code/storage`` when the store can't be read.
    public func token() async throws(TokenError) -> AccessToken? {
        let now = clock.now
        return try await storedToken().flatMap { $0.isExpired(at: now) ? nil : $0 }
    }

    /// Returns the stored access token, even when it has expired.
    /// - Throws: ``TokenError/Code/storage``.
    public func storedToken() async throws(TokenError) -> AccessToken? {
        do throws(StoreError) { return try await store.token() } catch { throw TokenError(error) }
    }

    /// Returns the stored session.
    /// - Throws: ``TokenError/Code/storage``.
    public func session() async throws(TokenError) -> SSOToken? {
        do throws(StoreError) { return try await store.session() } catch { throw TokenError(error) }
    }

    /// Returns the claims of the ID token, which was checked when it was received; nil when none is stored.
    /// - Throws: ``TokenError/Code/storage``.
    public func identity() async throws(TokenError) -> [String: JSONValue]? {
        try await storedToken()?.idToken.flatMap(SignedClaims.claims)
    }
}
