import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport

/// A token source over the test's own server, with all objects that it needs.
struct TokenSourceFixture: Sendable {
    let provider: TestProvider
    let store: SessionStore
    let transport: any HTTPTransport
    let clock: ManualClock
    let tokens: TokenSource

    /// Changes of the server's initial state.
    struct Change: Sendable {
        let body: @Sendable (inout TestProvider.State) -> Void

        static func set(_ body: @escaping @Sendable (inout TestProvider.State) -> Void) -> Change { Change(body: body) }
    }

    /// The app's configuration of the server's addresses.
    struct Addresses: Sendable {
        let body: @Sendable (TestProvider) -> OAuthEndpoints

        static func from(_ body: @escaping @Sendable (TestProvider) -> OAuthEndpoints) -> Addresses { Addresses(body: body) }
    }

    static let client = OAuthClient(
        clientID: "app", redirectURI: "https://app.example.com/cb", scopes: ["openid", "read"],
        signOutRedirectURI: "https://app.example.com/bye")
    static let session = SSOToken(value: Secret("sso-1".utf8))

    static func with<R>(
        session: SSOToken? = session, token: AccessToken? = nil, endpoints: Addresses? = nil,
        client: OAuthClient = client, timeout: Duration = .seconds(240), idleTimeout: Duration = .seconds(240),
        store: SessionStore? = nil, transport other: (any HTTPTransport)? = nil,
        _ change: Change = .set { _ in }, _ body: (TokenSourceFixture) async throws -> R
    ) async throws -> R {
        let provider = try TestProvider(change.body)
        let store = try store ?? SessionStore.memory()
        if let session { try await store.save(session) }
        if let token { try await store.save(token) }
        let (own, clock) = (AsyncHTTPTransport(idleTimeout: idleTimeout), ManualClock(Date()))
        let transport = other ?? own
        let tokens = TokenSource(
            endpoints?.body(provider) ?? provider.endpoints(timeout: timeout), client: client, store: store, transport: transport,
            clock: clock)
        let fixture = TokenSourceFixture(provider: provider, store: store, transport: transport, clock: clock, tokens: tokens)
        return try await own.use { _ in try await body(fixture) }
    }

    /// Returns an app at this server, or at one with another address, over the same store.
    func app(
        at url: String? = nil, timeout: Duration = .seconds(240), pins: Set<PublicKeyPin> = []
    ) throws -> IdentityClient {
        var profile = try TestProvider.profile(of: url ?? provider.url, timeout: timeout)
        profile.pins = pins
        return try IdentityClient(profile, store: store, transport: transport, clock: clock)
    }

    /// Returns a token that the provider issued some time ago and knows by its refresh token.
    static func old(
        left: TimeInterval? = -10, refreshToken: String? = "refresh-old", session: SSOToken? = session,
        idToken: String? = nil, isRotated: Bool? = nil
    ) -> AccessToken {
        AccessToken(
            value: Secret("access-old".utf8), tokenType: "Bearer", scope: "openid read", issuedAt: Date() - 3600,
            expiresAt: left.map { Date() + $0 }, refreshToken: refreshToken.map { Secret($0.utf8) },
            idToken: idToken.map { Secret($0.utf8) }, session: session.map(SessionIdentity.init), isRotated: isRotated)
    }

    /// Adds the provider's side of ``old(left:refreshToken:session:idToken:isRotated:)``.
    static func addOldToken(_ state: inout TestProvider.State) {
        state.families["refresh-old"] = "family-old"
        state.accessTokens["access-old"] = "family-old"
    }

    /// Returns what is stored, without the notes that a refresh was begun or refused.
    func stored() async throws -> StoredState {
        var token = try await store.token()?.recording(renewalBegun: nil)
        token?.isRefreshRefused = false
        return StoredState(token: token, session: try await store.session())
    }

    struct StoredState: Equatable, Sendable {
        let token: AccessToken?
        let session: SSOToken?
    }
}

/// A storage that fails when a test turns failures on.
final class RefusingStorage: Storage, Sendable {
    let refuses = Toggle()
    let refusesReading = Toggle()
    private let inner = MemoryStorage<AccessToken>()

    func save(item: sending AccessToken) async throws {
        if refuses.isOn { throw StoreError(.full, "save", "no room") }
        try await inner.save(item: item)
    }

    func get() async throws -> AccessToken? {
        if refusesReading.isOn { throw StoreError(.denied, "read", "locked") }
        return try await inner.get()
    }

    func delete() async throws { try await inner.delete() }
}

extension AccessToken {
    var text: String { value.text }
}

/// The result or error of a call.
func outcome<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
}

extension Result {
    var tokenError: TokenError? {
        if case .failure(let error) = self { error as? TokenError } else { nil }
    }
}
