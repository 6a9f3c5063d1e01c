import SignetCore

/// A push device, as it described itself when it registered (protocol/authenticator.md section 3.6).
struct PushDevice: Sendable, Hashable {
    let owner: UserKey
    let secret: Secret
    let mechanismUID: String
    let deviceID: String
    let deviceName: String
    let deviceType: String
    let communicationType: String
    /// The address that the transport delivers to; here the device's place at the desk.
    let communicationID: String
    let resourceID: String
}

/// A device that makes one-time codes.
struct OATHDevice: Sendable, Hashable {
    var verifier: OATHVerifier
    let resourceID: String
}

/// The devices of every user: one for push and one for codes each, as OpenAM keeps them. A new one takes the old one's place.
struct DeviceRegistry: Sendable {
    private var push: [UserKey: PushDevice] = [:]
    private var oath: [UserKey: OATHDevice] = [:]
    private var owners: [String: UserKey] = [:]

    func pushDevice(of user: UserKey) -> PushDevice? { push[user] }

    func pushDevice(mechanismUID: String) -> PushDevice? { owners[mechanismUID].flatMap { push[$0] } }

    func oathDevice(of user: UserKey) -> OATHDevice? { oath[user] }

    /// Whether the mechanism's id is another user's.
    func isTaken(mechanismUID: String, for user: UserKey) -> Bool {
        owners[mechanismUID].map { $0 != user } ?? false
    }

    /// Stores a push device and returns the one it replaces.
    mutating func save(_ device: PushDevice) -> PushDevice? {
        let old = push.updateValue(device, forKey: device.owner)
        if let old { owners[old.mechanismUID] = nil }
        owners[device.mechanismUID] = device.owner
        return old
    }

    mutating func save(_ device: OATHDevice, for user: UserKey) {
        oath[user] = device
    }
}
