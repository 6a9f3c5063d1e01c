public import SignetCore
public import SignetNetwork
public import SignetOAuth
public import SignetStorage

/// The connection of one app to one server: the journeys, the session and the tokens of one profile, with one transport and one
/// store.
///
/// An app creates one client for each server and keeps it.
///
///     let app = try IdentityClient(profile, account: "com.example.app")
///     var state = try await app.journeys.start("Login")
///     …                                           // answer the steps; the session at the end is stored
///     let token = try await app.tokens.token()    // ask whenever one is needed
///     let report = await app.logOut()
///
/// The session of a journey is stored and replaces the previous session (`TokenSource.adopt(_:)`). The next journey begins with
/// the stored session, so the server can upgrade it or end the journey immediately. Set ``JourneyOptions/forceAuthentication`` to
/// run the journey in any case.
public struct IdentityClient: Sendable {
    /// The profile of the server and the app at the time of creation.
    public let profile: ServerProfile
    /// The journeys of the server.
    public let journeys: Journey
    /// The session and the tokens.
    public let tokens: TokenSource
    /// The devices of the logged-in user at the server.
    public let devices: DeviceClient
    private let transport: any HTTPTransport
    private let clock: any WallClock

    /// Creates a client with a store of the app.
    /// - Parameters:
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - store: The store for the session, the tokens and the cookies. Two servers, or two apps, need separate stores.
    ///   - transport: The transport that sends the requests; nil for a new one.
    ///   - interceptors: The interceptors that see each request before it is sent, in this order.
    ///   - clock: The clock for the expiration of tokens and cookies.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: `ProfileError`.
    public init(
        _ profile: ServerProfile, store: SessionStore, transport: (any HTTPTransport)? = nil,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws(ProfileError) {
        let transport = transport ?? DefaultTransport.make()
        self.profile = profile
        self.transport = transport
        self.clock = clock
        tokens = try TokenSource(
            profile, store: store, transport: transport, interceptors: interceptors, clock: clock, requestLogger: requestLogger)
        journeys = Journey(
            profile, transport: transport, interceptors: interceptors, keeping: tokens, requestLogger: requestLogger)
        devices = DeviceClient(
            profile, sessionOf: tokens, transport: transport, interceptors: interceptors, requestLogger: requestLogger)
    }

    /// Creates a client with a store in the user's vault; see `SessionStore.keychain(account:for:in:lockFile:)`.
    /// - Parameters:
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - account: A name of the app, for example `com.example.app`. The server, the realm and the client ID complete the name
    ///     of the store, so each profile has its own session.
    ///   - keychain: The user's vault.
    ///   - transport: The transport that sends the requests; nil for a new one.
    ///   - interceptors: The interceptors that see each request before it is sent, in this order.
    ///   - clock: The clock for the expiration of tokens and cookies.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: `ProfileError`; `StoreError` when the directory for the lock file is unknown or unsafe.
    public init(
        _ profile: ServerProfile, account: String, keychain: VaultProvider = .default, transport: (any HTTPTransport)? = nil,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws {
        try self.init(
            profile, store: .keychain(account: account, for: profile, in: keychain), transport: transport,
            interceptors: interceptors, clock: clock, requestLogger: requestLogger)
    }

    /// Returns a client with the same store whose requests authenticate the OAuth 2.0 client in another way.
    ///
    /// It has no interceptors and no request logger.
    /// - Throws: `ProfileError`.
    package func authenticating(by authentication: ClientAuthentication) throws(ProfileError) -> IdentityClient {
        var profile = self.profile
        profile.client?.authentication = authentication
        return try IdentityClient(profile, store: tokens.store, transport: transport, clock: clock)
    }

    /// A reader of the stored items, for callers that must not wait for a server.
    public var reader: TokenReader { TokenReader(tokens.store, clock: clock) }

    /// Creates a run of a journey, for a user interface.
    public func journeySession(options: JourneyOptions = JourneyOptions()) -> JourneySession {
        JourneySession(journeys, options: options)
    }

    /// Creates a login in the user's own browser, which the user must complete within `timeout`.
    public func browserLogin(timeout: Duration = .seconds(300)) -> BrowserLogin { BrowserLogin(tokens, timeout: timeout) }

    /// Creates a logout in the user's own browser, which waits at most `timeout` for the browser to come back.
    public func browserLogOut(timeout: Duration = .seconds(300)) -> BrowserLogOut { BrowserLogOut(tokens, timeout: timeout) }

    /// Creates a login that the user completes on another device.
    public func deviceLogin() -> DeviceLogin { DeviceLogin(tokens) }

    /// Creates a request to a user on the device with their authenticator.
    public func backchannelLogin() -> BackchannelLogin { BackchannelLogin(tokens) }

    /// Returns a transport that sends the app's own requests with the access token, only to the given servers.
    /// - Parameters:
    ///   - origins: The scheme, host and port of each server. The profile's own server must present a key of the profile's pins.
    ///   - pins: The pins of the other servers; empty when only the pins of each request apply.
    /// - Returns: A transport that rejects a request to any other server with `TransportError`.
    public func authorized(for origins: [Endpoint], pins: Set<PublicKeyPin> = []) -> AuthorizedTransport {
        authorized(for: origins, pins: pins) {}
    }

    /// Returns a transport that runs `prepare` before each request.
    /// - Parameters:
    ///   - origins: The scheme, host and port of each server that may receive the token.
    ///   - pins: The pins of the servers to which the profile's pins don't apply.
    ///   - prepare: The function to run. When it throws, no token is requested.
    /// - Returns: A transport that rejects a request to any other server with `TransportError`.
    package func authorized(
        for origins: [Endpoint], pins: Set<PublicKeyPin>, after prepare: @escaping @Sendable () async throws -> Void
    ) -> AuthorizedTransport {
        let origins = origins.map { origin in
            let isOwn = !profile.pins.isEmpty && origin.hasSameOrigin(as: profile.url)
            return AuthorizedTransport.Origin(address: origin, pins: isOwn ? profile.pins : pins)
        }
        return AuthorizedTransport(transport, tokens: tokens, origins: origins, after: prepare)
    }

    /// Requests the claims about the user.
    /// - Throws: `TokenError`.
    public func userInfo() async throws(TokenError) -> UserInfo { try await tokens.userInfo() }

    /// Logs out on this machine in all cases, and at the server when possible; see `TokenSource.logOut(endsOpenIDSession:)`.
    public func logOut(endsOpenIDSession: Bool = false) async -> LogOutReport {
        await tokens.logOut(endsOpenIDSession: endsOpenIDSession)
    }
}
