import Foundation
import SignetCore
import SignetOAuth
import SignetStorage

/// A device key with what opens it again, in its stored form.
///
/// Version 1 of the record has keys in software only, each with its private half as `scalar`. Version 2 also has keys in hardware, with
/// `reference`, `publicKey` and `releasedByHardware` in place of `scalar`. A record without a key in hardware is written in version 1,
/// so that an earlier Signet reads it.
struct StoredDeviceKey: Sendable {
    let key: DeviceKey
    /// The reference of the signing key.
    let reference: Secret
    /// True when the hardware asks the user at each signature.
    let isReleasedByHardware: Bool

    private static let operation = "read the device's keys"

    init(key: DeviceKey, reference: Secret, isReleasedByHardware: Bool) {
        self.key = key
        self.reference = reference
        self.isReleasedByHardware = isReleasedByHardware
    }

    /// The key, marked as accepted by the server.
    var confirmed: StoredDeviceKey {
        StoredDeviceKey(
            key: DeviceKey(
                id: key.id, owner: key.owner, authenticationType: key.authenticationType, createdAt: key.createdAt,
                publicKey: key.publicKey, isConfirmed: true, level: key.level),
            reference: reference, isReleasedByHardware: isReleasedByHardware)
    }

    static func bytes(of keys: [StoredDeviceKey]) -> [UInt8] {
        let version: Int64 = keys.contains { $0.key.level == .hardware } ? 2 : 1
        return JSON.encode(.object(["version": .integer(version), "keys": .array(keys.map(\.json))]))
    }

    private var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(key.id), "server": .string(key.owner.server), "realm": .string(key.owner.realm.description),
            "userID": .string(key.owner.userID), "username": .string(key.owner.username), "confirmed": .bool(key.isConfirmed),
            "authenticationType": .string(key.authenticationType.rawValue),
            "createdAt": .number(key.createdAt.timeIntervalSince1970),
        ]
        if let scalar = SigningKeyProvider.privateHalf(of: reference) {
            members["scalar"] = .string(Base64.encode(scalar.bytes, as: .url))
        } else {
            members["reference"] = .string(Base64.encode(reference.bytes, as: .url))
            members["publicKey"] = .string(Base64.encode(key.publicKey, as: .url))
            members["releasedByHardware"] = .bool(isReleasedByHardware)
        }
        return .object(members)
    }

    /// Reads the keys.
    /// - Throws: `StoreError` with the code `corrupt` when one of them is invalid, or `newerFormat`.
    static func keys(in bytes: [UInt8]) throws(StoreError) -> [StoredDeviceKey] {
        guard let json = try? JSON.value(of: bytes), case .integer(let version)? = json["version"], version > 0 else {
            throw damaged
        }
        guard version <= 2 else {
            throw StoreError(.newerFormat, operation, "the record has version \(version); this program knows versions 1 and 2")
        }
        guard let entries = json["keys"]?.array else { throw damaged }
        let keys = entries.compactMap { StoredDeviceKey($0) }
        guard keys.count == entries.count else { throw damaged }
        return keys
    }

    private static var damaged: StoreError {
        StoreError(.corrupt, operation, "the record is damaged; it was not changed")
    }

    private init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let server = json["server"]?.string, let realm = json["realm"]?.string,
            let userID = json["userID"]?.string, let username = json["username"]?.string,
            let isConfirmed = json["confirmed"]?.bool,
            let type = json["authenticationType"]?.string.flatMap({ DeviceAuthenticationType(rawValue: $0) }),
            let createdAt = json["createdAt"]?.double, let material = Material(json)
        else { return nil }
        key = DeviceKey(
            id: id, owner: DeviceKeyOwner(server: server, realm: Realm(realm), userID: userID, username: username),
            authenticationType: type, createdAt: Date(timeIntervalSince1970: createdAt), publicKey: material.publicKey.x963,
            isConfirmed: isConfirmed, level: material.level)
        reference = material.reference
        isReleasedByHardware = material.isReleasedByHardware
    }

    /// The members of an entry about the key itself.
    private struct Material {
        let reference: Secret
        let publicKey: ES256PublicKey
        let level: SigningKeyLevel
        let isReleasedByHardware: Bool

        init?(_ json: JSONValue) {
            func bytes(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { try? Base64.decode($0) } }
            if let scalar = bytes("scalar") {
                guard let key = try? SigningKeyProvider.softwareKey(privateHalf: Secret(scalar)) else { return nil }
                (reference, publicKey, level, isReleasedByHardware) = (key.reference, key.publicKey, key.level, false)
            } else {
                guard let reference = bytes("reference"), let point = bytes("publicKey"), let key = ES256PublicKey(x963: point),
                    let isReleased = json["releasedByHardware"]?.bool
                else { return nil }
                (self.reference, publicKey, level, isReleasedByHardware) = (Secret(reference), key, .hardware, isReleased)
            }
        }
    }
}
