import Crypto
public import Foundation
import SignetCore
import SignetOAuth
public import SignetStorage

/// A store for device keys in software.
///
/// The private keys are sealed in a vault, and are in this process's memory while they sign. They have the protection of the
/// vault, for example a TPM, and any process that can open the vault can copy them. Tell this to the operator of a server that
/// requires hardware keys.
///
/// A key that requires user authentication is created only when a ``DevicePresence`` supports that type of authentication. A
/// weaker type is never used instead.
public struct VaultDeviceKeys: DeviceBindingKeys {
    /// The keychain that runs the vault's blocking calls on a thread where blocking is allowed.
    private let keychain: VaultProvider
    private let presence: (any DevicePresence)?
    private static let record = RecordKey(.item, "signet.device-keys")

    /// Creates a store for the keys in a vault.
    /// - Parameters:
    ///   - vault: The vault. Stores that don't seal their records aren't accepted.
    ///   - presence: The check that asks the user. With nil, only keys without protection are created and used.
    public init(_ vault: Vault, presence: (any DevicePresence)? = nil) {
        keychain = VaultProvider { () throws(StoreError) in vault }
        self.presence = presence
    }

    /// Creates and stores a key.
    ///
    /// The key is durable when this method returns.
    /// - Throws: ``DeviceClientError/unsupported``, ``DeviceClientError/abort``; `StoreError`.
    public func makeKey(
        for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date
    ) async throws -> DeviceKey {
        try await confirm(protection, username: owner.username)
        let secret = P256.Signing.PrivateKey()
        let key = DeviceKey(
            id: RandomID.uuid().lowercased(), owner: owner, authenticationType: protection, createdAt: now,
            publicKey: Array(secret.publicKey.x963Representation))
        let stored = StoredKey(key: key, scalar: Secret(secret.rawRepresentation))
        try await change { $0.append(stored) }
        return key
    }

    /// Marks a key as accepted by the server.
    ///
    /// Does nothing when the key doesn't exist.
    /// - Throws: `StoreError`.
    public func confirm(_ key: DeviceKey) async throws {
        try await change { stored in stored = stored.map { $0.key.id == key.id ? $0.confirmed : $0 } }
    }

    /// Returns all keys, the newest last.
    /// - Throws: `StoreError`.
    public func keys() async throws -> [DeviceKey] {
        try await stored().map(\.key)
    }

    /// Signs bytes.
    ///
    /// Asks the user first when the key is protected.
    /// - Throws: ``DeviceClientError/clientNotRegistered`` when the key doesn't exist any more,
    ///   ``DeviceClientError/unsupported``, ``DeviceClientError/abort``; `StoreError`.
    public func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8] {
        guard let stored = try await stored().first(where: { $0.key.id == key.id }) else {
            throw DeviceClientError.clientNotRegistered
        }
        try await confirm(stored.key.authenticationType, username: stored.key.owner.username)
        let secret = try stored.scalar.withUnsafeBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) }
        return Array(try secret.signature(for: bytes).rawRepresentation)
    }

    /// Removes a key.
    ///
    /// Does nothing when the key doesn't exist.
    /// - Throws: `StoreError`.
    public func remove(_ key: DeviceKey) async throws {
        try await change { $0.removeAll { $0.key.id == key.id } }
    }

    /// Changes the stored keys.
    ///
    /// Writes nothing when the keys stay the same.
    private func change(_ body: @escaping @Sendable (inout [StoredKey]) -> Void) async throws(StoreError) {
        try await keychain.write { (records) throws(StoreError) in
            let stored = try Self.read(records)
            var changed = stored
            body(&changed)
            guard changed.map(\.key) != stored.map(\.key) else { return }
            try records.put(StoredKey.bytes(of: changed), Self.record)
        }
    }

    private func confirm(_ type: DeviceAuthenticationType, username: String) async throws {
        guard type != .none else { return }
        guard let presence, presence.supported.contains(type) else { throw DeviceClientError.unsupported }
        guard try await presence.confirm(type, username: username) else { throw DeviceClientError.abort }
    }

    private func stored() async throws(StoreError) -> [StoredKey] {
        try await keychain.read { (records) throws(StoreError) in try Self.read(records) }
    }

    private static func read(_ records: any RecordReader) throws(StoreError) -> [StoredKey] {
        guard let bytes = try records.record(record) else { return [] }
        guard let keys = StoredKey.keys(in: bytes) else {
            throw StoreError(.corrupt, "read the device's keys", "the record is damaged; it was not changed")
        }
        return keys
    }
}

/// A key with its private key, in its stored form.
private struct StoredKey: Sendable {
    let key: DeviceKey
    let scalar: Secret

    static func bytes(of keys: [StoredKey]) -> [UInt8] {
        JSON.encode(
            .object([
                "version": .integer(1),
                "keys": .array(
                    keys.map { stored in
                        .object([
                            "id": .string(stored.key.id), "server": .string(stored.key.owner.server),
                            "realm": .string(stored.key.owner.realm.description), "userID": .string(stored.key.owner.userID),
                            "username": .string(stored.key.owner.username), "confirmed": .bool(stored.key.isConfirmed),
                            "authenticationType": .string(stored.key.authenticationType.rawValue),
                            "createdAt": .number(stored.key.createdAt.timeIntervalSince1970),
                            "scalar": .string(Base64.encode(stored.scalar.bytes, as: .url)),
                        ])
                    }),
            ]))
    }

    /// Reads the keys; nil when one of them is invalid.
    static func keys(in bytes: [UInt8]) -> [StoredKey]? {
        guard let json = try? JSON.value(of: bytes), json["version"] == .integer(1), let entries = json["keys"]?.array else {
            return nil
        }
        let keys = entries.compactMap { StoredKey($0) }
        return keys.count == entries.count ? keys : nil
    }

    init(key: DeviceKey, scalar: Secret) {
        self.key = key
        self.scalar = scalar
    }

    /// The key, marked as accepted by the server.
    var confirmed: StoredKey {
        StoredKey(
            key: DeviceKey(
                id: key.id, owner: key.owner, authenticationType: key.authenticationType, createdAt: key.createdAt,
                publicKey: key.publicKey, isConfirmed: true), scalar: scalar)
    }

    private init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let server = json["server"]?.string, let realm = json["realm"]?.string,
            let userID = json["userID"]?.string, let username = json["username"]?.string,
            let isConfirmed = json["confirmed"]?.bool,
            let type = json["authenticationType"]?.string.flatMap({ DeviceAuthenticationType(rawValue: $0) }),
            let createdAt = json["createdAt"]?.double,
            let scalar = json["scalar"]?.string.flatMap({ try? Base64.decode($0) }),
            let secret = try? P256.Signing.PrivateKey(rawRepresentation: scalar)
        else { return nil }
        key = DeviceKey(
            id: id, owner: DeviceKeyOwner(server: server, realm: Realm(realm), userID: userID, username: username),
            authenticationType: type, createdAt: Date(timeIntervalSince1970: createdAt),
            publicKey: Array(secret.publicKey.x963Representation), isConfirmed: isConfirmed)
        self.scalar = Secret(scalar)
    }
}
