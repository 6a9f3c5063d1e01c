package import SignetCore
import SignetJourney
package import SignetNetwork
package import SignetOAuth
package import SignetStorage
import Synchronization

/// The dependencies of a process's SDK: network, storage, browser and clock.
package struct LegacyAuthSettings: Sendable {
    /// The policy for permitted addresses.
    package var policy: EndpointPolicy = .secure
    /// Creates the transport for requests.
    package var transport: @Sendable (ServerProfile) throws -> any HTTPTransport = { _ in AsyncHTTPTransport() }
    /// The keychain for the session, the tokens and the settings.
    package var keychain: VaultProvider = .default
    /// The path of the lock file for the keychain's items; nil for the default.
    package var lockFile: String?
    /// The folders to search for a configuration, in this order.
    package var folders: [String] = FRAuthConfig.folders
    /// The app's name.
    package var application = FRAuthConfig.applicationName
    /// Opens an address in a browser.
    package var openBrowser: BrowserLogin.Opener = { try await SystemBrowser.open($0) }
    /// The clock that decides when tokens expire.
    package var clock: any WallClock = SystemWallClock()

    /// Creates the settings of an app, changed by `configure`.
    package init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }
}

/// The state of the SDK in a process: the settings and the started SDK. A process has one, as in the ForgeRock documentation. A
/// test can have its own.
package final class FRAuthProcess: Sendable {
    /// The state of this process; in a test, of this task.
    @TaskLocal package static var current = FRAuthProcess()

    private let state: Mutex<State>
    let settings: LegacyAuthSettings

    private struct State: Sendable {
        var started: FRAuth?
        var interceptors: [any RequestInterceptor] = []
        var factory = CallbackFactory()
        var configFileName = FRAuthConfig.usualName
        var applicationName: String
        var store: SessionStore?
        var browser: Browser?
    }

    /// Creates the state of a process in which the SDK isn't started.
    package init(_ settings: LegacyAuthSettings = LegacyAuthSettings()) {
        self.settings = settings
        state = Mutex(State(applicationName: settings.application))
    }

    var started: FRAuth? { state.withLock { $0.started } }
    var interceptors: [any RequestInterceptor] { state.withLock { $0.interceptors } }

    func setInterceptors(_ change: ([any RequestInterceptor]) -> [any RequestInterceptor]) {
        state.withLock { $0.interceptors = change($0.interceptors) }
    }

    var factory: CallbackFactory {
        get { state.withLock { $0.factory } }
        set { state.withLock { $0.factory = newValue } }
    }

    var configFileName: String {
        get { state.withLock { $0.configFileName } }
        set { state.withLock { $0.configFileName = newValue } }
    }

    var applicationName: String {
        get { state.withLock { $0.applicationName } }
        set { state.withLock { $0.applicationName = newValue } }
    }

    func setStore(_ store: SessionStore) throws(ConfigError) {
        try state.withLock { state throws(ConfigError) in
            guard state.started == nil else { throw .invalidSDKState }
            state.store = store
        }
    }

    // MARK: Browser

    var browser: Browser? { state.withLock { $0.browser } }

    /// Marks a browser login as in progress. Returns false when another one is in progress.
    func begin(_ browser: Browser) -> Bool {
        state.withLock { state in
            guard state.browser == nil else { return false }
            state.browser = browser
            return true
        }
    }

    func end(_ browser: Browser) {
        state.withLock { if $0.browser === browser { $0.browser = nil } }
    }

    // MARK: Starting

    /// Starts the SDK with these settings, or with those of the file. Invalid settings change nothing.
    func start(_ options: FROptions?) throws {
        let options = try options ?? FRAuthConfig.load(configFileName, from: settings.folders)
        let profile = try options.profile(policy: settings.policy)
        let group = try options.accessGroup
        try state.withLock { state in
            if state.started?.options == options { return }
            let former = state.started.map { LegacySession.Former(session: $0.session, options: $0.options) }
            let store: SessionStore
            let kept: SessionStore
            let place: LegacySession.Place
            if let own = state.store {
                (store, kept, place) = (own, own, .app)
            } else {
                let legacy = LegacyPlace(
                    keychain: settings.keychain, application: state.applicationName, group: group, lockFile: settings.lockFile)
                let gate = Gate()
                (store, kept) = (try legacy.store(gate), try legacy.store())
                place = .keychain(legacy, gate, looking: try legacy.store())
            }
            let session = LegacySession(
                try client(profile, store), keeper: try client(profile, kept).tokens, place)
            session.begin(with: options, after: former) { [self] in
                try client($0.profile(policy: settings.policy), kept).tokens
            }
            state.started = FRAuth(options: options, session: session, process: self)
        }
    }

    /// Creates a client for a server, over a store.
    func client(_ profile: ServerProfile, _ store: SessionStore) throws -> IdentityClient {
        try IdentityClient(
            profile, store: store, transport: try settings.transport(profile), interceptors: [LegacyInterceptors(process: self)],
            clock: settings.clock)
    }
}
