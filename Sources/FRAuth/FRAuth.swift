public import SignetCore
public import SignetJourney
public import SignetStorage

/// The SDK, started with settings: one in a process, as the documents have it. For several servers side by side use `IdentityClient`.
///
///     try FRAuth.start(options: options)
///
/// Session and tokens are in the user's vault (`Keychain.standard`); a program that runs where there is none yet makes it with
/// `Keychain.standard.open(_:)`, or brings a store of its own with ``setStore(_:)``.
public final class FRAuth: Sendable {
    /// The settings that the SDK runs with.
    public let options: FROptions
    let session: LegacySession
    private let process: FRAuthProcess

    init(options: FROptions, session: LegacySession, process: FRAuthProcess) {
        self.options = options
        self.session = session
        self.process = process
    }

    /// What ``start(options:)`` has started; nil before.
    public static var shared: FRAuth? { FRAuthProcess.current.started }

    /// The name of the file that ``start(options:)`` reads when it is given no options, without its ending: `FRAuthConfig`.
    public static var configPlistFileName: String {
        get { FRAuthProcess.current.configFileName }
        set { FRAuthProcess.current.configFileName = newValue }
    }

    /// The app's name, by which its session and tokens are told from those of other apps of the same user: the bundle's identifier on
    /// Apple's systems, elsewhere the program's file name unless this is set before ``start(options:)``.
    public static var applicationName: String {
        get { FRAuthProcess.current.applicationName }
        set { FRAuthProcess.current.applicationName = newValue }
    }

    /// Has session, tokens and cookies kept in a store of the app's own. It remembers no settings: those of the last time the program ran
    /// end no session then.
    /// - Throws: ``ConfigError/invalidSDKState`` when the SDK is started.
    public static func setStore(_ store: SessionStore) throws {
        try FRAuthProcess.current.setStore(store)
    }

    /// Starts the SDK, again if need be.
    ///
    /// The first time a session that was kept before stays. When the address, the realm, the cookie's name, or the OAuth 2.0 client, its
    /// redirect address or its scopes differ from those that the SDK was started with before, in this run of the program or in the last,
    /// the session and the tokens are removed, and revoked at the server meanwhile (``formerSession()``). Every other change takes effect
    /// at once, which the original forgets. The same settings change nothing.
    /// - Parameter options: the settings; nil for those of `FRAuthConfig.plist` or `FRAuthConfig.json`, in the app's bundle, beside the
    ///   program or in the folder it was started in.
    /// - Throws: ``ConfigError/emptyConfiguration`` when there is no file, ``ConfigError/invalidConfiguration(_:)`` with the key that is
    ///   wrong, ``ConfigError/invalidAccessGroup(_:)``; `StoreError` when there is no safe place to keep anything. What was started before
    ///   runs on then.
    public static func start(options: FROptions? = nil) throws {
        try FRAuthProcess.current.start(options)
    }

    /// Waits until what a start has to do is done: what is stored was read, and the session of other settings removed. Properties such as
    /// ``FRUser/currentUser`` wait for it by themselves, except over a store of the app's own.
    public func ready() async { await session.wait() }

    /// How the session before was ended at the server: the one that the last login replaced, or the one that was ended because the SDK was
    /// started with other settings; nil when there was none. It waits for the server.
    public func formerSession() async -> LogOutReport? { await session.formerReport() }

    /// Why what is stored could not be read or written, the last time that it could not: where a property of the original answers nil, this
    /// tells whether there is nothing, or it cannot be had now.
    public var lastStorageError: StoreError? { session.lastFailure }

    /// Removes what is stored and ends it at the server, as ``FRUser/logout(forceEndSession:)`` does; also where ``FRUser/currentUser`` is
    /// nil because it cannot be read whose it is.
    @discardableResult
    public func logout() async -> LogOutReport { await session.logOut(endsOpenIDSession: false).value }

    /// The app's own requests with the access token: it is renewed within the threshold, and once when a server does not take it, as the
    /// JavaScript SDK does. ``FROptions/sslPinningPublicKeyHashes`` counts for every one of these servers, as in the original.
    /// - Parameter origins: scheme, host and port of each server that may see the token.
    public func authorizedTransport(for origins: [Endpoint]) -> AuthorizedTransport {
        session.client.authorized(for: origins, pins: session.client.profile.pins) { [session] in try await session.settle() }
    }

    /// A journey of the server.
    func service(_ index: AuthenticationIndex) -> AuthService {
        AuthService(index: index, journeys: session.client.journeys, factory: process.factory, endings: session)
    }
}

extension CallbackFactory {
    /// The factory of this process: what is registered here is used from the next step on.
    public static var shared: CallbackFactory {
        get { FRAuthProcess.current.factory }
        set { FRAuthProcess.current.factory = newValue }
    }
}
