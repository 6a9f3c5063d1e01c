import Foundation
public import PingCommons
public import PingLogger
public import SignetAuthenticator
public import SignetCore
public import SignetNetwork
public import SignetStorage

/// The configuration of a ``PushClient``.
///
/// One task creates a configuration and hands it over to the client, which owns the storage from then on.
public final class PushConfiguration: AccountStoreTaking, AccountItemTaking {
    /// The settings that the engine shares with other clients.
    package let engine = EngineSettings()
    private var pushStorage: (any PushStorage)?

    /// The storage of credentials, notifications and the device token. The property is overloaded for three types:
    ///
    ///     config.storage = CustomPushStorage()              // any PushStorage
    ///     config.storage = AccountRecords(vault)            // any AccountStore, for an app with several vaults
    ///     config.storage = CustomStorage()                  // any Storage<StoredAccounts>, which keeps all accounts as one item
    ///
    /// When it is nil, the accounts are in the user's vault at the default location, `VaultProvider.default`.
    ///
    /// Clients that work at the same time, in one process or several, should use the vault or an `AccountStore`: the other two
    /// types have no lock.
    public var storage: (any PushStorage)? {
        get { pushStorage }
        set {
            engine.accountStore = nil
            pushStorage = newValue
        }
    }

    /// The `AccountStore` that ``storage`` was set to; nil when it was set to another type.
    public var accountStore: (any AccountStore)? {
        get { engine.accountStore }
        set {
            pushStorage = nil
            engine.accountStore = newValue
        }
    }

    /// The item storage that ``storage`` was set to; nil when it was set to another type.
    public var accountItem: (any Storage<StoredAccounts>)? {
        get { engine.storage }
        set {
            pushStorage = nil
            engine.storage = newValue
        }
    }

    /// The policies of issuers that are evaluated; nil for `biometricAvailable` and `deviceTampering`.
    ///
    /// An account is locked for as long as the device violates one of its policies.
    public var policyEvaluator: MfaPolicyEvaluator?

    /// The policies of the engine that take the place of ``policyEvaluator``; nil for none.
    public var accountPolicies: AccountPolicies?

    /// True when accounts may be kept only in a sealed form.
    ///
    /// The default is true, which rejects a database that keeps accounts in plain text. The app itself must protect a storage that
    /// it implements.
    public var encryptionEnabled: Bool {
        get { engine.encryptionEnabled }
        set { engine.encryptionEnabled = newValue }
    }

    /// The timeout in milliseconds for each call of a storage that the app implements, and for each request to a server: 1 to
    /// 86,400,000.
    ///
    /// The default is 15,000. A storage that timed out during a change may nevertheless have made the change.
    public var timeoutMs = 15_000

    /// True when credentials that were read are cached in memory, in plain text, so that a list does not read the storage again.
    ///
    /// The default is false. Locks are evaluated on each call.
    public var enableCredentialCache = false

    /// The logger of the client's log lines.
    ///
    /// A line contains the name of the call, ids and error codes, and never names of users, secrets or the content of messages.
    public var logger: any Logger = LogManager.logger

    /// Handlers of push platforms other than AM's, by the platform name that their credentials have
    /// (``PushCredential/platformName``).
    ///
    /// A handler under `pingam` replaces the one for AM. Other values than a ``PushHandler`` are ignored, with a warning in the log.
    public var customPushHandlers: [String: Any] = [:]

    /// The rule for the notifications to keep of each credential.
    ///
    /// The default keeps the newest 100.
    public var notificationCleanupConfig = NotificationCleanupConfig.default()

    /// The hosts that push endpoints may have plain `http` to, for test networks: the traffic can be read in transit.
    ///
    /// Without it, only loopback addresses may use plain `http`.
    public var plainHTTPHosts: Set<String> = []

    /// The device data that are sent at registration.
    ///
    /// The token in it is ignored when ``PushClient/setDeviceToken(_:credentialId:)`` has stored one.
    public var device = PushDevice(token: "", name: ProcessInfo.processInfo.hostName)

    /// The transport for requests to servers; nil for a transport of the client's own, which ``PushClient/close()`` closes.
    public var transport: (any HTTPTransport)?

    /// The interceptors that see each request before it is sent, in this order.
    ///
    /// They can't change `x-requested-with` and `x-requested-platform`, by which servers recognize the SDK.
    public var interceptors: [any RequestInterceptor] = []

    /// The clock of this machine.
    public var clock: any WallClock = SystemWallClock()

    /// The keychain that has the default vault.
    package var keychain: VaultProvider {
        get { engine.keychain }
        set { engine.keychain = newValue }
    }

    /// The place from which the first client takes over what Ping's SDK stored: the app's keychain on Apple's systems, and nil
    /// elsewhere.
    ///
    /// An app that has its data as an exported file sets a `LegacyArchive`. All credentials and notifications are stored in one
    /// transaction, once. Nothing in the place is changed. A storage that the app sets gets nothing.
    public var legacyStore: (any LegacyStore)? {
        get { engine.legacyStore }
        set { engine.legacyStore = newValue }
    }

    /// The place to take over from, and the keychain that takes it over; nil when the app set a storage.
    var takeover: (source: any LegacyStore, keychain: VaultProvider)? { pushStorage == nil ? engine.takeover : nil }

    /// Creates a configuration with the default values.
    public init() {}

    /// Creates a configuration and passes it to `configure`.
    public static func build(_ configure: (PushConfiguration) -> Void) -> sending PushConfiguration {
        let configuration = PushConfiguration()
        configure(configuration)
        return configuration
    }

    /// The settings of the engine.
    package final class EngineSettings: ClientConfiguration {
        override init() { super.init() }
    }
}

extension PushConfiguration {
    /// Returns the configured store.
    /// - Throws: The errors of the engine's `ClientConfiguration`.
    static func accountStore(of configuration: sending PushConfiguration) async throws(StoreError) -> any AccountStore {
        let limit = try configuration.limit()
        if let storage = configuration.pushStorage { return StorageAccounts(storage, limit: limit) }
        return try await ClientConfiguration.accountStore(of: configuration.engine)
    }

    /// Returns the timeout.
    /// - Throws: `StoreError.Code.invalid` when ``timeoutMs`` is out of range.
    func limit() throws(StoreError) -> Duration {
        engine.timeoutMs = Double(timeoutMs)
        return try engine.limit()
    }

    /// The handlers of ``customPushHandlers``, by the names of their platforms.
    func handlers(_ log: ClientLog) -> [HandlerPlatform] {
        customPushHandlers.sorted { $0.key < $1.key }.compactMap { name, value in
            guard let handler = value as? any PushHandler else {
                log.write(.warning, "createClient", nil, "a custom push handler is not a PushHandler and is ignored")
                return nil
            }
            return HandlerPlatform(name: name, handler: handler)
        }
    }
}

/// The app's logger as the engine's.
struct LoggerLines: ClientLogger {
    let logger: any Logger

    func log(_ level: ClientLogLevel, _ line: String) {
        switch level {
        case .debug: logger.d(line)
        case .warning: logger.w(line, error: nil)
        case .error: logger.e(line, error: nil)
        }
    }
}
