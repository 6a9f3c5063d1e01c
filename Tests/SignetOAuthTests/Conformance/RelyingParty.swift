import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

/// The SDK as the client of a ``ScriptedProvider``, with a scripted browser that comes back to a loopback port.
struct RelyingParty: Sendable {
    /// The way in which the browser brings the answer of the authorization endpoint.
    enum ResponseMode: String, Sendable, CaseIterable {
        case query
        case formPost = "form_post"
    }

    /// A change of the provider's behavior.
    struct Deviation: Sendable {
        let apply: @Sendable (inout ScriptedProvider.Behavior) -> Void

        init(_ apply: @escaping @Sendable (inout ScriptedProvider.Behavior) -> Void) { self.apply = apply }

        static let none = Deviation { _ in }
    }

    let provider: ScriptedProvider
    let store: SessionStore
    let clock: ManualClock
    let tokens: TokenSource
    let network: AsyncHTTPTransport
    private let statuses = Mutex<[Int]>([])

    static let scopes = ["openid", "profile", "email", "phone", "address"]
    /// A secret with characters that must be form-encoded before they are joined with the client ID.
    static let secret = "s3cret +%2B&=:/ü"

    static func client(
        _ mode: ResponseMode = .query, scopes: [String] = scopes, parameters: [String: String] = [:],
        authentication: ClientAuthentication = .none
    ) -> OAuthClient {
        var parameters = parameters
        if mode == .formPost { parameters["response_mode"] = mode.rawValue }
        return OAuthClient(
            clientID: ScriptedProvider.clientID, redirectURI: "http://127.0.0.1/callback", scopes: scopes,
            signOutRedirectURI: "http://127.0.0.1/logged-out", authorizationParameters: parameters,
            authentication: authentication)
    }

    /// Runs `body` with a client that has discovered the provider's addresses.
    /// - Parameters:
    ///   - deviation: The deviation of the provider.
    ///   - client: The client.
    ///   - issuer: The issuer in the settings of the client; nil for the one of the discovery document.
    ///   - discovery: The address of the discovery document.
    ///   - hasEarlierLogin: True when the tokens of an earlier login are stored.
    ///   - body: The test.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    static func with<R>(
        _ deviation: Deviation = .none, client: OAuthClient = RelyingParty.client(), issuer: String? = nil,
        discovery: String = ScriptedProvider.discovery, hasEarlierLogin: Bool = false,
        _ body: (RelyingParty) async throws -> R
    ) async throws -> R {
        let clock = ManualClock(Date())
        let provider = ScriptedProvider(clock: clock) { deviation.apply(&$0) }
        let store = try SessionStore.memory()
        if hasEarlierLogin { try await store.save(earlier(clock.now)) }
        let tokens = TokenSource(
            OAuthEndpoints(issuer: issuer, discovery: discovery), client: client, store: store,
            transport: provider.transport, clock: clock)
        let network = AsyncHTTPTransport()
        let party = RelyingParty(
            provider: provider, store: store, clock: clock, tokens: tokens, network: network)
        return try await network.use { _ in try await body(party) }
    }

    private static func earlier(_ now: Date) -> AccessToken {
        AccessToken(
            value: Secret("access-earlier".utf8), scope: "openid", issuedAt: now - 60, expiresAt: now + 3600,
            refreshToken: Secret("refresh-earlier".utf8))
    }

    /// Logs in with the scripted browser.
    /// - Parameter isAbandoned: True when the timeout passes after the answer of the browser.
    /// - Returns: The tokens.
    /// - Throws: `TokenError`.
    func logIn(isAbandoned: Bool = false) async throws -> AccessToken {
        let (timer, clock) = Self.timer(isAbandoned)
        return try await BrowserLogin(tokens, timeout: .seconds(240), clock: clock) { address in
            try await browse(provider.authorize(address))
            timer.fire()
        }.logIn()
    }

    /// Logs out with the scripted browser.
    /// - Parameter isAbandoned: True when the timeout passes after the answer of the browser.
    /// - Returns: The report.
    func logOut(isAbandoned: Bool = false) async -> LogOutReport {
        let (timer, clock) = Self.timer(isAbandoned)
        return await BrowserLogOut(tokens, timeout: .seconds(240), clock: clock) { address in
            try await browse(HTTPRequest("GET", provider.logOut(address)))
            timer.fire()
        }.logOut()
    }

    /// Returns a timer, and the clock for a timeout: the timer, or a real clock, for which the timer has no effect.
    private static func timer(_ isAbandoned: Bool) -> (timer: ManualTimer, clock: any Clock<Duration>) {
        let timer = ManualTimer()
        if isAbandoned { return (timer, timer) }
        return (timer, ContinuousClock())
    }

    /// The statuses with which the loopback port answered the browser.
    ///
    /// When the client takes an answer, the operation may be over before the browser has its status.
    var browserStatuses: [Int] { statuses.withLock { $0 } }

    /// Brings an answer of the provider to the loopback port, as a browser does.
    func browse(_ request: HTTPRequest) async throws {
        let response = try await network.send(request)
        statuses.withLock { $0.append(response.status) }
    }

    /// Checks that a login was refused without a trace.
    ///
    /// The stored tokens are those from before, they are not revoked, and of the refused response nothing was sent anywhere but
    /// to the revocation endpoint.
    func expectNothingTaken(since before: AccessToken?) async throws {
        #expect(try await store.token() == before)
        #expect(try await store.session() == nil)
        let state = provider.now
        let revokesEarlier = state.revoked.contains { $0.hasSuffix("-earlier") }
        #expect(!revokesEarlier)
        let paths = state.received.filter { !$0.values.isDisjoint(with: state.lastIssued) }.map(\.path)
        #expect(Set(paths).isSubset(of: ["revoke"]), "\(paths)")
    }

    /// Checks that the provider had no fault to find with the client's requests.
    func expectNoFaults() {
        #expect(provider.now.faults == [])
    }
}

extension TokenError {
    /// The error of the server, if it is the cause.
    var serverError: OAuthError? { if case .server(let error) = cause { error } else { nil } }
    /// The error in the ID token, if it is the cause.
    var idTokenError: IDTokenError.Code? { if case .idToken(let error) = cause { error.code } else { nil } }
}
