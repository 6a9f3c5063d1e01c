import Foundation
import SignetCore
import SignetStorage

/// The values that are the same for every transaction of a server: parts of its configuration, and its keys.
struct TransactionConstants: Sendable {
    private(set) var users: ConfiguredUsers
    private(set) var clients: ClientRegistry
    private(set) var trees: [String: JourneyTree]
    private let usersKey: Secret
    private let generatedPasswords: GeneratedPasswords?
    private let generatedSecrets: GeneratedClientSecrets
    let authIDKey: Secret
    let nonceKey: Secret
    let counter = MonotonicCounter()
    /// The waits of clients that poll; nil when several servers share the state, which then store each poll.
    let pollWaits: PollWaits?
    /// A random secret that belongs to no device.
    ///
    /// Verifying with it takes as long as verifying for a real device.
    let decoy = Secret.random(byteCount: 32)

    /// Creates the constants.
    /// - Parameters:
    ///   - users: The configured users.
    ///   - generatesPasswords: True to generate passwords for users without one.
    ///   - clients: The OAuth 2.0 clients.
    ///   - trees: The journeys by name.
    ///   - key: The server's key, from which all other keys are derived. Servers that share their state share it too.
    ///   - pollWaits: The waits of clients that poll; nil to store each poll.
    init(
        users: [User], generatesPasswords: Bool = false, clients: ClientRegistry, trees: [String: JourneyTree], key: Secret,
        pollWaits: PollWaits? = nil
    ) {
        self.pollWaits = pollWaits
        usersKey = Sealing.derive("signet server users", from: key)
        generatedPasswords = generatesPasswords ? GeneratedPasswords(key: key) : nil
        self.users = ConfiguredUsers(users, key: usersKey, generatedPasswords: generatedPasswords)
        generatedSecrets = GeneratedClientSecrets(key: key)
        self.clients = clients.generatingSecrets(generatedSecrets)
        self.trees = trees
        authIDKey = Sealing.derive("signet server handles", from: key)
        nonceKey = Sealing.derive("signet server nonces", from: key)
    }

    /// Returns the constants with other clients and journeys, and with other users unless they are nil.
    func replacing(users: [User]?, clients: ClientRegistry, trees: [String: JourneyTree]) -> TransactionConstants {
        var constants = self
        if let users {
            constants.users = ConfiguredUsers(users, key: usersKey, generatedPasswords: generatedPasswords)
        }
        (constants.clients, constants.trees) = (clients.generatingSecrets(generatedSecrets), trees)
        return constants
    }
}

/// A counter that only grows: each value is the present time in microseconds, or the last value plus one if that is larger.
final class MonotonicCounter: Sendable {
    private let last = Mutex(0)

    /// The last value; 0 before the first one in this process.
    var latest: Int { last.withLock { $0 } }

    func next(at now: Date) -> Int {
        last.withLock { last in
            last = max(last + 1, Int(now.rowTime))
            return last
        }
    }
}

/// The server's whole state, as one transaction sees it (``StateStore/write(_:)``).
///
/// A table reads a row when the row is first used (``RowCache``).
struct ServerTransaction {
    private let constants: TransactionConstants
    private let rows: RowCache
    /// The time of the transaction, with the settings that depend on it.
    let time: RequestTime
    var directory: Directory
    var devices: DeviceRegistry
    var registrations: PushRegistrationStore
    var pushes: PushMessageStore
    var dispatches: PushDispatchStore
    var gateway: PushGatewayStore
    var journeys: Table<String, JourneyState>
    var suspensions: Table<TokenHash, JourneyState>
    var flows: Table<String, LoginFlow>
    var flowLimiter: LoginFlowLimiter
    var console: ConsoleAccess
    var emails: SentEmails
    var nonces: NonceStore
    var usedIDs: UsedTokenIDs
    var sessions: SSOSessionStore
    var tokens: TokenStore
    var logouts: LogoutDeliveryStore
    var consents: ConsentStore
    var deviceCodes: DeviceCodeStore
    var pushedRequests: PushedRequestStore
    var backchannelRequests: BackchannelRequestStore
    var guesses: AttemptLimiter
    var lockouts: LockoutStore
    var pacing: MessagePacing
    /// The number of wrong passwords after which the user's account is locked, when the client is to be warned of it.
    var failuresLeft: Int?
    /// The side effects outside the state to perform when this transaction is done.
    var effects: [SideEffect] = []
    /// The waits of clients whose poll has changed nothing else, to keep when this transaction is done.
    var polled: [PolledWait] = []
    /// The request whose journey runs; nil outside of a journey.
    var request: JourneyRequest?
    /// The visits of nodes, for the trace of the login.
    var trace: TraceRecorder
    /// The values of `Set-Cookie` that nodes add to the response of a successful login.
    var responseCookies: [String] = []

    init(_ constants: TransactionConstants, _ transaction: RowCache, _ time: RequestTime) {
        self.constants = constants
        rows = transaction
        self.time = time
        transaction.now = time.now
        directory = Directory(constants.users, transaction)
        devices = DeviceRegistry(transaction)
        registrations = PushRegistrationStore(transaction)
        pushes = PushMessageStore(transaction)
        dispatches = PushDispatchStore(transaction)
        gateway = PushGatewayStore(transaction)
        journeys = Table(.journey, transaction)
        suspensions = Table(.suspendedJourney, transaction)
        flows = Table(.loginFlow, transaction)
        flowLimiter = LoginFlowLimiter(transaction, time.configuration.limits.loginFlows)
        console = ConsoleAccess(transaction)
        emails = SentEmails(transaction)
        nonces = NonceStore(transaction, key: constants.nonceKey)
        usedIDs = UsedTokenIDs(transaction)
        sessions = SSOSessionStore(transaction, constants.counter, directory, time)
        tokens = TokenStore(transaction, directory, time)
        logouts = LogoutDeliveryStore(transaction)
        consents = ConsentStore(transaction)
        deviceCodes = DeviceCodeStore(transaction, time)
        pushedRequests = PushedRequestStore(transaction)
        backchannelRequests = BackchannelRequestStore(transaction, time)
        guesses = AttemptLimiter(transaction)
        lockouts = LockoutStore(transaction)
        pacing = MessagePacing(transaction)
        trace = TraceRecorder(isOn: time.configuration.loginTraces > 0)
    }

    /// The time of the transaction.
    var now: Date { time.now }
    var clients: ClientRegistry { constants.clients }
    var trees: [String: JourneyTree] { constants.trees }
    var authIDKey: Secret { constants.authIDKey }

    /// The waits of clients that poll; nil when each poll is stored.
    var pollWaits: PollWaits? { constants.pollWaits }

    /// Says that a failure of the power may undo the transaction.
    ///
    /// It is for the beginning of a login, which has changed nothing for the user: after the failure, the user begins again, as
    /// after the end of the login's time. The answer then doesn't wait for the disk. When the transaction has changed anything else,
    /// for example sent a message, it is durable nevertheless. It always survives the end of the process.
    mutating func allowLossInPowerFailure() { rows.mayBeLost = true }

    /// Records a metric event.
    mutating func count(_ event: MetricEvent) { effects.append(.count(event)) }
}

// MARK: - Push

extension ServerTransaction {
    /// Returns the device that a registration request describes, if it may register.
    ///
    /// Changes nothing.
    func candidate(_ body: PushRequestBody, realm: RealmPath) throws -> PushCandidate {
        guard let pending = try registrations.entry(body.messageId), pending.user.realm == realm,
            try identified(pending.user) == pending.identified
        else { throw PushResponseError.unknownMessage }
        let device = try pending.device(registeredBy: body.jwt, at: now)
        if pending.isRegistered {
            // A 200 would tell another device that it is registered.
            guard let stored = try devices.pushDevice(of: device.owner), stored.mechanismUID == device.mechanismUID else {
                throw PushResponseError.unknownMessage
            }
            return PushCandidate(device: stored, isRepeated: true)
        }
        guard try !devices.isTaken(mechanismUID: device.mechanismUID, for: device.owner) else {
            throw PushResponseError.mechanismTaken
        }
        return PushCandidate(device: device, isRepeated: false)
    }

    /// Registers a device.
    ///
    /// The device it replaces loses its streams, its messages and its recovery codes. A repeated registration changes nothing.
    /// - Parameters:
    ///   - body: The registration, signed by the device.
    ///   - realm: The realm of the request.
    ///   - endpoint: The SNS endpoint to deliver to; nil for a device that uses a push stream.
    /// - Returns: The stored device; for a repeated registration see ``PushCandidate``.
    /// - Throws: ``PushResponseError`` when the registration is unknown or not valid, or its mechanism ID belongs to another
    ///   user. Nothing is changed then.
    mutating func register(
        _ body: PushRequestBody, realm: RealmPath, endpoint: String? = nil
    ) throws -> PushCandidate {
        let candidate = try candidate(body, realm: realm)
        guard !candidate.isRepeated else { return candidate }
        var device = candidate.device
        if let endpoint { device.communicationID = endpoint }
        if let old = try devices.save(device) {
            effects.append(.endStreams(old.mechanismUID))
            try pushes.forget(mechanismUID: old.mechanismUID)
        }
        // Recovery codes belong to the device that they were generated for, so a new device doesn't inherit them.
        try devices.keep(nil, for: .push, of: device.owner)
        if var oath = try registrations.entry(body.messageId)?.oathDevice {
            oath.registeredAt = now
            devices.save(oath, for: device.owner)
            try devices.keep(nil, for: .oath, of: device.owner)
        }
        try registrations.complete(body.messageId)
        return PushCandidate(device: device, isRepeated: false)
    }
}

// MARK: - Push streams

extension ServerTransaction {
    /// Verifies the proof of a device that opens a push stream, the signature first.
    ///
    /// Returns nil when the proof is invalid.
    mutating func mechanism(provenBy token: String, realm: RealmPath) throws -> String? {
        guard let jws = try? CompactJWS(token), let unverified = try? jws.unverifiedPayload() else { return nil }
        let claimed = try? JSON.decode(PushStreamProof.self, from: unverified)
        let device = try claimed.flatMap { try devices.pushDevice(mechanismUID: $0.mechanismUid) }
        guard let payload = try? jws.payload(verifiedWith: device?.secret ?? constants.decoy), let device,
            device.owner.realm == realm,
            let proof = try? JSON.decode(PushStreamProof.self, from: payload), proof.mechanismUid == device.mechanismUID,
            try nonces.redeem(proof.nonce)
        else { return nil }
        return device.mechanismUID
    }
}
