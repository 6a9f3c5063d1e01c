public import Foundation
public import SignetOAuth
public import SignetStorage

/// The owner of a device key: one user of one realm of one server.
///
/// Two servers may use the same ID for different users.
public struct DeviceKeyOwner: Sendable, Hashable {
    /// The address of the server, as in `ServerProfile.url`.
    public let server: String
    /// The realm.
    public let realm: Realm
    /// The server's ID of the user.
    public let userID: String
    /// The user's name, for display.
    public let username: String

    /// Creates an owner.
    public init(server: String, realm: Realm = .root, userID: String, username: String) {
        self.server = server
        self.realm = realm
        self.userID = userID
        self.username = username
    }
}

/// A key that is bound to this device for one user of one server.
public struct DeviceKey: Sendable, Hashable {
    /// The ID of the key on the server: the `kid` of its signatures.
    public let id: String
    /// The owner of the key.
    public let owner: DeviceKeyOwner
    /// The user authentication that protects the key.
    public let authenticationType: DeviceAuthenticationType
    /// The creation time.
    public let createdAt: Date
    /// The public key, a point of P-256 (X9.63, 65 bytes).
    public let publicKey: [UInt8]
    /// True when the server has accepted the key.
    ///
    /// Until then, the key signs only when its user has no confirmed key.
    public let isConfirmed: Bool
    /// The place where the private key is.
    public let level: SigningKeyLevel

    /// Creates the description of a key.
    public init(
        id: String, owner: DeviceKeyOwner, authenticationType: DeviceAuthenticationType, createdAt: Date, publicKey: [UInt8],
        isConfirmed: Bool = false, level: SigningKeyLevel = .software
    ) {
        self.id = id
        self.owner = owner
        self.authenticationType = authenticationType
        self.createdAt = createdAt
        self.publicKey = publicKey
        self.isConfirmed = isConfirmed
        self.level = level
    }
}

/// A store for device keys that also asks for user authentication before it uses a key.
///
/// ``VaultDeviceKeys`` is one implementation, with keys in a TPM, a Secure Enclave or a vault. An app with other hardware supplies its own.
///
/// The methods throw ``DeviceClientError`` to report a specific error to the server. Any other error is reported to the server as
/// ``DeviceClientError/abort``, and the app receives it unchanged in ``DeviceFailure/cause``.
public protocol DeviceBindingKeys: Sendable {
    /// Creates and stores a key.
    /// - Throws: ``DeviceClientError/unsupported`` when the key can't have this protection, ``DeviceClientError/abort`` when the
    ///   user declines.
    func makeKey(for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date) async throws -> DeviceKey
    /// Marks a key as accepted by the server. Does nothing when the key doesn't exist.
    func confirm(_ key: DeviceKey) async throws
    /// Returns all keys, of all servers.
    func keys() async throws -> [DeviceKey]
    /// Returns the ECDSA signature with SHA-256 over `bytes`: r and s, 32 bytes each (RFC 7518 section 3.4). Authenticates the
    /// user as the protection of the key requires.
    /// - Throws: ``DeviceClientError/abort`` when the user declines.
    func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8]
    /// Removes a key. Does nothing when the key doesn't exist.
    func remove(_ key: DeviceKey) async throws
}

/// A check that the user is present and allows the use of a device key, for example with a PIN or a fingerprint.
public protocol DevicePresence: Sendable {
    /// The supported types of user authentication. `none` needs no check and may be omitted.
    var supported: Set<DeviceAuthenticationType> { get }
    /// Asks the user with one of the supported types. Returns true when the user is present and agrees.
    func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool
}
