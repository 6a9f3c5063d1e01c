/// A storage of one-time-code credentials that an app implements.
///
/// An ``OathClient`` reads all credentials at the beginning of each call, and passes those that the call has changed to
/// ``storeOathCredential(_:)`` one after another. One client at a time should use a storage: when another client changes it
/// during a call, the call fails and can be repeated, but a short time remains in which the change is not noticed.
///
/// A credential contains its secret, which its JSON leaves out. A storage that writes credentials to a file keeps
/// ``OathCredential/toUri()``, and protects it as you protect a password.
public protocol OathStorage: Sendable {
    /// Stores a credential, in place of the one with the same id.
    func storeOathCredential(_ credential: OathCredential) async throws
    /// Returns the credential with this id; nil when it does not exist.
    func retrieveOathCredential(credentialId: String) async throws -> OathCredential?
    /// Returns all credentials in any order.
    func getAllOathCredentials() async throws -> [OathCredential]
    /// Removes a credential.
    /// - Returns: True when it existed.
    func removeOathCredential(credentialId: String) async throws -> Bool
    /// Removes all credentials.
    func clearOathCredentials() async throws
}
