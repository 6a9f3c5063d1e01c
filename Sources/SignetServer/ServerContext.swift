import Logging
import SignetCore
import SignetNetwork
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The shared context of a running server: its state, clock, log and delivery queues. All resources use it.
final class ServerContext: Sendable {
    let configuration: ServerConfiguration
    let contextPath: String
    let clock: AdjustableClock
    /// The clock that ``clock`` is an offset from. It is used for times that other systems check by their own clocks:
    /// certificates and AWS signatures.
    let machineClock: any WallClock
    let requestLog: RequestLog
    let faults: FaultTable
    let logger: Logger
    let telemetry: Telemetry
    /// The recent requests of each address, by kind, for rate limiting.
    let rates = Mutex(RateLimiter<AddressRate>())
    /// The checks that must pass for the server to be ready.
    let readiness: [ReadinessCheck]
    let signer: TokenSigner
    let realms: Set<RealmPath>
    let clients: ClientRegistry
    let trees: [String: JourneyTree]
    let streams: PushStreams
    /// The Amazon SNS client for push delivery to phones; nil when every device uses a push stream.
    let sns: SNSClient?
    /// The queue of SNS messages that wait for the push delivery worker.
    let line = PushDeliveryQueue()
    /// The keys of the clients that may send to inboxes of the push gateway; nil without a gateway.
    let gatewayKeys: PushGatewayKeys?
    /// The streams of the gateway's inboxes.
    let inboxStreams: PushStreams
    private let port: Mutex<Int>
    private let address: Mutex<String>
    private let house: StateStore

    init(
        _ configuration: ServerConfiguration, clock machineClock: any WallClock, logger: Logger,
        telemetry: Telemetry = Telemetry()
    ) {
        clients = ClientRegistry(configuration.clients)
        trees = configuration.journeys.trees.byName
        let clock = AdjustableClock(machineClock)
        let streams = PushStreams()
        let inboxStreams = PushStreams(of: .inboxes)
        (self.clock, self.machineClock) = (clock, machineClock)
        (self.streams, self.inboxStreams) = (streams, inboxStreams)
        house = StateStore(
            StateStore.Plan(
                state: configuration.state, users: configuration.users, generatesPasswords: configuration.generatesPasswords,
                clients: clients, trees: trees, clock: clock, broken: BrokenRows(logger: logger), logger: logger)
        )
        let signer = TokenSigner(configuration.signingKey, SigningKeys(house))
        self.signer = signer
        self.telemetry = telemetry
        readiness = [
            ReadinessCheck("signingKey") { (try? await signer.keySet) != nil },
            ReadinessCheck("state") { [house] in (try? await house.open().engine.checkKey()) != nil },
        ]
        house.hear { [streams, inboxStreams, weak signer] signal in
            streams.hear(signal)
            inboxStreams.hear(signal)
            if signal == nil || signal == ClusterMessage.keys.text { Task { [weak signer] in await signer?.forget() } }
        }
        clock.onChange { [weak house] in house?.writeClock() }
        port = Mutex(configuration.port)
        address = Mutex(configuration.baseURL(port: configuration.port))
        realms = Set(configuration.realms.map { RealmPath($0) })
        contextPath = configuration.normalContextPath
        let requestLog = RequestLog(contextPath: contextPath)
        self.requestLog = requestLog
        let faults = FaultTable(
            contextPath: contextPath, realms: realms, hasPushGateway: configuration.pushGateway != nil, clock: clock)
        self.faults = faults
        // A delivery fault may require an event that no new message wakes a stream for; so may a move of the clock.
        faults.onDeliveryChange { [streams] in streams.hear(nil) }
        clock.onMove { [streams, weak faults] in if faults?.isIdle == false { streams.hear(nil) } }
        sns = configuration.sns.map { sns in
            SNSClient(configuration: sns, transport: AsyncHTTPTransport(), clock: machineClock) { action, status, duration in
                requestLog.add(.sns(RequestLogEntry.SNSRequest(action, status, took: duration)), at: clock.now)
            }
        }
        gatewayKeys = configuration.pushGateway.map { PushGatewayKeys($0) }
        var configuration = configuration
        // Other objects hold the parts of these that are still needed.
        configuration.users = []
        configuration.clients = []
        configuration.signingKey = nil
        configuration.sns = nil
        configuration.pushGateway?.keys = []
        configuration.state = .memory
        self.configuration = configuration
        self.logger = logger
    }

    func has(_ realm: RealmPath) -> Bool { realms.contains(realm) }

    /// The address at which clients reach the server, with the context path.
    var baseURL: String { address.withLock { $0 } }

    /// The address at which programs on this machine reach the server. Addresses that only local programs may open use it, even
    /// when clients are told another address.
    var localURL: String { configuration.localURL(port: port.withLock { $0 }) }

    /// Records the port that the socket got.
    func bound(to port: Int) {
        self.port.withLock { $0 = port }
        address.withLock { $0 = configuration.baseURL(port: port) }
    }

    /// The present time, with the settings that depend on it.
    var moment: RequestTime { RequestTime(now: clock.now, configuration: configuration, baseURL: baseURL) }

    /// Runs one transaction at the present time. Its changes are kept even when `body` throws. Its side effects outside the state
    /// are performed once, after the transaction.
    /// - Throws: The error that `body` throws; `StoreError` when the state cannot be read or written, in which case nothing has
    ///   changed.
    func transact<R: Sendable, E: Error>(
        _ body: @escaping @Sendable (inout ServerTransaction, RequestTime) throws(E) -> R
    ) async throws -> R {
        let moment = moment
        let opened = try await house.open()
        let (result, effects): (Result<R, E>, [SideEffect]) = try await opened.engine.run { transaction in
            var state = ServerTransaction(opened.constants, transaction)
            let result = Result { () throws(E) in try body(&state, moment) }
            return ((result, state.effects), signals: state.effects.compactMap { $0.signal?.text })
        }
        for effect in effects { perform(effect, at: moment.now) }
        return try result.get()
    }

    /// Runs a transaction like ``transact(_:)``, for a caller that lists the state and changes nothing. A row that cannot be read
    /// doesn't hide the others.
    func survey<R: Sendable>(_ body: @escaping @Sendable (inout ServerTransaction, RequestTime) throws -> R) async throws -> R {
        let moment = moment
        let opened = try await house.open()
        let result: Result<R, any Error> = try await opened.engine.run { transaction in
            transaction.isSurvey = true
            var state = ServerTransaction(opened.constants, transaction)
            return (Result { try body(&state, moment) }, signals: [])
        }
        return try result.get()
    }

    /// Opens the state, so that errors in it are reported now.
    /// - Throws: `StoreError`.
    func prepare() async throws { _ = try await house.open() }

    /// The queue that runs the transactions. Opens the state if necessary.
    var engine: TransactionQueue {
        get async throws { try await house.open().engine }
    }

    /// Changes the clock, and waits until the change is stored.
    /// - Throws: `StoreError` when the change could not be written; in that case nothing has changed.
    func change(clock kind: AdjustableClock.Change.Kind) async throws {
        let engine = try await house.open().engine
        let change = clock.begin(kind)
        try await withCheckedContinuation { continuation in
            engine.keep(change) { continuation.resume(returning: $0) }
        }.get()
    }

    func snapshot() async throws -> StateSnapshot { try await house.open().engine.snapshot() }

    func restore(_ snapshot: StateSnapshot) async throws {
        let engine = try await house.open().engine
        try await engine.restore(snapshot)
        try await engine.readClock()
        await signer.forget()
        streams.hear(nil)
        inboxStreams.hear(nil)
        line.add(try await transact { state, moment in state.dispatches.releaseAll(at: moment.now) })
    }

    /// Adds the unclaimed SNS messages to the queue of the push delivery worker.
    func lineUp() async throws {
        let machine = machineClock.now
        line.add(try await transact { state, moment in state.dispatches.unclaimed(at: moment.now, machine: machine) })
    }

    /// Resets the state (``TransactionQueue/reset()``) on all servers that share it. Open streams end.
    func reset() async throws {
        let engine = try await house.open().engine
        try await engine.reset()
        try await engine.readClock()
        streams.endAll()
        inboxStreams.endAll()
        rates.withLock { $0 = RateLimiter() }
    }

    /// Releases the file or the database that holds the state.
    func close() async { await house.close() }

    private func perform(_ effect: SideEffect, at now: Date) {
        switch effect {
        case .wake(let mechanismUID): streams.wake(mechanismUID)
        case .endStreams(let mechanismUID): streams.endAll(mechanismUID)
        case .email(let email):
            requestLog.add(.email(RequestLogEntry.Email(user: email.user, realm: email.realm)), at: now)
            configuration.onEmail?(email)
        case .happened(let push): requestLog.add(.push(push), at: now)
        case .dispatch(let messageID): line.add([messageID])
        case .wakeInbox(let address): inboxStreams.wake(address)
        case .endInbox(let address): inboxStreams.endAll(address)
        case .count(let event): telemetry.count([event])
        }
    }
}

extension SideEffect {
    /// The message that tells other servers of the same state about the side effect; nil when they need no message.
    fileprivate var signal: ClusterMessage? {
        switch self {
        case .wake(let mechanismUID): .wake(mechanismUID)
        case .endStreams(let mechanismUID): .endStreams(mechanismUID)
        case .wakeInbox(let address): .wakeInbox(address)
        case .endInbox(let address): .endInbox(address)
        case .email, .happened, .dispatch, .count: nil
        }
    }
}
