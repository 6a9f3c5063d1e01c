import FRCore
public import SignetCore
import SignetJourney
public import SignetNetwork
public import SignetOAuth
public import SignetStorage

/// The SDK, started with settings.
///
/// A process has one instance, as in the ForgeRock documentation. To use several servers at once, use `IdentityClient`.
///
///     try FRAuth.start(options: options)
///
/// The session and the tokens are stored in the user's vault (`VaultProvider.default`), which the first start
/// on a machine creates. A program can supply its own store with ``setStore(_:)`` instead.
public final class FRAuth: Sendable {
    /// The settings that the SDK was started with.
    ///
    /// Each read returns a new object. A new value is only shown here: ``start(options:)`` uses settings.
    public var options: FROptions? {
        get { FROptions(shown.withLock { $0 } ?? session.options) }
        set { shown.withLock { $0 = newValue?.settings } }
    }
    let session: LegacySession
    private let process: FRAuthProcess
    private let shown = Mutex<FRSettings?>(nil)

    init(session: LegacySession, process: FRAuthProcess) {
        self.session = session
        self.process = process
    }

    /// The instance that ``start(options:)`` started; nil before the first start.
    ///
    /// After nil was set, the SDK is not started. Stored data stays.
    public static var shared: FRAuth? {
        get { FRAuthProcess.current.started }
        set { FRAuthProcess.current.state.withLock { $0.started = newValue } }
    }

    /// Sets the transport for all requests of this SDK, for example for the tests of an app; nil for the SDK's own one.
    public static func setTransport(_ transport: (any HTTPTransport)?) { FRAuthProcess.current.core.set(transport) }

    /// Allows plain `http` to the hosts with these names, for test networks.
    ///
    /// Other machines in the network can read passwords and tokens in such requests. Call it before ``start(options:)``; without
    /// it, plain `http` goes only to loopback addresses.
    public static func allowPlainHTTP(to hosts: Set<String>) { FRAuthProcess.current.core.allowPlainHTTP(to: hosts) }

    /// The name, without extension, of the file that ``start(options:)`` reads when it gets no options.
    ///
    /// The default is `FRAuthConfig`.
    public static var configPlistFileName: String {
        get { FRAuthProcess.current.state.withLock { $0.configFileName } }
        set { FRAuthProcess.current.state.withLock { $0.configFileName = newValue } }
    }

    /// The app's name, which separates its session and tokens from those of the user's other apps.
    ///
    /// The default is the bundle identifier on Apple's systems and the program's file name on other systems. Set it before
    /// ``start(options:)``.
    public static var applicationName: String {
        get { FRAuthProcess.current.state.withLock { $0.applicationName } }
        set { FRAuthProcess.current.state.withLock { $0.applicationName = newValue } }
    }

    /// Sets the app's own store for the session, the tokens and the cookies.
    ///
    /// It keeps a ``StoredAccessToken``, an `SSOToken` and a `CookieJar`. It doesn't keep the settings, so settings that changed
    /// since the last run of the program don't end the session.
    /// - Throws: ``ConfigError/invalidSDKState`` when the SDK is already started.
    public static func setStore(_ store: SessionStore) throws {
        try FRAuthProcess.current.setStore(store)
    }

    /// Sets the place from which the first start takes over the session, the tokens and the cookies that the ForgeRock SDK stored.
    ///
    /// It is the app's keychain on Apple's systems. An app that has its data as an exported file sets a `LegacyArchive`; its
    /// ``applicationName`` is then the bundle identifier in the file. Only the first start with the user's vault reads the place, for
    /// the server and the realm of its settings. Nothing in it is changed.
    /// - Throws: ``ConfigError/invalidSDKState`` when the SDK is already started.
    public static func setLegacyStore(_ store: any LegacyStore) throws {
        try FRAuthProcess.current.setLegacyStore(store)
    }

    /// Starts the SDK, or restarts it with other settings.
    ///
    /// The first start keeps a stored session. The session and the tokens are removed, and revoked at the server in the
    /// background, when one of these settings differs from the last start in this run of the program or in the run before: the
    /// address, the realm, the cookie's name, or the OAuth 2.0 client, its redirect URI or its scopes (see ``formerSession()``).
    /// Other changes take effect immediately, which the ForgeRock SDK doesn't do. A start with equal settings changes nothing.
    /// - Parameter options: The settings; nil for those of `FRAuthConfig.plist` or `FRAuthConfig.json` in the app's bundle, in
    ///   the program's folder or in the working directory.
    /// - Throws: ``ConfigError/emptyConfiguration`` when no file exists; ``ConfigError/invalidConfiguration(_:)`` with the
    ///   invalid key; ``ConfigError/invalidAccessGroup(_:)``; `StoreError` when no safe place to store data exists. An SDK that
    ///   was started before then continues to run.
    public static func start(options: FROptions? = nil) throws {
        try FRAuthProcess.current.start(options)
    }

    /// Waits until the start is complete: stored data has been read, and the session of other settings has been removed.
    ///
    /// Properties such as ``FRUser/currentUser`` wait by themselves, except over the app's own store.
    public func ready() async { await session.finish() }

    /// Returns the report about the end of the former session at the server: the session that the last login replaced, or the
    /// session that ended because the SDK was started with other settings.
    ///
    /// Nil when no session was ended. It waits for the server.
    public func formerSession() async -> LogOutReport? { await session.formerReport() }

    /// The last error from reading or writing stored data.
    ///
    /// When a property of the ForgeRock SDK's interface is nil, this tells missing data from data that can't be read now.
    public var lastStorageError: StoreError? { session.lastFailure }

    /// Removes the stored data and ends the session at the server, as ``FRUser/logout(forceEndSession:)`` does.
    ///
    /// It also works when ``FRUser/currentUser`` is nil because the stored data can't be read.
    @discardableResult
    public func logout() async -> LogOutReport { await session.logOut(endsOpenIDSession: false).value }

    /// Returns a transport for the app's own requests with the access token.
    ///
    /// The transport renews the token within the threshold (``FROptions/oauthThreshold``), and once when a server rejects it, as
    /// the JavaScript SDK does. ``FROptions/sslPinningPublicKeyHashes`` applies to each of these servers, as in the ForgeRock
    /// SDK.
    /// - Parameter origins: The scheme, host and port of each server that may receive the token.
    /// - Returns: A transport that rejects a request to any other server with `TransportError`.
    public func authorizedTransport(for origins: [Endpoint]) -> AuthorizedTransport {
        session.client.authorized(for: origins, pins: session.client.profile.pins) { [session] in try await session.ready() }
    }

    /// Returns a journey of the server.
    func service(_ index: AuthenticationIndex, _ configure: (inout JourneyOptions) -> Void = { _ in }) -> AuthService {
        AuthService(
            index: index, options: JourneyOptions(configure), journeys: session.client.journeys,
            factory: process.state.withLock { $0.factory }, session: session)
    }
}

extension CallbackFactory {
    /// The factory of this process.
    ///
    /// Classes that are registered here are used from the next step on.
    public static var shared: CallbackFactory {
        get { FRAuthProcess.current.state.withLock { $0.factory } }
        set { FRAuthProcess.current.state.withLock { $0.factory = newValue } }
    }
}
