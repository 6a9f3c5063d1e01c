public import Foundation
import SignetCore
import SignetOAuth
public import SignetStorage

/// A store for device keys in the TPM or the Secure Enclave, or in software where this machine has neither.
///
/// The vault holds what opens a key again. A key in hardware signs on this machine only: a copy of the vault is useless for it
/// elsewhere. A key in software has the protection of the vault, for example a TPM, and is in this process's memory while it signs; any
/// process that can open the vault can copy it. ``DeviceKey/level`` tells where a key is, and ``init(_:presence:place:provider:)`` can
/// require hardware.
///
/// A key that requires user authentication is created only when a ``DevicePresence`` supports that type of authentication, or when the
/// hardware checks it at each signature: a Secure Enclave does for the biometric types. A weaker type is never used instead.
public struct VaultDeviceKeys: DeviceBindingKeys {
    /// The keychain that runs the vault's blocking calls on a thread where blocking is allowed.
    private let keychain: VaultProvider
    private let presence: (any DevicePresence)?
    private let place: SigningKeyRequirement
    private let provider: SigningKeyProvider
    private static let record = RecordKey(.item, "signet.device-keys")

    /// Creates a store for the keys in a vault.
    /// - Parameters:
    ///   - vault: The vault. Stores that don't seal their records aren't accepted.
    ///   - presence: The check that asks the user. With nil, only keys without protection, and keys whose hardware asks the user, are
    ///     created and used.
    ///   - place: The place for new keys. By default it is the hardware of this machine, or software where no hardware can be used.
    ///     Existing keys stay where they are.
    ///   - provider: The provider of the keys.
    public init(
        _ vault: Vault, presence: (any DevicePresence)? = nil, place: SigningKeyRequirement = .best,
        provider: SigningKeyProvider = SigningKeyProvider()
    ) {
        keychain = VaultProvider { () throws(StoreError) in vault }
        self.presence = presence
        self.place = place
        self.provider = provider
    }

    /// Creates and stores a key.
    ///
    /// The key is durable when this method returns.
    /// - Throws: ``DeviceClientError/unsupported``, ``DeviceClientError/abort``; `StoreError`, with the code `keyUnavailable` or
    ///   `denied` when a key in hardware is required and the hardware can't be used.
    public func makeKey(
        for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date
    ) async throws -> DeviceKey {
        let factor = place == .software ? nil : protection.hardwareFactor.flatMap { provider.supports($0) ? $0 : nil }
        if factor == nil { try await confirm(protection, username: owner.username) }
        let made = try await Blocking.run { () throws(StoreError) in try provider.create(place, releasedBy: factor) }
        let key = DeviceKey(
            id: RandomID.uuid().lowercased(), owner: owner, authenticationType: protection, createdAt: now,
            publicKey: made.publicKey.x963, level: made.level)
        let stored = StoredDeviceKey(key: key, reference: made.reference, isReleasedByHardware: factor != nil)
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
    /// - Throws: ``DeviceClientError/clientNotRegistered`` when the key doesn't exist any more, or is in the hardware of another
    ///   machine or in a TPM that was cleared since; ``DeviceClientError/unsupported``, ``DeviceClientError/abort``; `StoreError`.
    public func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8] {
        guard let stored = try await stored().first(where: { $0.key.id == key.id }) else {
            throw DeviceClientError.clientNotRegistered
        }
        if !stored.isReleasedByHardware {
            try await confirm(stored.key.authenticationType, username: stored.key.owner.username)
        }
        do throws(StoreError) {
            return try await Blocking.run { () throws(StoreError) in try provider.open(stored.reference).sign(bytes) }
        } catch {
            guard error.code == .keyMismatch else { throw error }
            throw DeviceClientError.clientNotRegistered
        }
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
    private func change(_ body: @escaping @Sendable (inout [StoredDeviceKey]) -> Void) async throws(StoreError) {
        try await keychain.write { (records) throws(StoreError) in
            let stored = try Self.read(records)
            var changed = stored
            body(&changed)
            guard changed.map(\.key) != stored.map(\.key) else { return }
            try records.put(StoredDeviceKey.bytes(of: changed), Self.record)
        }
    }

    private func confirm(_ type: DeviceAuthenticationType, username: String) async throws {
        guard type != .none else { return }
        guard let presence, presence.supported.contains(type) else { throw DeviceClientError.unsupported }
        guard try await presence.confirm(type, username: username) else { throw DeviceClientError.abort }
    }

    private func stored() async throws(StoreError) -> [StoredDeviceKey] {
        try await keychain.read { (records) throws(StoreError) in try Self.read(records) }
    }

    private static func read(_ records: any RecordReader) throws(StoreError) -> [StoredDeviceKey] {
        guard let bytes = try records.record(record) else { return [] }
        return try StoredDeviceKey.keys(in: bytes)
    }
}

extension DeviceAuthenticationType {
    /// The factor that hardware can check in place of a ``DevicePresence``; nil for a type that no hardware checks.
    fileprivate var hardwareFactor: SigningKeyFactor? {
        switch self {
        case .biometricOnly: .biometry
        case .biometricAllowFallback: .biometryOrPasscode
        case .applicationPIN, .none: nil
        }
    }
}
