import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Who a key is bound to: one person of one realm of one server. Two servers may name two people alike.
public struct DeviceKeyOwner: Sendable, Hashable {
    /// The server's address, as ``ServerProfile/url`` has it.
    public let server: String
    /// The realm.
    public let realm: Realm
    /// The person, as the server names them.
    public let userID: String
    /// The same person's name, to show.
    public let username: String

    /// An owner as given.
    public init(server: String, realm: Realm = .root, userID: String, username: String) {
        self.server = server
        self.realm = realm
        self.userID = userID
        self.username = username
    }
}

/// A key that is bound to this device for one person of one server.
public struct DeviceKey: Sendable, Hashable {
    /// What the server knows the key by: the `kid` of its signatures.
    public let id: String
    /// Whose key it is.
    public let owner: DeviceKeyOwner
    /// How it is protected.
    public let authenticationType: DeviceAuthenticationType
    /// When it was made.
    public let createdAt: Date
    /// The public half, a point of P-256 (X9.63, 65 bytes).
    public let publicKey: [UInt8]
    /// Whether the server was seen to take it. Until then it signs only where there is no key that was taken.
    public let isConfirmed: Bool

    /// A key as given.
    public init(
        id: String, owner: DeviceKeyOwner, authenticationType: DeviceAuthenticationType, createdAt: Date, publicKey: [UInt8],
        isConfirmed: Bool = false
    ) {
        self.id = id
        self.owner = owner
        self.authenticationType = authenticationType
        self.createdAt = createdAt
        self.publicKey = publicKey
        self.isConfirmed = isConfirmed
    }
}

/// Where the keys of a device are, and what asks the person before one is used. ``VaultDeviceKeys`` is one; an app that has hardware
/// brings its own.
///
/// Methods throw ``DeviceClientError`` for what the server is to be told by name; anything else it is told as
/// ``DeviceClientError/abort``, and the app gets it whole (``DeviceFailure/cause``).
public protocol DeviceBindingKeys: Sendable {
    /// Makes a key and keeps it.
    /// - Throws: ``DeviceClientError/unsupported`` when it cannot be protected like that, ``DeviceClientError/abort`` when the person
    ///   said no.
    func makeKey(for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date) async throws -> DeviceKey
    /// Notes that the server took a key. It is no error when there is none.
    func confirm(_ key: DeviceKey) async throws
    /// Every key there is, of every server.
    func keys() async throws -> [DeviceKey]
    /// The ECDSA signature with SHA-256 over `bytes`: r and s, 32 bytes each (RFC 7518 section 3.4). The person is asked as the key's
    /// protection says.
    /// - Throws: ``DeviceClientError/abort`` when the person said no.
    func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8]
    /// Removes a key. It is no error when there is none.
    func remove(_ key: DeviceKey) async throws
}

/// Asks the person whether a key of the device may be used: for a PIN, for a finger.
public protocol DevicePresence: Sendable {
    /// The ways it can ask in. `none` needs no asking and need not be listed.
    var supported: Set<DeviceAuthenticationType> { get }
    /// Asks in one of them. Returns whether the person is there and agrees.
    func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool
}
