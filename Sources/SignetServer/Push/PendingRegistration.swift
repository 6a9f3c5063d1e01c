import Foundation
import SignetCore

/// An invitation that waits for a device to register.
struct PendingRegistration: Codable, Sendable {
    let user: UserKey
    /// The id of the user's password when the invitation was made (``UserRecord/generation``).
    private let generation: String?
    /// The URI in the QR code.
    ///
    /// It contains the secrets.
    let uri: Secret
    let messageID: String
    private let secret: Secret
    private let challenge: [UInt8]
    private let resourceID: String
    /// The OATH device that is created together with the push device in a combined registration; nil for a registration of push
    /// alone.
    let oathDevice: OATHDevice?
    /// The time after which no device can register.
    let deadline: Date
    var isRegistered = false

    /// Creates an invitation.
    ///
    /// It is nil when the public address of the server is not a valid endpoint for a device.
    init?(for identified: IdentifiedUser, _ style: EnrollmentStyle, withOATH: Bool, _ time: RequestTime) {
        func endpoint(_ action: PushAction) -> Endpoint? {
            Self.endpoint("\(time.url(.pushMessage, in: identified.user.realm))?_action=\(action.rawValue)")
        }
        guard let registration = endpoint(.register), let authentication = endpoint(.authenticate) else { return nil }
        let configuration = time.configuration
        user = identified.user
        generation = identified.generation
        (secret, challenge, resourceID) = (Secret.random(byteCount: 32), RandomID.bytes(32), RandomID.uuid())
        messageID = MessageID.make("REGISTER", at: time.now)
        let invitation = PushInvitation(
            secret: secret, challenge: challenge, messageID: messageID, registrationEndpoint: registration,
            authenticationEndpoint: authentication, loadBalancerCookie: configuration.loadBalancerCookie, resourceID: resourceID)
        oathDevice = withOATH ? style.newOATHDevice() : nil
        let enrollment = Enrollment(
            account: AccountID(issuer: style.issuer ?? configuration.issuer, accountName: identified.user.name),
            oath: oathDevice?.verifier.settings, oathResourceID: oathDevice?.resourceID, push: invitation,
            userID: identified.user.name, imageURL: style.imageURL,
            backgroundColor: style.backgroundColor ?? configuration.backgroundColor)
        uri = Secret(EnrollmentURI.print(enrollment).utf8)
        deadline = time.now.addingTimeInterval(Double(style.timeout ?? configuration.pushLifetime))
    }

    /// The user, with the id of the password that the user had when the invitation was made.
    ///
    /// A new password ends the invitation.
    var identified: IdentifiedUser { IdentifiedUser(user: user, generation: generation) }

    /// Returns an endpoint of this server, with plain HTTP allowed.
    ///
    /// The device decides if the address is safe enough.
    private static func endpoint(_ url: String) -> Endpoint? {
        do {
            return try Endpoint(url)
        } catch {
            return error.host.flatMap { try? Endpoint(url, policy: .allowingPlainHTTP(to: [$0])) }
        }
    }

    /// Reads a registration.
    ///
    /// It verifies the signature first, and then checks the claims. As in AM, a registration that is sent again is valid.
    /// - Throws: ``PushResponseError`` when the registration is not valid.
    func device(registeredBy jwt: String, at now: Date) throws(PushResponseError) -> PushDevice {
        let claims = try SignedClaims(jwt, secret: secret)
        guard now < deadline else { throw .expired }
        try claims.checkResponse(to: challenge, secret: secret)
        let registration = try Self.registration(claims)
        return PushDevice(
            owner: user, secret: secret, mechanismUID: registration.mechanismUid, deviceID: registration.deviceId,
            deviceName: registration.deviceName, deviceType: registration.deviceType,
            communicationType: registration.communicationType, communicationID: "stream:\(resourceID)", resourceID: resourceID,
            registeredAt: now)
    }

    private static func registration(_ claims: SignedClaims) throws(PushResponseError) -> PushClaims.Registration {
        for name in ["mechanismUid", "deviceId", "deviceName", "deviceType", "communicationType"] {
            guard let text = claims[name]?.string, !text.isEmpty, text.utf8.count <= 4096 else { throw .claim(name) }
        }
        guard let registration = try? JSON.decode(PushClaims.Registration.self, from: claims.payload) else { throw .form }
        return registration
    }
}

/// A device with a valid registration.
struct PushCandidate: Sendable {
    /// The device; the stored one when the registration is repeated.
    let device: PushDevice
    /// True when the device has used the invitation before, so that there is nothing left to do.
    let isRepeated: Bool
}

/// The store of the pending invitations.
struct PushRegistrationStore {
    private var pending: Table<String, PendingRegistration>

    init(_ transaction: RowCache) {
        pending = Table(.registration, transaction)
    }

    func entry(_ messageID: String) throws -> PendingRegistration? {
        try pending[messageID]
    }

    mutating func add(_ registration: PendingRegistration, until end: Date) {
        pending.insert(registration, for: registration.messageID, until: max(end, registration.deadline))
    }

    mutating func complete(_ messageID: String) throws {
        try pending.update(messageID) { $0.isRegistered = true }
    }
}

/// The actions of the resource `push/sns/message` for devices.
enum PushAction: String, Sendable, CaseIterable {
    case register
    case authenticate
}
