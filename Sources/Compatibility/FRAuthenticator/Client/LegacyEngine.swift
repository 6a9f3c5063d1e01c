package import Logging
package import SignetAuthenticator
package import SignetCore
package import SignetNetwork
package import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The engine of a started client, over the app's own storage client or over the default store.
///
/// Synchronous calls run the engine's rules in one transaction. Calls that need a server run the asynchronous engine over the
/// same store. An object that the app gets remembers the store's generation, which is its number of changes, at the time of the
/// read. While the generation is unchanged, an operation uses the object as the stored value, and makes no more calls to the
/// storage client than the ForgeRock SDK does. After a change it reads the value again, so that a counter is never reused and an
/// answer is never sent twice.
final class LegacyEngine: Sendable {
    let backing: Backing
    let clock: any WallClock
    let policies: PolicyBox
    let presence: (any FRAUserPresence)?
    let endpoints: EndpointPolicy
    let authenticator: Authenticator
    /// The platform of the ForgeRock SDK that decides the order of lists and the removal of accounts.
    var platform: LegacySettings.Platform { settings.platform }
    private let settings: LegacySettings
    private let state = Mutex(State())

    private struct State {
        var lastError: (any Error)?
        /// The identifiers of the notifications that are being answered.
        var answering: Set<String> = []
        /// The last task in the queue of token updates.
        var lastUpdate: Task<Void, Never>?
    }

    /// The store behind the engine.
    enum Backing: Sendable {
        /// The app's own storage client.
        case client(ClientBox)
        /// Records with transactions.
        case records(AccountRecords)
    }

    init(backing: Backing, policies: PolicyBox, presence: (any FRAUserPresence)?, settings: LegacySettings) {
        self.backing = backing
        self.policies = policies
        self.presence = presence
        clock = settings.clock
        endpoints = settings.endpoints
        self.settings = settings
        let store: any ImmediateAccountStore =
            switch backing {
            case .client(let box): ClientStore(box)
            case .records(let records): records
            }
        authenticator = Authenticator(
            store: store, transport: settings.transport ?? AsyncHTTPTransport(), device: settings.device, clock: settings.clock,
            policies: policies.engine(), retention: .all, interceptors: settings.interceptors)
    }

    /// Returns the engine that created an object, or the engine of the started client.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when no client is started.
    static func of(_ origin: Origin?) throws -> LegacyEngine {
        if let origin { return origin.engine }
        guard let started = FRAClient.shared else {
            throw FRAError.failToSaveIntoStorageClient("the SDK has not started; call FRAClient.start() first")
        }
        return started.engine
    }

    // MARK: Operations

    /// Returns an operation over the store.
    /// - Parameters:
    ///   - origin: The origin of the object that the operation is about.
    ///   - note: Adds the object's values to the known records. It is called only when the object is up to date.
    func operation(on origin: Origin? = nil, _ note: (inout Knowledge) -> Void = { _ in }) -> Operation {
        switch backing {
        case .records(let records): return Operation(engine: self, store: records)
        case .client(let box):
            var known = Knowledge()
            known.generation = box.generation
            if let origin, origin.engine === self, origin.generation == known.generation { note(&known) }
            return Operation(engine: self, store: ClientStore(box, knowing: known))
        }
    }

    /// Runs a synchronous operation. Its error is logged and kept for ``FRAClient/lastStorageError``.
    func perform<R>(_ operation: String, otherwise: R, _ body: () throws -> R) -> R {
        do {
            return try body()
        } catch {
            note(error, operation)
            return otherwise
        }
    }

    /// Runs a synchronous operation. When the store fails or the account is unknown, it returns false, and logs and keeps the
    /// error. It throws other errors.
    func throwing(_ operation: String, _ body: () throws -> Bool) throws -> Bool {
        do {
            return try body()
        } catch let error as StoreError {
            note(error, operation)
            return false
        } catch let error as AuthenticatorError where error.code == .unknownAccount {
            note(error, operation)
            return false
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Logs an error, without secrets, and keeps it.
    func note(_ error: any Error, _ operation: String) {
        settings.note(error, operation)
        state.withLock { $0.lastError = error }
    }

    var lastError: (any Error)? { state.withLock { $0.lastError } }

    /// Returns the current lock of an account; nil when the account is not locked.
    func lock(on account: SignetCore.Account) -> AccountLock? {
        if let policy = account.lockingPolicy { return .manual(policy: policy) }
        return policies.violated(account).map { .byPolicy($0) }
    }

    // MARK: Answers

    /// Runs `body` unless the notification is already being answered.
    func answering<R>(_ id: String, _ body: () async throws -> R) async throws -> R {
        guard state.withLock({ $0.answering.insert(id).inserted }) else {
            throw PushNotificationError.notificationInvalidStatus
        }
        defer { state.withLock { _ = $0.answering.remove(id) } }
        return try await body()
    }
}

extension LegacyEngine {
    /// Runs `body` after all token updates that were requested before it, so that the last requested token is the one that
    /// remains.
    func inTurn<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) -> Task<R, any Error> {
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

/// An operation over the store, for one call of the app.
struct Operation: Sendable {
    let engine: LegacyEngine
    let store: any ImmediateAccountStore

    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.read(body)
    }

    /// Reads after pending changes have been stored: changes that a server accepted while the store failed.
    func readSettled<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try engine.authenticator.settled(in: store, body)
    }

    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.write(body)
    }

    /// The origin of the objects that the last transaction read or wrote.
    var origin: Origin { Origin(engine: engine, generation: (store as? ClientStore)?.generation ?? 0) }

    /// The asynchronous engine over this operation's store.
    var authenticator: Authenticator { engine.authenticator.over(store) }

    /// Returns the asynchronous engine over this operation's store, with the policies for the enrollment of a URI.
    func authenticator(enrolling uri: String) -> Authenticator {
        engine.authenticator.over(store, policies: engine.policies.engine(enrolling: uri))
    }
}

/// The origin of an object: its engine and the time at which it was read.
struct Origin: Sendable {
    let engine: LegacyEngine
    /// The number of changes of the store at which the object was read.
    let generation: Int
}

/// The settings of a client other than its store.
package struct LegacySettings: Sendable {
    /// The transport to servers; nil for the client's own transport.
    package var transport: (any HTTPTransport)?
    /// The clock.
    package var clock: any WallClock
    /// The description of this device for servers. The app supplies the token.
    package var device: PushDevice
    /// The policy for permitted servers.
    package var endpoints: EndpointPolicy
    /// The interceptors, which see each request before it is sent.
    package var interceptors: [any RequestInterceptor]
    /// The location of the vault for a client without a storage client; nil for the default location.
    package var vault: VaultDirectory?
    /// The logger for errors.
    package var logger: Logger
    /// The platform of the ForgeRock SDK that the client follows.
    package let platform: Platform

    /// Creates the default settings: this machine, its clock and its network.
    /// - Parameter platform: The platform of the ForgeRock SDK that the client follows. It also decides the type under which the
    ///   device registers.
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
        logger = Self.usualLogger
    }

    /// Logs an error, without secrets.
    func note(_ error: any Error, _ operation: String) {
        FRAProcess.current.write(.warning, "\(operation): \(error)", to: logger)
    }

    static var usualLogger: Logger { Logger(label: "signet.frauthenticator") }

    /// The platforms of the ForgeRock SDK.
    package enum Platform: Sendable {
        /// `ios`, `apns`: lists have the oldest first, and an account stays when its last mechanism is removed.
        case iOS
        /// `android`, `gcm`: notifications have the newest first, accounts are sorted by issuer and name, and an account is
        /// removed with its last mechanism.
        case android
    }
}
