import Foundation
import SignetCore

/// A push device, as it described itself at its registration (protocol/authenticator.md section 3.6).
struct PushDevice: Codable, Sendable, Hashable {
    let owner: UserKey
    let secret: Secret
    let mechanismUID: String
    let deviceID: String
    var deviceName: String
    let deviceType: String
    let communicationType: String
    /// The address that the transport delivers to: an SNS endpoint, or the device's ID on this server's push streams.
    var communicationID: String
    let resourceID: String
    var registeredAt: Date
}

/// A device that generates one-time codes.
struct OATHDevice: Sendable, Hashable {
    var verifier: OATHVerifier
    let resourceID: String
    /// The time of its registration; nil before that.
    var registeredAt: Date?
    /// The user's name for the device; nil for AM's own.
    var name: String?
}

/// A device of another kind: a device binding key, a WebAuthn credential, or a device profile.
struct OtherDevice: Codable, Sendable, Hashable {
    let kind: DeviceKind
    /// The ID of the device, which is unique.
    let resourceID: String
    var name: String
    let registeredAt: Date
    var lastUsedAt: Date
    /// Further properties, by their names in the devices resource.
    var details: [String: JSONValue] = [:]
    /// The key that verifies the device's responses; nil for a profile.
    var key: DevicePublicKey?
}

/// The devices of all users.
///
/// Each user has at most one push device and one device for codes, as in OpenAM, and a new one replaces the old one. A user can
/// have several devices of the other kinds.
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

    /// The maximum number of devices of one of the other kinds that a user can have.
    ///
    /// Another device replaces the oldest one.
    static let maxPerKind = 32

    func pushDevice(of user: UserKey) throws -> PushDevice? { try push[user] }

    func pushDevice(mechanismUID: String) throws -> PushDevice? { try owners[mechanismUID].flatMap { try push[$0] } }

    func oathDevice(of user: UserKey) throws -> OATHDevice? { try oath[user] }

    /// Returns the number of a user's devices of a kind.
    func count(_ kind: DeviceKind, of user: UserKey) throws -> Int { try descriptions(kind, of: user).count }

    func others(_ kind: DeviceKind, of user: UserKey) throws -> [OtherDevice] {
        try (others[user] ?? []).filter { $0.kind == kind }
    }

    /// Returns true when the mechanism's ID belongs to another user.
    func isTaken(mechanismUID: String, for user: UserKey) throws -> Bool {
        try owners[mechanismUID].map { $0 != user } ?? false
    }

    /// Stores a push device and returns the one it replaces.
    mutating func save(_ device: PushDevice) throws -> PushDevice? {
        let old = try push[device.owner]
        push.insert(device, for: device.owner)
        if let old { owners.discard(old.mechanismUID) }
        owners.insert(device.owner, for: device.mechanismUID)
        return old
    }

    mutating func save(_ device: OATHDevice, for user: UserKey) {
        oath.insert(device, for: user)
    }

    /// Stores a device.
    ///
    /// It replaces a device with the same ID.
    mutating func save(_ device: OtherDevice, for user: UserKey) throws {
        var devices = try (others[user] ?? []).filter { $0.resourceID != device.resourceID }
        let alike = devices.filter { $0.kind == device.kind }
        if alike.count >= Self.maxPerKind, let oldest = alike.first {
            devices.removeAll { $0.resourceID == oldest.resourceID }
        }
        others.insert(devices + [device], for: user)
    }

    // MARK: Recovery codes

    /// Replaces the recovery codes for a kind of device; nil removes them.
    mutating func keep(_ codes: RecoveryCodes?, for kind: DeviceKind, of user: UserKey) throws {
        var all = try recoveryCodes[user] ?? [:]
        all[kind] = codes.map { Set($0.codes.map { TokenHash($0) }) }
        recoveryCodes.insert(all, for: user)
    }

    /// Redeems a recovery code.
    ///
    /// Returns false when the code is invalid or was used before.
    mutating func redeem(_ code: String, for kind: DeviceKind, of user: UserKey) throws -> Bool {
        try recoveryCodes.update(user) { $0[kind]?.remove(TokenHash(code)) != nil } ?? false
    }

    /// Removes the recovery codes of all kinds of devices.
    mutating func discardRecoveryCodes(of user: UserKey) { recoveryCodes.discard(user) }

    // MARK: Self-service

    /// Renames a device, unless it doesn't exist.
    mutating func rename(_ kind: DeviceKind, _ id: String, of user: UserKey, to name: String) throws {
        switch kind {
        case .oath:
            try oath.update(user) { device in
                guard device.resourceID == id else { return }
                device.name = name
            }
        case .push:
            try push.update(user) { device in
                guard device.resourceID == id else { return }
                device.deviceName = name
            }
        case .binding, .webauthn, .profile:
            try others.update(user) { devices in
                guard let index = devices.firstIndex(where: { $0.kind == kind && $0.isNamed(id) }) else { return }
                devices[index].name = name
            }
        }
    }

    /// Removes a device.
    ///
    /// Returns a removed push device, so that the caller can remove its messages and end its streams.
    mutating func remove(_ kind: DeviceKind, _ id: String, of user: UserKey) throws -> PushDevice? {
        switch kind {
        case .oath:
            guard try oath[user]?.resourceID == id else { return nil }
            oath.discard(user)
            try recoveryCodes.update(user) { $0[kind] = nil }
        case .push:
            guard let device = try push[user], device.resourceID == id else { return nil }
            push.discard(user)
            try recoveryCodes.update(user) { $0[kind] = nil }
            owners.discard(device.mechanismUID)
            return device
        case .binding, .webauthn, .profile:
            try others.update(user) { $0.removeAll { $0.kind == kind && $0.isNamed(id) } }
            if try others(kind, of: user).isEmpty { try recoveryCodes.update(user) { $0[kind] = nil } }
        }
        return nil
    }

    /// Removes the unreadable rows of a user's devices.
    ///
    /// Returns their number.
    mutating func removeUnreadable(of user: UserKey) throws -> Int {
        try [
            push.discardUnreadable(user), oath.discardUnreadable(user), others.discardUnreadable(user),
            recoveryCodes.discardUnreadable(user),
        ].count { $0 }
    }

    func description(_ kind: DeviceKind, _ id: String, of user: UserKey) throws -> JSONValue? {
        if kind == .binding || kind == .webauthn || kind == .profile {
            return try others(kind, of: user).first { $0.isNamed(id) }?.description
        }
        return try descriptions(kind, of: user).first { $0["_id"]?.string == id }
    }

    /// Returns the devices in the format of the devices resource, without secrets.
    func descriptions(_ kind: DeviceKind, of user: UserKey) throws -> [JSONValue] {
        switch kind {
        case .oath:
            guard let device = try oath[user] else { return [] }
            let name = device.name ?? OATHDevice.defaultName
            return [.device(device.resourceID, name: name, registeredAt: device.registeredAt, lastUsedAt: nil)]
        case .push:
            guard let device = try push[user] else { return [] }
            return [.device(device.resourceID, name: device.deviceName, registeredAt: device.registeredAt, lastUsedAt: nil)]
        case .binding, .webauthn, .profile: return try others(kind, of: user).map(\.description)
        }
    }
}

extension OATHDevice {
    /// AM's name for a device that its user has not named.
    fileprivate static let defaultName = "OATH Device"
}

extension OtherDevice {
    /// The ID of the device in the devices resource.
    ///
    /// A profile has the identifier that its device reported, as in AM: the JavaScript SDKs address it with that.
    private var publicID: String { (kind == .profile ? details["identifier"]?.string : nil) ?? resourceID }

    /// Returns true when `id` identifies this device.
    ///
    /// A WebAuthn device also has its credential's ID.
    fileprivate func isNamed(_ id: String) -> Bool {
        publicID == id || (kind == .webauthn && details["credentialId"]?.string == id)
    }

    fileprivate var description: JSONValue {
        guard kind == .profile else {
            return .device(resourceID, name: name, registeredAt: registeredAt, lastUsedAt: lastUsedAt, details)
        }
        var members = details
        members["_id"] = .string(publicID)
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

    /// Returns a time in milliseconds since 1970.
    fileprivate static func milliseconds(_ date: Date) -> JSONValue {
        .integer(Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
