import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting

/// Every request that an app makes to a server.
enum Operation: String, CaseIterable, Sendable {
    case start, next, authorize, exchange, refresh, keys, userInfo, revoke, logOut, endSession, discovery, description, device,
        poll

    /// The endpoint of the server that the operation needs.
    var path: String {
        switch self {
        case .start, .next: "authenticate"
        case .authorize: "authorize"
        case .exchange, .refresh, .poll: "token"
        case .keys: "jwks"
        case .userInfo: "userinfo"
        case .revoke: "revoke"
        case .logOut: "sessions"
        case .endSession: "endsession"
        case .discovery, .description: "discovery"
        case .device: "device"
        }
    }

    /// The session that is stored before the operation.
    var session: SSOToken? {
        switch self {
        case .refresh, .userInfo, .endSession, .device, .poll: nil
        default: TokenSourceFixture.session
        }
    }

    /// The token that is stored before the operation.
    var token: AccessToken? {
        switch self {
        case .authorize, .exchange, .keys, .description: nil
        case .refresh: TokenSourceFixture.old(session: nil)
        case .endSession: TokenSourceFixture.old(left: 3600, session: nil, idToken: "e30.e30.e30")
        case .userInfo, .device, .poll: TokenSourceFixture.old(left: 3600, session: nil)
        default: TokenSourceFixture.old(left: 3600)
        }
    }

    /// Returns what is stored after a failure: the previous content, unless the app asked for its removal.
    func stored(_ before: TokenSourceFixture.StoredState) -> TokenSourceFixture.StoredState {
        switch self {
        case .revoke: TokenSourceFixture.StoredState(token: nil, session: before.session)
        case .logOut, .endSession: TokenSourceFixture.StoredState(token: nil, session: nil)
        default: before
        }
    }

    /// Runs the operation and throws its error.
    func run(_ app: IdentityClient, _ fixture: TokenSourceFixture) async throws {
        switch self {
        case .start: _ = try await app.journeys.start()
        case .next: _ = try await app.journeys.next(JourneyStep(authId: "a", callbacks: []))
        case .authorize, .exchange, .keys, .refresh: _ = try await app.tokens.token()
        case .userInfo: _ = try await app.userInfo()
        case .revoke: try await app.tokens.revoke()
        case .logOut: try Self.check(await app.logOut().session)
        case .endSession: try Self.check(await app.logOut().openIDSession)
        case .discovery: _ = try await Self.undiscovered(app).discovering(over: fixture.transport)
        case .description:
            let described = try TokenSource(
                Self.undiscovered(app), store: fixture.store, transport: fixture.transport, clock: fixture.clock)
            _ = try await described.token()
        case .device: _ = try await app.deviceLogin().begin()
        case .poll:
            let login = DeviceLogin(app.tokens) { _ in fixture.clock.advance(by: 200) }
            _ = try await login.finish(try await login.begin())
        }
    }

    private static func undiscovered(_ app: IdentityClient) -> ServerProfile {
        var profile = app.profile
        profile.issuer = nil
        return profile
    }

    private static func check(_ outcome: LogOutReport.Outcome) throws {
        switch outcome {
        case .done, .notNeeded, .notOffered: break
        case .needsBrowser, .showedPage: throw NeedsBrowser()
        case .failed(let error): throw error
        }
    }
}

/// The server answered with a page, which the user must read.
struct NeedsBrowser: Error {}

extension Error {
    /// True when the operation may be retried, according to the error of any module.
    var mayBeTriedAgain: Bool? {
        switch self {
        case let error as TokenError: error.isRetryable
        case let error as JourneyError: error.isRetryable
        case let error as ProfileError: error.isRetryable
        case let error as TransportError: error.isRetryable
        default: nil
        }
    }

    /// The wait time before a retry, if the server gives one.
    var wait: Duration? {
        switch self {
        case let error as TokenError: error.retryAfter
        case let error as JourneyError: error.retryAfter
        case let error as ProfileError: error.retryAfter
        default: nil
        }
    }

    /// The transport error's code, if the error is one.
    var transportCode: TransportError.Code? {
        switch self {
        case let error as TransportError: error.code
        case let error as TokenError: if case .network(let error) = error.cause { error.code } else { nil }
        default: nil
        }
    }
}

extension Result {
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
