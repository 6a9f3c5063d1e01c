import Crypto
public import SignetCore

/// The desktop's keyring: GNOME Keyring, KWallet, KeePassXC or whoever else serves `org.freedesktop.secrets` on the session
/// bus. It keeps one random key for each wrapping, and nothing of the vault; it can also keep the vault's epoch.
///
/// It is not asked by a vault that was opened, only when one is opened or sealed. An answer "there is none" is believed only of
/// a keyring that is unlocked: a locked one shows nothing, and says so in no other way. Nothing in the keyring is ever deleted
/// or replaced by a new key; a key whose slot is gone stays until the person removes it.
///
/// Every program of the same user can read the keyring while it is unlocked. It protects a copied disk, not a session.
///
/// libsecret is loaded when it is first needed, and uses the session bus that the process was started with
/// (`DBUS_SESSION_BUS_ADDRESS`, or the one in `XDG_RUNTIME_DIR`). Each call is made on a thread of its own and given up when
/// the keyring does not answer. As of then a lost session bus does not end the process, as GLib would have it.
///
/// Without the trait `SecretService`, and on other systems than Linux, every call throws ``StoreError/Code/keyUnavailable``.
///
/// Source: the Secret Service API draft 0.2 of freedesktop.org.
public struct SecretServiceProtector: RollbackProtector {
    /// `secret-service`.
    public let name = "secret-service"

    private let access: KeyringAccess

    /// A key protector that asks the keyring of this session.
    /// - Parameters:
    ///   - patience: How long the keyring may take for one call in all.
    ///   - unlockPatience: How long a person may take, in addition, to unlock a locked keyring; the keyring's program asks,
    ///     in a window of its own. With nil, the default, nobody is asked, and a locked keyring is an error.
    public init(patience: Duration = .seconds(10), unlockPatience: Duration? = nil) {
        access = KeyringAccess(patience: patience, unlockPatience: unlockPatience)
    }

    /// Makes a new key, has it kept under a random id, reads it back, and seals `dataKey` with it.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring is locked, absent, not answering, or would lose the key
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
            // A second attempt, after another program came in between, may find what the first one left.
            guard try Self.keys(in: keyring.items(attributes)).contains(key) else {
                throw StoreError(
                    .failed, "seal vault", "the keyring took a key and does not give it back; nothing was sealed with it")
            }
        }
        return try WrappedKey.seal(dataKey, with: key, header: [WrappedKey.version] + id, context: context)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring is locked, absent, not answering, or does not hold the
    ///   key; ``StoreError/Code/keyMismatch`` when what it holds is not the key; ``StoreError/Code/busy`` when other programs
    ///   changed it twice in the middle of the call.
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
        // A keyring that was restored beside the present one may hold a key twice.
        for key in keys {
            if let dataKey = slot.open(with: key, context: context) { return dataKey }
        }
        throw StoreError(
            .keyMismatch, "open vault", "the key in the keyring is not the one the vault was sealed with, or the slot is damaged")
    }

    /// The highest epoch that was told; nil when the keyring is unlocked and never heard of the vault.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the keyring cannot be asked, ``StoreError/Code/corrupt`` when what it
    ///   holds is no number.
    public func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        try access.ask("read epoch") { keyring throws(StoreError) in
            try Self.epochs(in: keyring.items(Self.attributes(epochOf: id))).max()
        }
    }

    /// Remembers an epoch; the one that it knows already is no change.
    /// - Throws: ``StoreError/Code/failed`` for a lower one than it knows, ``StoreError/Code/busy`` when another process is
    ///   telling one at the same time, and does not end; otherwise as ``epoch(ofVault:)``.
    public func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        let operation = "remember epoch"
        let attributes = Self.attributes(epochOf: id)
        let turn = Base64.encode(Array(SHA256.hash(data: Array(id.utf8))), as: .url)
        try access.ask(operation) { keyring throws(StoreError) in
            try keyring.requireLasting()
            // The keyring has no "write if higher", so those who write take turns.
            try keyring.inTurn("org.signet.Epoch.v\(turn)") { () throws(StoreError) in
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
                    throw StoreError(.failed, operation, "the keyring took an epoch and does not give it back")
                }
            }
        }
    }

    /// Whether the keyring could be asked now: it is there, and its default collection is unlocked, or is locked and a person
    /// may be asked to unlock it. No program is started and nobody is asked anything for this.
    public func availability() -> KeyProtectorAvailability {
        do throws(StoreError) {
            guard try owner() != nil else {
                return .unusable("no program serves org.freedesktop.secrets; start GNOME Keyring, KWallet or KeePassXC")
            }
            try access.ask("examine keyring") { keyring throws(StoreError) in try keyring.requireUsable() }
            return .usable
        } catch {
            return .unusable(error.reason)
        }
    }

    /// Who serves the keyring on the session bus; nil when nobody does. No program is started for this.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when there is no bus to ask, or no libsecret.
    public func owner() throws(StoreError) -> SecretServiceOwner? {
        try access.askBus("examine keyring") { bus throws(StoreError) in try bus.owner(of: "org.freedesktop.secrets") }
    }
}

/// The program that answers for the keyring.
public struct SecretServiceOwner: Sendable, Hashable {
    /// The process, in the numbers of the session bus.
    public let processID: UInt32
    /// The name of the program; nil when the system does not tell.
    public let program: String?
}

// MARK: What is in the keyring

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
            throw StoreError(.keyMismatch, "open vault", "what the keyring holds is not a key of Signet's")
        }
        return keys
    }

    private static func epochs(in items: [KeyringItem]) throws(StoreError) -> [UInt64] {
        var epochs: [UInt64] = []
        for item in items {
            guard let epoch = UInt64(String(decoding: item.secret.bytes, as: UTF8.self)) else {
                throw StoreError(.corrupt, "read epoch", "what the keyring holds as the vault's epoch is no number")
            }
            epochs.append(epoch)
        }
        return epochs
    }
}
