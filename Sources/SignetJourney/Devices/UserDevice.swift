public import Foundation
public import SignetCore

/// A device of a user at the server, as the server describes it (protocol/journey.md section 1.5).
///
/// It has only what the following properties say. An older OpenAM sends the secret and the recovery codes of a device, too, and
/// they are not kept.
public struct UserDevice: Sendable, Hashable {
    /// The kinds of devices, by AM's names for them.
    public enum Kind: String, Sendable, CaseIterable {
        /// A device that generates one-time codes.
        case oath
        /// A device that receives push messages.
        case push
        /// A device with a key that is bound to the user.
        case binding
        /// A passkey or a security key.
        case webauthn
        /// The profile of a device.
        case profile
    }

    /// The kind of the device.
    public let kind: Kind
    /// The ID of the device, which is unique among the user's devices of the same kind.
    public let id: String
    /// The name of the device, which the user can change.
    public package(set) var name: String
    /// The UUID of the device; nil when the server sent none, as for a profile.
    public let uuid: String?
    /// The time of the registration; nil when the server sent none, as for a profile.
    public let createdAt: Date?
    /// The time of the last use; nil when the server sent none.
    public let lastUsedAt: Date?
    /// The ID that a bound device chose for itself; nil for other devices.
    public let deviceID: String?
    /// The ID of the credential of a passkey, in base64url; nil for other devices.
    public let credentialID: String?
    /// The identifier that the device of a profile reported; nil for other devices.
    public let identifier: String?
    /// The description of the device of a profile in sections, as in ``DeviceProfile/metadata``; empty for other devices.
    public let metadata: [String: JSONValue]
    /// The location of the device of a profile; nil when the server has none.
    public let location: DeviceProfile.Location?
}

extension UserDevice {
    /// Reads a device from its JSON form.
    ///
    /// Nil without an ID that can be a segment of a path. A device without a name has an empty one.
    package init?(_ kind: Kind, json: JSONValue) {
        guard let id = json["_id"]?.string ?? json["uuid"]?.string, id.isPathSegment else { return nil }
        func date(_ name: String) -> Date? {
            json[name]?.lenientInteger.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        }
        (self.kind, self.id, self.name) = (kind, id, json[kind.nameMember]?.string ?? "")
        uuid = json["uuid"]?.string
        createdAt = date("createdDate")
        lastUsedAt = date(kind.lastUseMember)
        deviceID = json["deviceId"]?.string
        credentialID = json["credentialId"]?.string
        identifier = json["identifier"]?.string
        metadata = json["metadata"]?.object ?? [:]
        location = DeviceProfile.Location(json: json["location"])
    }

    /// The JSON form of the device, which a request for a change contains.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["_id": .string(id), kind.nameMember: .string(name)]
        members["uuid"] = uuid.map { .string($0) }
        members["createdDate"] = createdAt.map { .integer($0.milliseconds) }
        members[kind.lastUseMember] = lastUsedAt.map { .integer($0.milliseconds) }
        members["deviceId"] = deviceID.map { .string($0) }
        members["credentialId"] = credentialID.map { .string($0) }
        members["identifier"] = identifier.map { .string($0) }
        if kind == .profile { members["metadata"] = .object(metadata) }
        members["location"] = location?.json
        return .object(members)
    }

    /// Returns the device with another name.
    package func named(_ name: String) -> UserDevice {
        var device = self
        device.name = name
        return device
    }
}

extension UserDevice.Kind {
    /// The JSON member with the user's name for a device.
    fileprivate var nameMember: String { self == .profile ? "alias" : "deviceName" }

    /// The JSON member with the time of the last use.
    fileprivate var lastUseMember: String { self == .profile ? "lastSelectedDate" : "lastAccessDate" }

    /// The path of the devices below that of the user.
    package var path: String { self == .profile ? "devices/profile" : "devices/2fa/\(rawValue)" }
}

extension String {
    /// True for a text that stands for one segment of a path when it is percent-encoded.
    var isPathSegment: Bool { !isEmpty && self != "." && self != ".." }
}

extension Date {
    /// The time in milliseconds since 1970, as AM writes it.
    fileprivate var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
