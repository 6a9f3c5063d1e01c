package import FRCore
package import SignetCore
import SignetJourney
package import SignetNetwork
package import SignetOAuth
package import SignetStorage

/// The dependencies of a process's SDK: network, storage, browser and clock.
package struct LegacyAuthSettings: Sendable {
    /// The policy for permitted addresses.
    package var policy: EndpointPolicy = .secure
    /// The transport for all requests; nil for the one that the app can set.
    package var transport: (any HTTPTransport)?
    /// The keychain for the session, the tokens and the settings.
    package var keychain: VaultProvider = .default
    /// The place in which the ForgeRock SDK has stored the app's session; nil for no takeover.
    package var legacyStore: (any LegacyStore)? = DefaultLegacyStore.current
    /// The path of the lock file for the keychain's items; nil for the default.
    package var lockFile: String?
    /// The folders to search for a configuration, in this order.
    package var folders: [String] = FRAuthConfig.folders
    /// The app's name.
    package var application = FRAuthConfig.applicationName
    /// Opens an address in a browser, which may send its first request as late as the login's answer.
    package var openBrowser: BrowserLogin.Opener = {
        try await SystemBrowser.open(confidential: Secret($0.utf8), within: .seconds(300))
    }
    /// The clock that decides when tokens expire.
    package var clock: any WallClock = SystemWallClock()

    /// Creates the settings of an app, changed by `configure`.
    package init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }
}

/// The state of the SDK in a process: the settings and the started SDK.
///
/// A process has one, as in the ForgeRock documentation. A test can have its own.
package final class FRAuthProcess: Sendable {
    /// The state of this process; in a test, of this task.
    @TaskLocal package static var current = FRAuthProcess()

    let state: Mutex<State>
    let settings: LegacyAuthSettings
    /// The interceptors and the network, which this module shares with FRCore.
    let core: FRCoreProcess

    struct State: Sendable {
        var started: FRAuth?
        var factory = CallbackFactory()
        var configFileName = "FRAuthConfig"
        var applicationName: String
        var store: SessionStore?
        /// The place that the app has set in place of that of the settings.
        var legacyStore: (any LegacyStore)?
        var browser: Browser?
        var tokenPolicy: TokenManagementPolicy?
        var authorizationPolicy: AuthorizationPolicy?
    }

    /// Creates the state of a process in which the SDK isn't started.
    package init(_ settings: LegacyAuthSettings = LegacyAuthSettings(), core: FRCoreProcess = .current) {
        self.settings = settings
        self.core = core
        state = Mutex(State(applicationName: settings.application))
    }

    var started: FRAuth? { state.withLock { $0.started } }

    /// The transport for all requests.
    var transport: any HTTPTransport { settings.transport ?? core.transport }

    /// The permitted addresses: those of the settings, and the hosts that the app allows plain `http` to.
    var policy: EndpointPolicy {
        .allowingPlainHTTP(to: settings.policy.plainHTTPHosts.union(core.policy.plainHTTPHosts))
    }

    func setStore(_ store: SessionStore) throws(ConfigError) {
        try state.withLock { state throws(ConfigError) in
            guard state.started == nil else { throw .invalidSDKState }
            state.store = store
        }
    }

    /// The collector of the device's profile.
    let deviceCollector = FRDeviceCollector(SectionCollector.all)

    func setLegacyStore(_ store: any LegacyStore) throws(ConfigError) {
        try state.withLock { state throws(ConfigError) in
            guard state.started == nil else { throw .invalidSDKState }
            state.legacyStore = store
        }
    }

    // MARK: Browser

    var browser: Browser? { state.withLock { $0.browser } }

    /// Marks a browser login as in progress.
    ///
    /// Returns false when another one is in progress.
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

    /// Starts the SDK with these settings, or with those of the file.
    ///
    /// Invalid settings change nothing.
    func start(_ options: FROptions?) throws {
        let options =
            try options?.settings ?? FRAuthConfig.load(state.withLock { $0.configFileName }, from: settings.folders)
        try state.withLock { state in
            guard state.started?.session.options != options else { return }
            let former = state.started?.session
            let lease = former.flatMap { options.endsSessions(of: $0.options) ? nil : $0.lease } ?? SessionLease()
            let (application, store) = (state.applicationName, state.store)
            let session = try session(options, lease, application, store)
            if store == nil, let source = state.legacyStore ?? settings.legacyStore {
                session.takeOver(from: source, of: try owner(of: options, application), clock: settings.clock)
            }
            session.begin(after: former) { [self] in try self.session($0, SessionLease(), application, store) }
            state.started = FRAuth(session: session, process: self)
            core.set(settingsPins: session.client.profile.pins)
        }
    }

    /// Returns the name under which the ForgeRock SDK keeps the items of these settings.
    private func owner(of options: FRSettings, _ application: String) throws -> LegacyTokens.Owner {
        LegacyTokens.Owner(url: options.url, realm: options.realm, bundle: application, accessGroup: try options.accessGroup)
    }

    /// Creates the session of settings, over the app's own store or in the keychain.
    private func session(
        _ options: FRSettings, _ lease: SessionLease, _ application: String, _ store: SessionStore?
    ) throws -> LegacySession {
        let profile = try options.profile(policy: policy)
        let items = KeychainItems(
            keychain: settings.keychain, application: application, group: try options.accessGroup, lockFile: settings.lockFile)
        let client = try IdentityClient(
            profile, store: try (store ?? items.store()).leased(lease), transport: transport,
            interceptors: core.legacyInterceptors, clock: settings.clock)
        return LegacySession(options, client, lease, store == nil ? items : nil)
    }
}
