public import Foundation
import SignetStorage

/// A P-256 key in hardware that seals and opens data.
///
/// On Linux, the key is in the TPM. ``encrypt(data:)`` and ``decrypt(data:)`` block the calling thread.
public struct SecuredKey: Sendable {
    private let encryptor: SecuredKeyEncryptor

    /// Loads the key with a tag, or creates it if it does not exist.
    ///
    /// Returns nil when the machine has no suitable hardware, or when this user may not use it. No weaker key takes its place.
    /// - Parameters:
    ///   - applicationTag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    ///   - accessGroup: The access group; on Linux, all programs of the user share the key of a tag.
    ///   - accessibility: The time at which the key can be used, which the hardware decides on Linux.
    public init?(
        applicationTag: String, accessGroup: String? = nil, accessibility: KeychainAccessibility = .afterFirstUnlock
    ) {
        guard let key = try? SignetStorage.SecuredKey(tag: applicationTag) else { return nil }
        encryptor = SecuredKeyEncryptor(key)
    }

    /// Returns true when this machine has hardware for a key that this user may use.
    public static func isAvailable() -> Bool { SignetStorage.SecuredKey.isAvailable() }

    /// Seals data to the key; nil when that fails.
    public func encrypt(data: Data) -> Data? {
        let encryptor = encryptor
        return Blocking.wait { try? await encryptor.encrypt(data: data) }
    }

    /// Opens data that was sealed to the key; nil when that fails.
    public func decrypt(data: Data) -> Data? {
        let encryptor = encryptor
        return Blocking.wait { try? await encryptor.decrypt(data: data) }
    }
}
