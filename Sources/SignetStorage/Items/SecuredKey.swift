public import Foundation

/// A P-256 key whose private half is in hardware and cannot be read.
///
/// On Linux, the key is in the TPM. Each user has one key per tag, and programs that use the same tag share it. On Apple's systems, the
/// key is in the Secure Enclave and belongs to the app; a key that an iOS SDK of ForgeRock or Ping made under the same tag is the
/// same key. On other systems, the initializer throws ``StoreError/Code/keyUnavailable``.
public struct SecuredKey: Sendable {
    /// The tag under which the iOS SDKs keep their key.
    public static let defaultTag = "com.pingidentity.securedKey.identifier"

    let key: any AgreementKey

    /// Loads the key with this tag, or creates it if it does not exist.
    ///
    /// The call uses the hardware and may take a second.
    ///
    /// - Parameters:
    ///   - tag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    ///   - directory: The directory that contains the file `secured-key-<tag>` on Linux; the default directory of a vault if nil.
    ///     The file can only be used with the TPM of this machine. Apple's systems keep no file and ignore the directory.
    /// - Throws: ``StoreError/Code/failed`` for an invalid tag; ``StoreError/Code/keyUnavailable`` when the machine has no
    ///   suitable hardware; ``StoreError/Code/denied`` when this user may not use it; ``StoreError/Code/keyMismatch`` when the
    ///   key belongs to another machine, or the TPM was cleared since. An existing key is never replaced, because data that was
    ///   sealed to it would be lost.
    public init(tag: String = SecuredKey.defaultTag, in directory: VaultDirectory? = nil) throws(StoreError) {
        try self.init(tag: tag, in: directory, of: .default)
    }

    package init(tag: String, in directory: VaultDirectory?, of hardware: HardwareKeys) throws(StoreError) {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        guard (1...128).contains(tag.utf8.count), tag.allSatisfy(allowed.contains) else {
            throw StoreError(.failed, "open the secured key", "a tag has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
        key = try hardware.key(tag: tag, in: directory)
    }

    /// Returns true when this machine has hardware for a key that this user may use.
    ///
    /// Does not create a key. The call asks the hardware and may take a moment.
    public static func isAvailable() -> Bool { HardwareKeys.default.availability().isUsable }

    /// The public half (X9.63, 65 bytes).
    ///
    /// Others can seal data to it.
    public var publicKey: [UInt8] { key.publicKey }
}

/// The calls of the Ping SDK.
extension SecuredKey {
    /// Loads the key with this tag, or creates it if it does not exist.
    ///
    /// Returns nil when the hardware cannot be used, or when the tag is invalid. ``init(tag:in:)`` reports the reason.
    public init?(applicationTag: String) {
        try? self.init(tag: applicationTag)
    }

    /// Seals `data` to the key, without using the hardware.
    ///
    /// Returns nil when that is impossible.
    public func encrypt(data: Data) -> Data? {
        (try? ECIES.seal(Array(data), to: publicKey)).map { Data($0) }
    }

    /// Opens data that was sealed to the key, in the current layout or the previous one.
    ///
    /// The call waits for the hardware, up to a second. Asynchronous code should use ``SecuredKeyEncryptor``.
    ///
    /// Returns nil when the data do not open, or when the hardware cannot be used any more.
    public func decrypt(data: Data) -> Data? {
        (try? ECIES.open(Array(data), with: key)).map { Data($0) }
    }
}
