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
    ///   - accessGroup: The keychain access group, on Apple's systems. On Linux, all programs of the user share the key of a tag.
    ///   - accessibility: The time at which a new key can be used, on Apple's systems. The key never leaves this device. On Linux,
    ///     it can always be used.
    public init?(
        applicationTag: String, accessGroup: String? = nil, accessibility: KeychainAccessibility = .afterFirstUnlock
    ) {
        let access = KeyAccess(group: accessGroup, time: accessibility.time)
        guard let key = try? SignetStorage.SecuredKey(tag: applicationTag, in: nil, of: .default, for: access) else { return nil }
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

extension KeychainAccessibility {
    /// The time for a key in hardware, which never leaves its device.
    fileprivate var time: KeyAccess.Time {
        switch self {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .afterFirstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
        case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSet
        }
    }
}
