import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is the same for every transaction of a server: what its configuration says, and its keys.
struct PushStreamConstants: Sendable {
    let users: ConfiguredUsers
    let clients: ClientRegistry
    let trees: [String: JourneyTree]
    let authIDKey: Secret
    let nonceKey: Secret
    let ticks = MonotonicCounter()
    /// A secret that is nobody's, to do the work of a check with when there is no one to check.
    let decoy = Secret.random(byteCount: 32)

    /// - Parameters:
    ///   - makesUpPasswords: whether users without a password get one.
    ///   - key: the server's key, which all others are derived from: servers that share their state share it too.
    init(
        users: [User], makesUpPasswords: Bool = false, clients: ClientRegistry, trees: [String: JourneyTree], key: Secret
    ) {
        self.users = ConfiguredUsers(
            users, key: Sealing.derive("signet server users", from: key),
            madeUp: makesUpPasswords ? GeneratedPasswords(key: key) : nil)
        self.clients = clients
        self.trees = trees
        authIDKey = Sealing.derive("signet server handles", from: key)
        nonceKey = Sealing.derive("signet server nonces", from: key)
    }
}

/// Numbers that only grow: the present time in microseconds, or one more than the last one.
final class MonotonicCounter: Sendable {
    private let last = Mutex(0)

    /// The last one; 0 when there was none in this process.
    var latest: Int { last.withLock { $0 } }

    func next(at now: Date) -> Int {
        last.withLock { last in
            last = max(last + 1, Int(now.rowTime))
            return last
        }
    }
}

/// Everything a desk server knows, as one transaction sees it: who there is, what they carry, and what is going on. It is changed
/// by rules that take the moment as a parameter. A table reads a row when it is asked for it (``RowCache``).
struct ServerTransaction {
    private let constants: PushStreamConstants
    var directory: Directory
    var devices: DeviceRegistry
    var registrations: PushRegistrationStore
    var pushes: PushMessageStore
    var dispatches: PushDispatchStore
    var front: PushGatewayStore
    var journeys: Table<String, JourneyState>
    var suspensions: Table<TokenHash, JourneyState>
    var walks: Table<String, LoginFlow>
    var console: ConsoleAccess
    var outbox: SentEmails
    var nonces: NonceStore
    var sessions: SSOSessionStore
    var tokens: TokenStore
    var consents: ConsentStore
    var deviceCodes: DeviceCodeStore
    var guesses: AttemptLimiter
    var lockouts: LockoutStore
    /// What is to happen outside the state when this transaction is done.
    var effects: [SideEffect] = []

    init(_ constants: PushStreamConstants, _ transaction: RowCache) {
        self.constants = constants
        directory = Directory(constants.users, transaction)
        devices = DeviceRegistry(transaction)
        registrations = PushRegistrationStore(transaction)
        pushes = PushMessageStore(transaction)
        dispatches = PushDispatchStore(transaction)
        front = PushGatewayStore(transaction)
        journeys = Table(.journey, transaction)
        suspensions = Table(.suspendedJourney, transaction)
        walks = Table(.walk, transaction)
        console = ConsoleAccess(transaction)
        outbox = SentEmails(transaction)
        nonces = NonceStore(transaction, key: constants.nonceKey)
        sessions = SSOSessionStore(transaction, constants.ticks, directory)
        tokens = TokenStore(transaction, directory)
        consents = ConsentStore(transaction)
        deviceCodes = DeviceCodeStore(transaction)
        guesses = AttemptLimiter(transaction)
        lockouts = LockoutStore(transaction)
    }

    var clients: ClientRegistry { constants.clients }
    var trees: [String: JourneyTree] { constants.trees }
    var authIDKey: Secret { constants.authIDKey }

    /// Counts something that happens.
    mutating func note(_ event: MetricEvent) { effects.append(.count(event)) }
}

/// What a transaction wants to happen outside the state. It happens once, after the transaction is done.
enum SideEffect: Sendable, Hashable {
    /// There is something new for the streams of a mechanism.
    case wake(String)
    /// A mechanism is no more, and its streams end.
    case endStreams(String)
    case letter(Email)
    /// Something became of a push message: the journal is told.
    case happened(RequestLogEntry.Push)
    /// A message waits for a courier.
    case dispatch(String)
    /// There is something new in a mailbox of the push front.
    case wakeMailbox(String)
    /// A mailbox is no more, and its streams end.
    case endMailbox(String)
    case count(MetricEvent)
}

// MARK: - Push

extension ServerTransaction {
    /// The device that asks to register, if it may. Nothing is changed.
    func candidate(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushResponseError) -> PushDevice {
        guard let pending = registrations.entry(body.messageId, at: now), pending.user.realm == realm else {
            throw .unknownMessage
        }
        let device = try pending.device(registeredBy: body.jwt, at: now)
        guard !devices.isTaken(mechanismUID: device.mechanismUID, for: device.owner) else { throw .mechanismTaken }
        return device
    }

    /// Lets a device register. The device it replaces loses its streams, its messages and its recovery codes.
    /// - Parameter endpoint: Where SNS delivers to; nil for a device at the desk.
    mutating func register(
        _ body: PushRequestBody, realm: RealmPath, endpoint: String? = nil, at now: Date
    ) throws(PushResponseError) -> PushDevice {
        var device = try candidate(body, realm: realm, at: now)
        if let endpoint { device.communicationID = endpoint }
        if let old = devices.save(device) {
            effects.append(.endStreams(old.mechanismUID))
            pushes.forget(mechanismUID: old.mechanismUID, at: now)
        }
        // Recovery codes stand in for the device that they were made for, and for no later one.
        devices.keep(nil, for: .push, of: device.owner)
        if var oath = registrations.entry(body.messageId, at: now)?.oathDevice {
            oath.registeredAt = now
            devices.save(oath, for: device.owner)
            devices.keep(nil, for: .oath, of: device.owner)
        }
        registrations.complete(body.messageId, at: now)
        return device
    }
}

// MARK: - Desk

extension ServerTransaction {
    /// Checks the proof of a device that asks for its messages, the signature first. Nil when it is not good.
    mutating func mechanism(provenBy token: String, realm: RealmPath, at now: Date) -> String? {
        guard let jws = try? CompactJWS(token), let unverified = try? jws.unverifiedPayload() else { return nil }
        let claimed = try? JSON.decode(PushStreamProof.self, from: unverified)
        let device = claimed.flatMap { devices.pushDevice(mechanismUID: $0.mechanismUid) }
        guard let payload = try? jws.payload(verifiedWith: device?.secret ?? constants.decoy), let device,
            device.owner.realm == realm,
            let proof = try? JSON.decode(PushStreamProof.self, from: payload), proof.mechanismUid == device.mechanismUID,
            nonces.redeem(proof.nonce, at: now)
        else { return nil }
        return device.mechanismUID
    }
}
