import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A push device, as it described itself when it registered (protocol/authenticator.md section 3.6).
struct PushDevice: Codable, Sendable, Hashable {
    let owner: UserKey
    let secret: Secret
    let mechanismUID: String
    let deviceID: String
    let deviceName: String
    let deviceType: String
    let communicationType: String
    /// The address that the transport delivers to: an endpoint of SNS, or the device's place at the desk.
    var communicationID: String
    let resourceID: String
    var registeredAt: Date
}

/// A device that makes one-time codes.
struct OATHDevice: Sendable, Hashable {
    var verifier: OATHVerifier
    let resourceID: String
    /// When it was saved; nil before that.
    var registeredAt: Date?
}

/// A device of another kind: a key that binds it, a WebAuthn credential, or a profile.
struct OtherDevice: Codable, Sendable, Hashable {
    let kind: DeviceKind
    /// Nobody else's, and never that of another device.
    let resourceID: String
    var name: String
    let registeredAt: Date
    var lastUsedAt: Date
    /// What is known of it besides, by the names the devices resource gives it.
    var details: [String: JSONValue] = [:]
    /// What proves that an answer is its own; nil for a profile.
    var key: DevicePublicKey?
}

/// The devices of every user: one for push and one for codes each, as OpenAM keeps them, where a new one takes the old one's
/// place, and any number of others.
struct DeviceRegistry {
    private var push: Table<UserKey, PushDevice>
    private var oath: Table<UserKey, OATHDevice>
    private var others: Table<UserKey, [OtherDevice]>
    private var owners: Table<String, UserKey>
    private var recoveryCodes: Table<UserKey, [DeviceKind: Set<TokenHash>]>

    init(_ transaction: RowCache) {
        push = Table(.pushDevice, transaction)
        oath = Table(.oathDevice, transaction)
        others = Table(.otherDevices, transaction)
        owners = Table(.pushOwner, transaction)
        recoveryCodes = Table(.recoveryCodes, transaction)
    }

    /// The most devices of one kind that a person can have of those that can be many. One more takes the oldest one's place.
    static let mostOfAKind = 32

    func pushDevice(of user: UserKey) -> PushDevice? { push[user] }

    func pushDevice(mechanismUID: String) -> PushDevice? { owners[mechanismUID].flatMap { push[$0] } }

    func oathDevice(of user: UserKey) -> OATHDevice? { oath[user] }

    /// How many devices of a kind a user has.
    func count(_ kind: DeviceKind, of user: UserKey) -> Int {
        switch kind {
        case .oath: oath[user] == nil ? 0 : 1
        case .push: push[user] == nil ? 0 : 1
        case .binding, .webauthn, .profile: others(kind, of: user).count
        }
    }

    func others(_ kind: DeviceKind, of user: UserKey) -> [OtherDevice] { (others[user] ?? []).filter { $0.kind == kind } }

    /// Whether the mechanism's id is another user's.
    func isTaken(mechanismUID: String, for user: UserKey) -> Bool {
        owners[mechanismUID].map { $0 != user } ?? false
    }

    /// Stores a push device and returns the one it replaces.
    mutating func save(_ device: PushDevice) -> PushDevice? {
        let old = push[device.owner]
        push[device.owner] = device
        if let old { owners[old.mechanismUID] = nil }
        owners[device.mechanismUID] = device.owner
        return old
    }

    mutating func save(_ device: OATHDevice, for user: UserKey) {
        oath[user] = device
    }

    /// Stores a device, in the place of the one with the same id if there is one.
    mutating func save(_ device: OtherDevice, for user: UserKey) {
        var devices = (others[user] ?? []).filter { $0.resourceID != device.resourceID }
        let alike = devices.filter { $0.kind == device.kind }
        if alike.count >= Self.mostOfAKind, let oldest = alike.first {
            devices.removeAll { $0.resourceID == oldest.resourceID }
        }
        others[user] = devices + [device]
    }

    // MARK: Recovery codes

    /// Keeps codes in the place of those that a kind of device had; without any it has none from now on.
    mutating func keep(_ codes: RecoveryCodes?, for kind: DeviceKind, of user: UserKey) {
        var all = recoveryCodes[user] ?? [:]
        all[kind] = codes.map { Set($0.codes.map { TokenHash($0) }) }
        recoveryCodes[user] = all
    }

    /// Uses up a code. False when it is none, or was used before.
    mutating func redeem(_ code: String, for kind: DeviceKind, of user: UserKey) -> Bool {
        recoveryCodes[user]?[kind]?.remove(TokenHash(code)) != nil
    }

    // MARK: Self-service

    mutating func rename(_ kind: DeviceKind, _ id: String, of user: UserKey, to name: String) {
        guard let index = others[user]?.firstIndex(where: { $0.kind == kind && $0.isNamed(id) }) else { return }
        others[user]?[index].name = name
    }

    /// Removes a device. What it returns is a push device, which has messages and streams.
    mutating func remove(_ kind: DeviceKind, _ id: String, of user: UserKey) -> PushDevice? {
        switch kind {
        case .oath:
            guard oath[user]?.resourceID == id else { return nil }
            oath[user] = nil
            recoveryCodes[user]?[kind] = nil
        case .push:
            guard let device = push[user], device.resourceID == id else { return nil }
            push[user] = nil
            recoveryCodes[user]?[kind] = nil
            owners[device.mechanismUID] = nil
            return device
        case .binding, .webauthn, .profile:
            others[user]?.removeAll { $0.kind == kind && $0.isNamed(id) }
            if others(kind, of: user).isEmpty { recoveryCodes[user]?[kind] = nil }
        }
        return nil
    }

    /// Removes what cannot be read of a user's devices, and says how many rows that were.
    mutating func removeBroken(of user: UserKey) -> Int {
        [
            push.discardBroken(user), oath.discardBroken(user), others.discardBroken(user), recoveryCodes.discardBroken(user),
        ].count { $0 }
    }

    func description(_ kind: DeviceKind, _ id: String, of user: UserKey) -> JSONValue? {
        if kind == .binding || kind == .webauthn || kind == .profile {
            return others(kind, of: user).first { $0.isNamed(id) }?.description
        }
        return descriptions(kind, of: user).first { $0["_id"]?.string == id }
    }

    /// The devices as the devices resource shows them. No secret is among it.
    func descriptions(_ kind: DeviceKind, of user: UserKey) -> [JSONValue] {
        switch kind {
        case .oath:
            return (oath[user].map { [$0] } ?? []).map { device in
                .device(device.resourceID, name: "OATH Device", registeredAt: device.registeredAt, lastUsedAt: nil)
            }
        case .push:
            return (push[user].map { [$0] } ?? []).map { device in
                .device(device.resourceID, name: device.deviceName, registeredAt: device.registeredAt, lastUsedAt: nil)
            }
        case .binding, .webauthn, .profile: return others(kind, of: user).map(\.description)
        }
    }
}

extension OtherDevice {
    /// Whether `id` means this device: a WebAuthn device can also be asked for by its credential's id.
    fileprivate func isNamed(_ id: String) -> Bool {
        resourceID == id || (kind == .webauthn && details["credentialId"]?.string == id)
    }

    fileprivate var description: JSONValue {
        guard kind == .profile else {
            return .device(resourceID, name: name, registeredAt: registeredAt, lastUsedAt: lastUsedAt, details)
        }
        var members = details
        members["_id"] = .string(resourceID)
        members["alias"] = .string(name)
        members["lastSelectedDate"] = .milliseconds(lastUsedAt)
        return .object(members)
    }
}

extension JSONValue {
    fileprivate static func device(
        _ id: String, name: String, registeredAt: Date?, lastUsedAt: Date?, _ details: [String: JSONValue] = [:]
    ) -> JSONValue {
        var members = details
        members["_id"] = .string(id)
        members["uuid"] = .string(id)
        members["deviceName"] = .string(name)
        members["createdDate"] = registeredAt.map { .milliseconds($0) }
        members["lastAccessDate"] = (lastUsedAt ?? registeredAt).map { .milliseconds($0) }
        return .object(members)
    }

    /// A moment in milliseconds since 1970.
    fileprivate static func milliseconds(_ date: Date) -> JSONValue {
        .integer(Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
