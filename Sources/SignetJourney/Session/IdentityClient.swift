import Crypto
public import SignetCore
public import SignetNetwork
public import SignetStorage

/// One app at one server: its journeys, its session, its tokens, all of one profile, through one transport, over one store. An app
/// makes it once and keeps it; an app with two servers makes two.
///
///     let app = try IdentityClient(profile, account: "com.example.app")
///     var state = try await app.journeys.start("Login")
///     …                                           // answer the steps; the session at the end is kept
///     let token = try await app.tokens.token()    // ask whenever one is needed
///     let report = await app.logOut()
///
/// A session that a journey delivers is stored, and what it means for the one before it is done (``TokenSource/adopt(_:)``). The
/// next journey begins with the stored session, so that the server can raise it, or end the journey at once;
/// ``JourneyOptions/forceAuthentication`` has the journey walked all the same.
public struct IdentityClient: Sendable {
    /// The server and the app, as they were when this was made.
    public let profile: ServerProfile
    /// The journeys of the server.
    public let journeys: Journey
    /// The session and the tokens.
    public let tokens: TokenSource
    private let transport: any HTTPTransport
    private let clock: any WallClock

    /// An app at a server, with a store of the app's own.
    /// - Parameters:
    ///   - profile: the server, and the app as the server knows it.
    ///   - store: where session, tokens and cookies are kept. Two servers, or two apps, need two.
    ///   - transport: what requests go through; nil for connections of its own.
    ///   - interceptors: see each request before it is sent, in this order.
    ///   - clock: the time by which tokens and cookies end.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: ``ProfileError``.
    public init(
        _ profile: ServerProfile, store: SessionStore, transport: (any HTTPTransport)? = nil,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws(ProfileError) {
        let transport = transport ?? AsyncHTTPTransport()
        self.profile = profile
        self.transport = transport
        self.clock = clock
        tokens = try TokenSource(
            profile, store: store, transport: transport, interceptors: interceptors, clock: clock, requestLogger: requestLogger)
        journeys = Journey(
            profile, transport: transport, interceptors: interceptors, keeping: tokens, requestLogger: requestLogger)
    }

    /// An app at a server, with its part of the user's vault; see ``SessionStore/keychain(account:for:in:lockFile:)``.
    /// - Parameters:
    ///   - profile: The server and the client.
    ///   - account: a name of the app's own, for example `com.example.app`. The server, the realm and the client make the rest of
    ///     the place, so that another profile finds another session.
    ///   - keychain: the vault.
    ///   - transport: How servers are reached.
    ///   - interceptors: Who sees each request before it is sent.
    ///   - clock: What time it is.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: ``ProfileError``; `StoreError` when the place is not known or not safe.
    public init(
        _ profile: ServerProfile, account: String, keychain: Keychain = .standard, transport: (any HTTPTransport)? = nil,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws {
        try self.init(
            profile, store: .keychain(account: account, for: profile, in: keychain), transport: transport,
            interceptors: interceptors, clock: clock, requestLogger: requestLogger)
    }

    /// What is stored, for who must not wait for a server.
    public var reader: TokenReader { TokenReader(tokens.store, clock: clock) }

    /// A walk through a journey, for a user interface.
    public func walk(options: JourneyOptions = JourneyOptions()) -> JourneySession { JourneySession(journeys, options: options) }

    /// A login in the person's own browser.
    /// - Parameter patience: how long the person has.
    public func browserLogin(patience: Duration = .seconds(300)) -> BrowserLogin { BrowserLogin(tokens, patience: patience) }

    /// A login that the person finishes on another device.
    public func deviceLogin() -> DeviceLogin { DeviceLogin(tokens) }

    /// The app's own requests with the access token, to these servers and to no others.
    /// - Parameters:
    ///   - origins: scheme, host and port of each. One that is the profile's own server must have a key of the profile's pins.
    ///   - pins: the keys of which the others must have one; none for what each request insists on.
    public func authorized(for origins: [Endpoint], pins: Set<PublicKeyPin> = []) -> AuthorizedTransport {
        authorized(for: origins, pins: pins) {}
    }

    /// The same.
    /// - Parameter settle: what comes before each request; where it throws, no token is asked for.
    package func authorized(
        for origins: [Endpoint], pins: Set<PublicKeyPin>, after settle: @escaping @Sendable () async throws -> Void
    ) -> AuthorizedTransport {
        let origins = origins.map { origin in
            let isOwn = !profile.pins.isEmpty && origin.hasSameOrigin(as: profile.url)
            return AuthorizedTransport.Origin(address: origin, pins: isOwn ? profile.pins : pins)
        }
        return AuthorizedTransport(transport, tokens: tokens, origins: origins, after: settle)
    }

    /// What the server says about the person.
    /// - Throws: ``TokenError``.
    public func userInfo() async throws(TokenError) -> UserInfo { try await tokens.userInfo() }

    /// Logs out, here in any case and at the server as well as that goes; see ``TokenSource/logOut(endsOpenIDSession:)``.
    public func logOut(endsOpenIDSession: Bool = false) async -> LogOutReport {
        await tokens.logOut(endsOpenIDSession: endsOpenIDSession)
    }
}

extension SessionStore {
    /// What is kept in the user's vault for one app at one server: the same place for every profile that names the same server,
    /// realm and client, however it writes them, and another one for any other.
    /// - Parameters:
    ///   - account: A name of the app's own.
    ///   - profile: The server and the client.
    ///   - keychain: The vault.
    ///   - lockFile: As for ``keychain(account:in:lockFile:)``.
    /// - Throws: `StoreError` when the place for the lock file is not known or not safe.
    public static func keychain(
        account: String, for profile: ServerProfile, in keychain: Keychain = .standard, lockFile: String? = nil
    ) throws(StoreError) -> SessionStore {
        // A tuple, written so that no two are written alike.
        let place: [String] = [profile.url.place, profile.realm.description, profile.client?.clientID ?? ""]
        let digest = SHA256.hash(data: JSON.encode(.array(place.map { .string($0) })))
        let name = Hexadecimal.text(of: Array(digest).prefix(16))
        return try SessionStore.keychain(account: "\(account)/\(name)", in: keychain, lockFile: lockFile)
    }
}
