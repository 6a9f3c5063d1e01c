import Crypto
public import SignetCore

/// The desktop's keyring: GNOME Keyring, KWallet, KeePassXC or another program that serves `org.freedesktop.secrets` on the
/// session bus.
///
/// It stores one random key for each wrapping, but no data of the vault. It can also store the vault's epoch.
///
/// The keyring is used when a vault is opened or sealed, not while the vault is open. The result that an item does not exist is
/// only trusted while the keyring is unlocked, because a locked keyring shows no items and gives no other sign. Keys in the
/// keyring are never deleted or replaced. A key whose slot was removed stays until the user deletes it.
///
/// Every program of the same user can read the keyring while it is unlocked. It protects a copied disk, not a session.
///
/// libsecret is loaded at the first use. It uses the session bus of the process's environment (`DBUS_SESSION_BUS_ADDRESS`, or the
/// one in `XDG_RUNTIME_DIR`). Each call runs on a thread of its own and is abandoned when the keyring does not answer. From the
/// first call on, the loss of the session bus does not end the process, which is GLib's default.
///
/// Without libsecret, and on other systems than Linux, every call throws ``StoreError/Code/keyUnavailable``.
///
/// Source: the Secret Service API draft 0.2 of freedesktop.org.
public struct SecretServiceProtector: RollbackProtector {
    /// The name `secret-service`.
    public let name = "secret-service"

    private let access: KeyringAccess

    /// Creates a key protector that uses the keyring of this session.
    /// - Parameters:
    ///   - timeout: The timeout for one whole call.
    ///   - unlockTimeout: The additional time that the user has to unlock a locked keyring. The program of the keyring asks in
    ///     its own window. With nil, the default, the user is not asked, and a locked keyring is an error.
    public init(timeout: Duration = .seconds(10), unlockTimeout: Duration? = nil) {
        access = KeyringAccess(timeout: timeout, unlockTimeout: unlockTimeout)
    }

    /// Creates a new key, stores it in the keyring under a random ID, reads it back, and seals `dataKey` with it.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring is locked, missing, does not answer, or would lose the key
    ///   at the end of the session.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let id = Secret.random(byteCount: Self.idLength).bytes
        let key = Secret.random(byteCount: Self.keyLength)
        let label = "Signet: the key of a vault (\(Self.text(ofKey: id)))"
        let attributes = Self.attributes(key: id)
        try access.ask("seal vault") { keyring throws(StoreError) in
            try keyring.requireLasting()
            if try keyring.items(attributes).isEmpty {
                try keyring.create(label: label, attributes, secret: Base64.encode(key.bytes, as: .standard))
            }
            // A second attempt, after another program interfered, may find the item of the first one.
            guard try Self.keys(in: keyring.items(attributes)).contains(key) else {
                throw StoreError(
                    .failed, "seal vault", "the keyring accepted a key but does not return it; nothing was sealed with it")
            }
        }
        return try WrappedKey.seal(dataKey, with: key, header: [WrappedKey.version] + id, context: context)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring is locked, missing, does not answer, or does not contain the
    ///   key; ``StoreError/Code/keyMismatch`` when it contains another key; ``StoreError/Code/busy`` when other programs changed
    ///   the keyring twice during the call.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let slot = try WrappedKey(wrapped, headerLength: 1 + Self.idLength)
        let id = Array(slot.header[1...])
        let keys = try access.ask("open vault") { keyring throws(StoreError) in
            let items = try keyring.items(Self.attributes(key: id))
            guard !items.isEmpty else {
                throw StoreError(
                    .keyUnavailable, "open vault",
                    "the keyring does not hold the vault's key \(Self.text(ofKey: id)); unlock or restore the keyring that "
                        + "does, or open the vault by another slot; it was not touched")
            }
            return try Self.keys(in: items)
        }
        // If a backup of the keyring was restored next to the current one, there may be several items with this ID.
        for key in keys {
            if let dataKey = slot.open(with: key, context: context) { return dataKey }
        }
        throw StoreError(
            .keyMismatch, "open vault", "the key in the keyring is not the one the vault was sealed with, or the slot is damaged")
    }

    /// Returns the highest epoch that was stored for the vault; nil when the unlocked keyring has none.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring cannot be used; ``StoreError/Code/corrupt`` when the stored
    ///   value is not a number.
    public func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        try access.ask("read epoch") { keyring throws(StoreError) in
            try Self.epochs(in: keyring.items(Self.attributes(epochOf: id))).max()
        }
    }

    /// Stores an epoch.
    ///
    /// Does nothing if the keyring already has the same one.
    /// - Throws: ``StoreError/Code/rolledBack`` when the epoch is lower than the stored one; ``StoreError/Code/busy`` when
    ///   another process stores an epoch at the same time and does not finish; the errors of ``epoch(ofVault:)``.
    public func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        let operation = "remember epoch"
        let attributes = Self.attributes(epochOf: id)
        let turn = Base64.encode(Array(SHA256.hash(data: Array(id.utf8))), as: .url)
        try access.ask(operation) { keyring throws(StoreError) in
            try keyring.requireLasting()
            // The Secret Service API has no atomic "write if higher", so writers need a lock.
            try keyring.withLock("org.signet.Epoch.v\(turn)") { () throws(StoreError) in
                let items = try keyring.items(attributes)
                let known = try Self.epochs(in: items)
                if let highest = known.max() {
                    guard epoch >= highest else {
                        throw StoreError(.rolledBack, operation, "the keyring knows epoch \(highest), and \(epoch) is lower")
                    }
                    guard epoch > highest else { return }
                }
                if let item = items.first {
                    try keyring.replaceSecret(of: item, with: String(epoch))
                } else {
                    try keyring.create(label: "Signet: the epoch of vault \(id)", attributes, secret: String(epoch))
                }
                guard try Self.epochs(in: keyring.items(attributes)).max() == epoch else {
                    throw StoreError(.failed, operation, "the keyring accepted an epoch but does not return it")
                }
            }
        }
    }

    /// Returns ``KeyProtectorAvailability/usable`` when the keyring has a default collection that is unlocked, or that the user
    /// may be asked to unlock.
    ///
    /// The check does not start a program and does not ask the user.
    public func availability() -> KeyProtectorAvailability {
        KeyProtectorAvailability { () throws(StoreError) in
            guard try owner() != nil else {
                throw StoreError(
                    .keyUnavailable, "examine keyring",
                    "no program serves org.freedesktop.secrets; start GNOME Keyring, KWallet or KeePassXC")
            }
            try access.ask("examine keyring") { keyring throws(StoreError) in try keyring.requireUsable() }
        }
    }

    /// Returns the program that serves the keyring on the session bus; nil when no program serves it.
    ///
    /// The call does not start a program.
    /// - Throws: ``StoreError/Code/keyUnavailable`` without a session bus or without libsecret.
    public func owner() throws(StoreError) -> SecretServiceOwner? {
        try access.askBus("examine keyring") { bus throws(StoreError) in try bus.owner(of: "org.freedesktop.secrets") }
    }
}

/// The program that serves the keyring.
public struct SecretServiceOwner: Sendable, Hashable {
    /// The process ID that the session bus reports.
    public let processID: UInt32
    /// The name of the program; nil when the system does not provide it.
    public let program: String?
}

// MARK: Keyring items

extension SecretServiceProtector {
    private static let idLength = 16
    private static let keyLength = 32

    private static func attributes(key id: [UInt8]) -> [String: String] {
        ["xdg:schema": "org.signet.VaultKey", "application": "signet", "key": text(ofKey: id)]
    }

    private static func text(ofKey id: [UInt8]) -> String { Base64.encode(id, as: .url) }

    private static func attributes(epochOf vault: String) -> [String: String] {
        ["xdg:schema": "org.signet.VaultEpoch", "application": "signet", "vault": vault]
    }

    private static func keys(in items: [KeyringItem]) throws(StoreError) -> [Secret] {
        let keys = items.compactMap { item in
            (try? Base64.decode(String(decoding: item.secret.bytes, as: UTF8.self))).map { Secret($0) }
        }.filter { $0.count == keyLength }
        guard !keys.isEmpty else {
            throw StoreError(.keyMismatch, "open vault", "the item in the keyring does not contain a key of Signet")
        }
        return keys
    }

    private static func epochs(in items: [KeyringItem]) throws(StoreError) -> [UInt64] {
        var epochs: [UInt64] = []
        for item in items {
            guard let epoch = UInt64(String(decoding: item.secret.bytes, as: UTF8.self)) else {
                throw StoreError(.corrupt, "read epoch", "the keyring's item for the vault's epoch does not contain a number")
            }
            epochs.append(epoch)
        }
        return epochs
    }
}
