import Foundation
import Logging
import SignetCore
import SignetNetwork
import SignetPushGateway

#if !AsyncHTTPClient
#error("SignetServer needs the package trait AsyncHTTPClient of signet, which is on by default")
#endif

/// The shared context of a running server: its state, clock, log and delivery queues.
///
/// All controllers use it.
final class ServerContext: Sendable {
    /// The configuration in effect, which a reload and testers can change.
    let holder: ConfigurationHolder
    let contextPath: String
    let clock: AdjustableClock
    /// The clock that ``clock`` is an offset from.
    ///
    /// It is used for times that other systems check by their own clocks: certificates and AWS signatures.
    let machineClock: any WallClock
    let requestLog: RequestLog
    /// The traces of the newest logins.
    let logins: LoginTraces
    let faults: FaultTable
    let logger: Logger
    let telemetry: Telemetry
    /// The recent requests of each address, by kind, for rate limiting.
    let rates = Mutex(RateLimiter<AddressRate>())
    let signer: TokenSigner
    let realms: Set<RealmPath>
    let streams = PushStreams()
    /// The Amazon SNS client for push delivery to phones; nil when every device uses a push stream.
    let sns: SNSClient?
    /// The queue of SNS messages that wait for the push delivery worker.
    let deliveryQueue = PushDeliveryQueue()
    /// The queue of the emails that wait for their delivery over SMTP.
    let emailQueue = EmailQueue()
    /// The client that delivers emails over SMTP; nil when emails are only kept for the tester.
    let smtp: SMTPClient?
    /// The signals of the workers that deliver logout tokens to clients.
    let logoutSignals = LogoutSignals()
    /// The transport for logout tokens.
    ///
    /// It makes nothing before the first token is sent.
    let logoutTransport = AsyncHTTPTransport()
    /// The push gateway, which acts as SNS for other servers; nil without a gateway.
    let gateway: PushGateway?
    /// The streams of the gateway's inboxes.
    let inboxStreams = PushStreams(of: .inboxes)
    /// The state of the server.
    let store: StateStore
    private let address: ServerAddress

    init(
        _ configuration: ServerConfiguration, clock machineClock: any WallClock, logger: Logger,
        telemetry: Telemetry = Telemetry()
    ) {
        // The settings.
        let holder = ConfigurationHolder(RunningConfiguration(configuration))
        let address = ServerAddress(holder.current.configuration)
        (self.holder, self.address) = (holder, address)
        contextPath = configuration.normalContextPath
        realms = Set(configuration.realms.map { RealmPath($0) })
        let telemetry = telemetry.recording(to: configuration.adminToken == nil ? nil : MetricsRegistry())
        // The time, the log and the faults.
        let clock = AdjustableClock(machineClock)
        let requestLog = RequestLog(contextPath: contextPath)
        let logins = LoginTraces(capacity: configuration.loginTraces)
        self.logins = logins
        (self.clock, self.machineClock, self.requestLog) = (clock, machineClock, requestLog)
        (self.logger, self.telemetry) = (logger, telemetry)
        let streams = self.streams
        faults = FaultTable(
            contextPath: contextPath, realms: realms, hasPushGateway: configuration.pushGateway != nil, clock: clock,
            // A delivery fault may require an event that no new message wakes a stream for.
            onDeliveryChange: { streams.wake(nil) })
        // The state, and the parts that store something in it.
        let effects = SideEffectPerformer(
            streams: streams, inboxStreams: inboxStreams, requestLog: requestLog, logins: logins,
            deliveryQueue: configuration.sns?.waitsForDelivery == true ? nil : deliveryQueue, logoutSignals: logoutSignals,
            telemetry: telemetry, logger: logger, emailQueue: emailQueue, onEmail: configuration.onEmail)
        let store = StateStore(
            StateStore.Options(
                state: configuration.state, users: configuration.users, generatesPasswords: configuration.generatesPasswords,
                clients: holder.current.clients, trees: holder.current.trees, clock: clock,
                unreadableRows: UnreadableRows(logger: logger), logger: logger),
            time: { RequestTime(now: clock.now, holder.current.settings, baseURL: address.baseURL) },
            perform: { effects.perform($0, at: $1) })
        self.store = store
        signer = TokenSigner(configuration.signingKey, SigningKeys(store)) {
            TokenSigner.Clock(now: clock.now, overlap: Double(holder.current.longestTokenLifetime))
        }
        gateway = configuration.pushGateway.map { PushGateway($0, state: store) }
        smtp = configuration.smtp.map { SMTPClient(configuration: $0) }
        // Push delivery to phones.
        sns = configuration.sns.map { sns in
            SNSClient(configuration: sns, transport: AsyncHTTPTransport(), clock: machineClock) { action, status, duration in
                requestLog.add(.sns(RequestLogEntry.SNSRequest(action, status, took: duration)), at: clock.now)
            }
        }
        connect()
    }

    /// Connects the parts that react to changes of each other: the state to the streams and the signer, and the clock to the state
    /// and the streams.
    ///
    /// A reference is weak where the other part already has a strong one to the part that keeps the closure: the signer has the
    /// state, and the state and the faults have the clock.
    private func connect() {
        store.listen { [streams, inboxStreams, weak signer] signal in
            streams.receive(signal)
            inboxStreams.receive(signal)
            if signal == nil || signal == ClusterMessage.keys.text { Task { [weak signer] in await signer?.forget() } }
        }
        clock.onChange { [weak store] in store?.writeClock() }
        // A move of the clock lets messages expire, which a delivery fault may send again, and logout tokens become due.
        clock.onMove { [streams, logoutSignals, weak faults] in
            logoutSignals.wake()
            if faults?.isIdle == false { streams.wake(nil) }
        }
    }

    /// The configuration in effect, without users, clients, keys and credentials.
    var configuration: ServerConfiguration { holder.current.configuration }

    /// The clients in effect.
    var clients: ClientRegistry { holder.current.clients }

    /// The journeys in effect, by name.
    var trees: [String: JourneyTree] { holder.current.trees }

    func has(_ realm: RealmPath) -> Bool { realms.contains(realm) }

    /// The address at which clients reach the server, with the context path.
    var baseURL: String { address.baseURL }

    /// The address at which programs on this machine reach the server (``ServerAddress/localURL``).
    var localURL: String { address.localURL }

    /// Records the port that the socket got.
    func bound(to port: Int) { address.bound(to: port) }

    /// The present time, with the settings that depend on it.
    var time: RequestTime { RequestTime(now: clock.now, holder.current.settings, baseURL: baseURL) }

    /// Opens the state, so that errors in it are reported now.
    /// - Throws: `StoreError`.
    func prepare() async throws { _ = try await store.open() }

    /// Changes the clock, and waits until the change is stored.
    /// - Throws: `StoreError` when the change could not be written; in that case nothing has changed.
    func change(clock kind: AdjustableClock.Change.Kind) async throws {
        let engine = try await store.queue
        let change = clock.begin(kind)
        try await withCheckedContinuation { continuation in
            engine.keep(change) { continuation.resume(returning: $0) }
        }.get()
    }

    func restore(_ snapshot: StateSnapshot) async throws {
        let engine = try await store.queue
        try await engine.restore(snapshot)
        try await engine.readClock()
        await signer.forget()
        streams.wake(nil)
        inboxStreams.wake(nil)
        let messageIDs = try await store.write { tx in
            try tx.logouts.releaseAll()
            return try tx.dispatches.releaseAll()
        }
        deliveryQueue.add(messageIDs)
        logoutSignals.wake()
    }

    /// Adds the unclaimed SNS messages to the queue of the push delivery worker.
    func queueUnclaimedMessages() async throws {
        let machine = machineClock.now
        deliveryQueue.add(try await store.read { tx in try tx.dispatches.unclaimed(machine: machine) })
    }

    /// Resets the state (``TransactionQueue/reset()``) on all servers that share it.
    ///
    /// Open streams end.
    func reset() async throws {
        let engine = try await store.queue
        try await engine.reset()
        try await engine.readClock()
        streams.end(nil)
        inboxStreams.end(nil)
        rates.withLock { $0 = RateLimiter() }
        try await restoreConfiguration()
    }
}

extension ServerConfiguration {
    /// The configuration without users, clients, keys and credentials.
    ///
    /// Other objects hold the parts of these that are needed.
    var withoutSecrets: ServerConfiguration {
        var configuration = self
        configuration.users = []
        configuration.clients = []
        configuration.signingKey = nil
        configuration.sns = nil
        configuration.smtp?.password = nil
        configuration.pushGateway?.keys = []
        configuration.state = .memory
        return configuration
    }
}
