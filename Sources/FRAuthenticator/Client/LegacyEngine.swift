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

/// What a started client works with: the engine, over the app's own storage client or over the default store.
///
/// The synchronous calls run the engine's rules in one transaction; what needs a server runs the asynchronous engine over the
/// same store. An object that is handed out remembers the number of changes at which it was read: as long as that is the
/// present one, an operation on the object takes it for what is stored, and asks the storage client no more than the original
/// SDK does. Otherwise it asks again, so that no counter repeats and no answer is sent twice.
final class LegacyEngine: Sendable {
    let backing: Backing
    let clock: any WallClock
    let policies: PolicyBox
    let presence: (any FRAUserPresence)?
    let endpoints: EndpointPolicy
    let authenticator: Authenticator
    /// By which SDK's habits lists are ordered and accounts end.
    var platform: LegacySettings.Platform { settings.platform }
    private let settings: LegacySettings
    private let state = Mutex(State())

    private struct State {
        var lastError: (any Error)?
        /// The notifications that are being answered.
        var answering: Set<String> = []
        /// The last of the token updates that wait for their turn.
        var lastUpdate: Task<Void, Never>?
    }

    /// Where everything is kept.
    enum Backing: Sendable {
        /// An app's own storage client.
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

    /// The engine that made an object, or that of the started client.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when there is none.
    static func of(_ origin: Origin?) throws -> LegacyEngine {
        if let origin { return origin.engine }
        guard let started = FRAClient.shared else {
            throw FRAError.failToSaveIntoStorageClient("the SDK has not started; call FRAClient.start() first")
        }
        return started.engine
    }

    // MARK: Operations

    /// The store for one operation.
    /// - Parameters:
    ///   - origin: Where the object came from that the operation is about.
    ///   - note: Adds what the object says to what is known; asked only when the object is up to date.
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

    /// Runs a synchronous operation. Its failure is logged and kept for ``FRAClient/lastStorageError``.
    func perform<R>(_ operation: String, otherwise: R, _ body: () throws -> R) -> R {
        do {
            return try body()
        } catch {
            note(error, operation)
            return otherwise
        }
    }

    /// Runs a synchronous operation. A failure of the store gives false, is logged and kept; a refusal is thrown.
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

    /// Logs a failure, with nothing secret in it, and keeps it.
    func note(_ error: any Error, _ operation: String) {
        settings.note(error, operation)
        state.withLock { $0.lastError = error }
    }

    var lastError: (any Error)? { state.withLock { $0.lastError } }

    /// Why an account is locked at present.
    func lock(on account: SignetCore.Account) -> AccountLock? {
        if let policy = account.lockingPolicy { return .byHand(policy: policy) }
        return policies.violated(account).map { .byPolicy($0) }
    }

    // MARK: Answers

    /// Runs `body` unless the notification is being answered already.
    func answering<R>(_ id: String, _ body: () async throws -> R) async throws -> R {
        guard state.withLock({ $0.answering.insert(id).inserted }) else {
            throw PushNotificationError.notificationInvalidStatus
        }
        defer { state.withLock { _ = $0.answering.remove(id) } }
        return try await body()
    }
}

extension LegacyEngine {
    /// Runs `body` after every token update that was asked for before: the token that was given last is the one that stays.
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

/// One call of the app, over the store.
struct Operation: Sendable {
    let engine: LegacyEngine
    let store: any ImmediateAccountStore

    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.read(body)
    }

    /// The same, after what a server has accepted and the store did not take then has been stored.
    func readSettled<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try engine.authenticator.settled(in: store, body)
    }

    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.write(body)
    }

    /// The mark of the objects that the last transaction read or wrote.
    var origin: Origin { Origin(engine: engine, generation: (store as? ClientStore)?.generation ?? 0) }

    /// The asynchronous engine over the same store.
    var authenticator: Authenticator { engine.authenticator.over(store) }

    /// The same, for enrolling what a URI offers.
    func authenticator(enrolling uri: String) -> Authenticator {
        engine.authenticator.over(store, policies: engine.policies.engine(enrolling: uri))
    }
}

/// Where an object came from.
struct Origin: Sendable {
    let engine: LegacyEngine
    /// The number of changes at which it was read.
    let generation: Int
}

/// What a client is started with besides its store.
package struct LegacySettings: Sendable {
    /// How servers are reached; nil for a transport of the client's own.
    package var transport: (any HTTPTransport)?
    /// What time it is.
    package var clock: any WallClock
    /// How this device presents itself; its token comes from the app.
    package var device: PushDevice
    /// Which servers are acceptable.
    package var endpoints: EndpointPolicy
    /// Who sees each request before it is sent.
    package var interceptors: [any RequestInterceptor]
    /// Where the vault is, of a client that was given no storage; nil for the usual place.
    package var vault: VaultDirectory?
    /// Where failures are written.
    package var logger: Logger
    /// Whose form the client has.
    package let platform: Platform

    /// What is usual: this machine, its clock and its network.
    /// - Parameter platform: Whose form the client has, and by which names the device presents itself.
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

    /// Logs a failure, with nothing secret in it.
    func note(_ error: any Error, _ operation: String) {
        FRAProcess.current.write(.warning, "\(operation): \(error)", to: logger)
    }

    static var usualLogger: Logger { Logger(label: "signet.frauthenticator") }

    /// The two that there are.
    package enum Platform: Sendable {
        /// `ios`, `apns`: lists are the oldest first, and an account stays when its last mechanism goes.
        case iOS
        /// `android`, `gcm`: notifications are the newest first, accounts by issuer and name, and an account goes with its last
        /// mechanism.
        case android
    }
}
