import Foundation
package import Logging
package import SignetAuthenticator
package import SignetCore
package import SignetNetwork
package import SignetStorage

/// The engine of a started client, over the app's own storage client or over the default store.
///
/// Synchronous calls perform the engine's operations. Calls that need a server run the asynchronous engine over the
/// same store. An object that the app gets remembers the store's generation, which is its number of changes, at the time of the
/// read. While the generation is unchanged, an operation uses the object as the stored value, and makes no more calls to the
/// storage client than the ForgeRock SDK does. After a change it reads the value again, so that a counter is never reused and an
/// answer is never sent twice.
final class LegacyEngine: Sendable {
    let settings: LegacySettings
    let kind: StoreKind
    let policies: PolicyBox
    let authenticator: Authenticator
    private let state = Mutex(State())

    private struct State {
        var lastError: (any Error)?
        /// The last task in the queue of token updates.
        var lastUpdate: Task<Void, Never>?
    }

    init(_ settings: LegacySettings, _ kind: StoreKind) {
        let policies = settings.policies ?? PolicyBox(FRAPolicyEvaluator())
        (self.settings, self.kind, self.policies) = (settings, kind, policies)
        authenticator = Authenticator(
            store: ClientStore(kind), transport: settings.transport ?? DefaultTransport.make(), device: settings.device,
            clock: settings.clock, policies: policies.engine(), retention: .all, interceptors: settings.allInterceptors)
    }

    /// Opens the app's own storage client, or the user's vault when the app set none.
    convenience init(opening settings: LegacySettings) throws(StoreError) {
        self.init(settings, try StoreKind(opening: settings))
    }

    /// Opens the store without blocking the thread.
    convenience init(opening settings: LegacySettings) async throws(StoreError) {
        self.init(settings, try await Blocking.run { () throws(StoreError) in try StoreKind(opening: settings) })
    }

    /// Returns the engine that created an object, or that of the process; see ``FRAProcess/engine()``.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the SDK has not started and its store can't be opened.
    static func of(_ token: CacheToken?) async throws -> LegacyEngine {
        if let token { return token.engine }
        do {
            return try await Blocking.run { [process = FRAProcess.current] () throws(StoreError) in try process.engine() }
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    // MARK: Operations

    /// Returns the store for one operation.
    /// - Parameters:
    ///   - token: The cache token of the object that the operation is about.
    ///   - fill: Adds the object's values to the cache. It is called only when the object is up to date.
    /// - Returns: A store of the engine's records, or of the app's storage client with a cache for this operation.
    func store(_ token: CacheToken? = nil, _ fill: (inout ReadCache) -> Void = { _ in }) -> ClientStore {
        guard case .client(let client) = kind else { return ClientStore(kind) }
        var cache = ReadCache()
        cache.generation = client.generation
        if let token, token.engine === self, token.generation == cache.generation { fill(&cache) }
        return ClientStore(kind, cache)
    }

    /// Returns the value of a mechanism's object, and the store for one operation on it.
    func store(for object: Mechanism) -> (value: SignetCore.Mechanism, store: ClientStore) {
        let (value, token) = object.box.content
        return (value, store(token) { $0.mechanisms[value.uid] = .present(value) })
    }

    /// Returns the value of a notification's object, and the store for one operation on it.
    func store(for object: PushNotification) -> (value: SignetCore.PushNotification, store: ClientStore) {
        let (value, token) = object.box.content
        return (value, store(token) { $0.notifications[value.id] = .present(value) })
    }

    /// Reads notifications and accounts.
    ///
    /// Answers that servers have accepted and the store has not saved yet are stored first.
    func read<Value>(_ query: AccountQuery<Value, any Error>, in store: ClientStore) throws -> Value {
        authenticator.flushAnswers(in: store)
        return try store.fetch(query)
    }

    /// Reads notifications.
    ///
    /// Answers that servers have accepted and the store has not saved yet are stored first.
    func read<Value>(_ query: AccountQuery<Value, StoreError>, in store: ClientStore) throws(StoreError) -> Value {
        authenticator.flushAnswers(in: store)
        return try store.fetch(query)
    }

    /// Returns the cache token of the objects that the last transaction of a store read or wrote.
    func token(of store: ClientStore) -> CacheToken { CacheToken(engine: self, generation: store.generation) }

    /// Runs a synchronous operation.
    ///
    /// Its error is logged and kept for ``FRAClient/lastStorageError``.
    func perform<R>(_ operation: String, default defaultValue: R, _ body: () throws -> R) -> R {
        do {
            return try body()
        } catch {
            log(error, operation)
            return defaultValue
        }
    }

    /// Runs a synchronous operation.
    ///
    /// When the store fails or the account is unknown, it returns false, and logs and keeps the error. It throws other errors.
    func throwing(_ operation: String, _ body: () throws -> Bool) throws -> Bool {
        do {
            return try body()
        } catch let error as StoreError {
            log(error, operation)
            return false
        } catch let error as AuthenticatorError where error.code == .unknownAccount {
            log(error, operation)
            return false
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Logs an error, without secrets, and keeps it.
    func log(_ error: any Error, _ operation: String) {
        settings.log(error, operation)
        state.withLock { $0.lastError = error }
    }

    var lastError: (any Error)? { state.withLock { $0.lastError } }

    /// - Throws: `AuthenticatorError.Code.accountLocked`.
    func refuseIfLocked(_ account: SignetCore.Account?) throws(AuthenticatorError) {
        guard let account else { return }
        if let policy = account.lockingPolicy { throw .locked(.manual(policy: policy)) }
        if let policy = policies.violated(account) { throw .locked(.byPolicy(policy)) }
    }
}

extension LegacyEngine {
    /// Runs `body` after all token updates that were requested before it, so that the last requested token is the one that
    /// remains.
    func enqueue<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) -> Task<R, any Error> {
        state.withLock { state in
            let previous = state.lastUpdate
            let update = Task {
                await previous?.value
                return try await body()
            }
            state.lastUpdate = Task { _ = await update.result }
            return update
        }
    }
}

/// The version of the store at which an object was read, and the engine that read it.
struct CacheToken: Sendable {
    let engine: LegacyEngine
    /// The number of changes of the store at which the object was read.
    let generation: Int
}

extension StoreKind {
    /// Opens the app's own storage client, or the user's vault when the app set none, in the settings' or the default location.
    init(opening settings: LegacySettings) throws(StoreError) {
        if let client = settings.storage {
            self = .client(client)
        } else {
            // The opened store seals its records itself.
            let directory = if let vault = settings.vault { vault } else { try VaultDirectory.default() }
            let records = try DefaultStore.open(in: directory)
            try settings.takeOverAccounts(into: records)
            self = .records(AccountRecords(unsealed: records))
        }
    }
}

/// The settings of a client.
package struct LegacySettings: Sendable {
    /// The app's own storage client; nil for the user's vault.
    var storage: ClientBox?
    /// The app's evaluator of policies; nil for the default policies.
    var policies: PolicyBox?
    /// The app's check of the user's presence.
    var presence: (any FRAUserPresence)?
    /// The transport to servers; nil for the client's own transport.
    package var transport: (any HTTPTransport)?
    /// The clock.
    package var clock: any WallClock
    /// The description of this device for servers.
    ///
    /// The app supplies the token.
    package var device: PushDevice
    /// The policy for permitted servers.
    package var endpoints: EndpointPolicy
    /// The interceptors, which see each request before it is sent.
    package var interceptors: [any RequestInterceptor]
    /// The location of the vault for a client without a storage client; nil for the default location.
    package var vault: VaultDirectory?
    /// The place in which the ForgeRock SDK has stored the app's data; nil for no takeover.
    package var legacyStore: (any LegacyStore)? = DefaultLegacyStore.current
    /// The logger for errors.
    package var logger: Logger
    /// The platform of the ForgeRock SDK that the client follows.
    package let platform: Platform

    /// Creates the default settings: this machine, its clock and its network.
    /// - Parameters:
    ///   - platform: The platform of the ForgeRock SDK that the client follows. It also decides the type under which the device
    ///     registers.
    ///   - transport: The transport to servers; nil for the client's own transport.
    ///   - clock: The clock of the client.
    package init(
        platform: Platform, transport: (any HTTPTransport)? = nil, clock: any WallClock = SystemWallClock()
    ) {
        self.platform = platform
        self.transport = transport
        self.clock = clock
        let name = ProcessInfo.processInfo.hostName
        device =
            switch platform {
            case .iOS: PushDevice(token: "", name: name, type: "ios", communicationType: "apns")
            case .android: PushDevice(token: "", name: name, type: "android", communicationType: "gcm")
            }
        endpoints = .secure
        interceptors = []
        logger = Self.defaultLogger
    }

    /// Logs an error, without secrets.
    func log(_ error: any Error, _ operation: String) {
        FRAProcess.current.write(.warning, "\(operation): \(error)", to: logger)
    }

    static var defaultLogger: Logger { Logger(label: "signet.frauthenticator") }

    /// The platforms of the ForgeRock SDK.
    package enum Platform: Sendable {
        /// `ios`, `apns`: lists have the oldest first, and an account stays when its last mechanism is removed.
        case iOS
        /// `android`, `gcm`: notifications have the newest first, accounts are sorted by issuer and name, and an account is
        /// removed with its last mechanism.
        case android
    }
}
