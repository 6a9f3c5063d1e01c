import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Everything a desk server knows, as one value: who there is, what they carry, and what is going on. It is changed by rules
/// that take the moment as a parameter, and guarded as a whole by one lock, so every rule is a transaction.
struct DeskState: Sendable {
    var directory: Directory
    let clients: ClientRegistry
    let trees: [String: JourneyTree]
    let authIDKey = Secret.random(byteCount: 32)
    var devices = DeviceRegistry()
    var registrations = RegistrationLedger()
    var pushes = PushLedger()
    var journeys = ExpiringTable<String, JourneyState>(capacity: 10_000)
    var suspensions = ExpiringTable<BearerKey, JourneyState>(capacity: 10_000)
    var walks = ExpiringTable<String, Walk>(capacity: 10_000)
    var console = ConsoleDoor()
    var outbox = Outbox()
    var nonces = NonceBook()
    var streams = StreamRegistry()
    var sessions = SessionLedger()
    var tokens = TokenLedger()
    var consents = ConsentBook()
    var deviceCodes = DeviceCodeLedger()
    /// The address clients reach the server at, with the context path.
    var baseURL: String

    /// A secret that is nobody's, to do the work of a check with when there is no one to check.
    private let decoy = Secret.random(byteCount: 32)

    init(users: [User], clients: [RegisteredClient] = [], trees: [JourneyTree], baseURL: String) {
        directory = Directory(users)
        self.clients = ClientRegistry(clients)
        self.trees = Dictionary(trees.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        self.baseURL = baseURL
    }
}

// MARK: - Push

extension DeskState {
    /// Lets a device register. The device it replaces loses its streams and its messages.
    mutating func register(_ body: PushRequestBody, realm: RealmPath, at now: Date) throws(PushRefusal) -> PushDevice {
        guard let pending = registrations.entry(body.messageId, at: now), pending.user.realm == realm else {
            throw .unknownMessage
        }
        let device = try pending.device(registeredBy: body.jwt, at: now)
        guard !devices.isTaken(mechanismUID: device.mechanismUID, for: device.owner) else { throw .mechanismTaken }
        if let old = devices.save(device) {
            streams.endAll(old.mechanismUID)
            pushes.forget(mechanismUID: old.mechanismUID, at: now)
        }
        if var oath = pending.oathDevice {
            oath.registeredAt = now
            devices.save(oath, for: device.owner)
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
        guard let payload = try? jws.payload(verifiedWith: device?.secret ?? decoy), let device, device.owner.realm == realm,
            let proof = try? JSON.decode(DeskProof.self, from: payload), proof.mechanismUid == device.mechanismUID,
            nonces.redeem(proof.nonce, at: now)
        else { return nil }
        return device.mechanismUID
    }
}
