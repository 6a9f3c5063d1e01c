public import SignetCore
import SignetStorage

/// Reads what is stored, and never asks a server: for a window that shows who is logged in, for a program that must not wait.
public struct TokenReader: Sendable {
    private let store: SessionStore
    private let clock: any WallClock

    /// A reader of a store.
    public init(_ store: SessionStore, clock: any WallClock = SystemWallClock()) {
        self.store = store
        self.clock = clock
    }

    /// The access token, if there is one that has not ended; nil when there is none or it has.
    /// - Throws: ``TokenError/Code/storage`` when that cannot be found out.
    public func token() async throws(TokenError) -> AccessToken? {
        let now = clock.now
        return try await storedToken().flatMap { $0.isExpired(at: now) ? nil : $0 }
    }

    /// The access token as it is stored, ended or not.
    /// - Throws: ``TokenError/Code/storage``.
    public func storedToken() async throws(TokenError) -> AccessToken? {
        do throws(StoreError) { return try await store.token() } catch { throw TokenError(error) }
    }

    /// The session as it is stored.
    /// - Throws: ``TokenError/Code/storage``.
    public func session() async throws(TokenError) -> SSOToken? {
        do throws(StoreError) { return try await store.session() } catch { throw TokenError(error) }
    }

    /// The claims of the id_token, which were checked when it came; nil when there is none.
    /// - Throws: ``TokenError/Code/storage``.
    public func identity() async throws(TokenError) -> [String: JSONValue]? {
        try await storedToken()?.idToken.flatMap(SignedClaims.claims)
    }
}
