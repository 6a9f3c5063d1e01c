import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is the same for every transaction of a server: what its configuration says, and its keys.
struct DeskConstants: Sendable {
    let users: SeededUsers
    let clients: ClientRegistry
    let trees: [String: JourneyTree]
    let authIDKey: Secret
    let nonceKey: Secret
    let ticks = Ticks()
    /// A secret that is nobody's, to do the work of a check with when there is no one to check.
    let decoy = Secret.random(byteCount: 32)

    /// - Parameters:
    ///   - makesUpPasswords: whether users without a password get one.
    ///   - key: the server's key, which all others are derived from: servers that share their state share it too.
    init(
        users: [User], makesUpPasswords: Bool = false, clients: ClientRegistry, trees: [String: JourneyTree], key: Secret
    ) {
        self.users = SeededUsers(
            users, key: Sealing.derive("signet server users", from: key),
            madeUp: makesUpPasswords ? MadeUpPasswords(key: key) : nil)
        self.clients = clients
        self.trees = trees
        authIDKey = Sealing.derive("signet server handles", from: key)
        nonceKey = Sealing.derive("signet server nonces", from: key)
    }
}

/// Numbers that only grow: the present time in microseconds, or one more than the last one.
final class Ticks: Sendable {
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
/// by rules that take the moment as a parameter. A table reads a row when it is asked for it (``DeskTransaction``).
struct DeskState {
    private let constants: DeskConstants
    var directory: Directory
    var devices: DeviceRegistry
    var registrations: RegistrationLedger
    var pushes: PushLedger
    var dispatches: DispatchLedger
    var front: FrontLedger
    var journeys: Table<String, JourneyState>
    var suspensions: Table<BearerKey, JourneyState>
    var walks: Table<String, Walk>
    var console: ConsoleDoor
    var outbox: Outbox
    var nonces: NonceBook
    var sessions: SessionLedger
    var tokens: TokenLedger
    var consents: ConsentBook
    var deviceCodes: DeviceCodeLedger
    var guesses: GuessBook
    var lockouts: LockoutBook
    /// What is to happen outside the state when this transaction is done.
    var effects: [DeskEffect] = []

    init(_ constants: DeskConstants, _ transaction: DeskTransaction) {
        self.constants = constants
        directory = Directory(constants.users, transaction)
        devices = DeviceRegistry(transaction)
        registrations = RegistrationLedger(transaction)
        pushes = PushLedger(transaction)
        dispatches = DispatchLedger(transaction)
        front = FrontLedger(transaction)
        journeys = Table(.journey, transaction)
        suspensions = Table(.suspendedJourney, transaction)
        walks = Table(.walk, transaction)
        console = ConsoleDoor(transaction)
        outbox = Outbox(transaction)
        nonces = NonceBook(transaction, key: constants.nonceKey)
        sessions = SessionLedger(transaction, constants.ticks, directory)
        tokens = TokenLedger(transaction, directory)
        consents = ConsentBook(transaction)
        deviceCodes = DeviceCodeLedger(transaction)
        guesses = GuessBook(transaction)
        lockouts = LockoutBook(transaction)
    }

    var clients: ClientRegistry { constants.clients }
    var trees: [String: JourneyTree] { constants.trees }
    var authIDKey: Secret { constants.authIDKey }

    /// Counts something that happens.
    mutating func note(_ event: DeskEvent) { effects.append(.count(event)) }
}

/// What a transaction wants to happen outside the state. It happens once, after the transaction is done.
enum DeskEffect: Sendable, Hashable {
    /// There is something new for the streams of a mechanism.
    case wake(String)
    /// A mechanism is no more, and its streams end.
    case endStreams(String)
    case letter(Letter)
    /// Something became of a push message: the journal is told.
    case happened(JournalEntry.Push)
    /// A message waits for a courier.
    case dispatch(String)
    /// There is something new in a mailbox of the push front.
    case wakeMailbox(String)
    /// A mailbox is no more, and its streams end.
    case endMailbox(String)
    case count(DeskEvent)
}

// MARK: - Push

extension DeskState {
    /// The device that asks to register, if it may. Nothing is changed.
    func candidate(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushRefusal) -> PushDevice {
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
    ) throws(PushRefusal) -> PushDevice {
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

extension DeskState {
    /// Checks the proof of a device that asks for its messages, the signature first. Nil when it is not good.
    mutating func mechanism(provenBy token: String, realm: RealmPath, at now: Date) -> String? {
        guard let jws = try? CompactJWS(token), let unverified = try? jws.unverifiedPayload() else { return nil }
        let claimed = try? JSON.decode(DeskProof.self, from: unverified)
        let device = claimed.flatMap { devices.pushDevice(mechanismUID: $0.mechanismUid) }
        guard let payload = try? jws.payload(verifiedWith: device?.secret ?? constants.decoy), let device,
            device.owner.realm == realm,
            let proof = try? JSON.decode(DeskProof.self, from: payload), proof.mechanismUid == device.mechanismUID,
            nonces.redeem(proof.nonce, at: now)
        else { return nil }
        return device.mechanismUID
    }
}
