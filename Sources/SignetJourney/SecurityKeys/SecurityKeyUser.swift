public import SignetCore

/// A security key that is connected to this machine.
public struct SecurityKey: Sendable, Hashable {
    /// The path of its device, for example `/dev/hidraw3`.
    public let path: String
    /// The name that the manufacturer gives it; empty when it has none.
    public let name: String

    /// Creates the description of a security key.
    public init(path: String, name: String) {
        self.path = path
        self.name = name
    }
}

/// An account for which a security key has signed.
public struct SecurityKeyAccount: Sendable, Hashable {
    /// The ID of the passkey.
    public let credentialID: [UInt8]
    /// The server's ID of the user.
    public let userID: [UInt8]
    /// The user's name on the server; nil when the key doesn't report it, which it does only after it has verified the user.
    public let userName: String?
    /// The user's name, for display; nil when the key doesn't report it.
    public let displayName: String?
}

/// The dialog with the user of a security key.
public protocol SecurityKeyUser: Sendable {
    /// Asks which of several connected keys is used.
    /// - Parameter keys: The keys, at least two.
    /// - Returns: One of them; nil when the user cancels.
    /// - Throws: `CancellationError`, or any error when the user can't be asked.
    func choose(among keys: [SecurityKey]) async throws -> SecurityKey?
    /// Asks for the PIN of a key.
    /// - Parameters:
    ///   - key: The key.
    ///   - attempts: The number of attempts that the key allows; nil when it doesn't report it.
    ///   - isAgain: True after a wrong PIN.
    /// - Returns: The PIN; nil when the user cancels.
    /// - Throws: `CancellationError`, or any error when the user can't be asked.
    func pin(of key: SecurityKey, attempts: Int?, isAgain: Bool) async throws -> Secret?
    /// Tells the user to touch the key now.
    /// - Parameters:
    ///   - key: The key.
    ///   - relyingPartyID: The domain for which the key creates a passkey or signs.
    func touch(_ key: SecurityKey, for relyingPartyID: String) async
    /// Asks for which of several accounts the signature is sent.
    /// - Parameter accounts: The accounts, at least two.
    /// - Returns: One of them; nil when the user cancels.
    /// - Throws: `CancellationError`, or any error when the user can't be asked.
    func choose(among accounts: [SecurityKeyAccount]) async throws -> SecurityKeyAccount?
}

/// A channel to a security key, in place of a device: it carries the reports of CTAPHID (CTAP 2.1 section 11.2), 64 bytes each.
package protocol SecurityKeyChannel: Sendable {
    /// Sends a report to the key. Returns false when the key is gone.
    func write(_ report: [UInt8]) -> Bool
    /// Waits for a report of the key.
    /// - Parameter milliseconds: The maximum time; nil for no limit.
    /// - Returns: The report; nil when the key sends none in time.
    func read(within milliseconds: Int?) -> [UInt8]?
}

/// A security key, and the channel to it in place of its device.
package struct SecurityKeyPort: Sendable {
    package let key: SecurityKey
    package let channel: (any SecurityKeyChannel)?

    /// Creates a port.
    package init(_ key: SecurityKey, channel: (any SecurityKeyChannel)? = nil) {
        self.key = key
        self.channel = channel
    }
}
