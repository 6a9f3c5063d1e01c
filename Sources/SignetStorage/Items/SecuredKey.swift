public import Foundation
public import SignetCore

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

    package init(
        tag: String, in directory: VaultDirectory?, of hardware: HardwareKeys, for access: KeyAccess = KeyAccess()
    ) throws(StoreError) {
        try Self.check(tag)
        key = try hardware.key(tag: tag, in: directory, for: access)
    }

    /// Creates a secured key from one that was found in the hardware.
    init(_ key: any AgreementKey) { self.key = key }

    private static func check(_ tag: String) throws(StoreError) {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        guard (1...128).contains(tag.utf8.count), tag.allSatisfy(allowed.contains) else {
            throw StoreError(.failed, "open the secured key", "a tag has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
    }

    /// Returns true when this machine has hardware for a key that this user may use.
    ///
    /// Does not create a key. The call asks the hardware and may take a moment.
    public static func isAvailable() -> Bool { HardwareKeys.default.availability().isUsable }

    /// The protection of the private half, which is always in hardware.
    public var level: ProtectionLevel { .hardware }

    /// The public half (X9.63, 65 bytes).
    ///
    /// Others can seal data to it.
    public var publicKey: [UInt8] { key.publicKey }
}

/// Keys that the user's PIN releases.
extension SecuredKey {
    /// Loads the key with this tag that the user's PIN releases, or creates it if it does not exist.
    ///
    /// The hardware checks the PIN when the key is loaded, so that nothing is sealed to a key with another PIN that another program put
    /// in its place, and again at each opening. It counts wrong PINs of all programs and locks itself after too many, for a time
    /// that its owner sets.
    ///
    /// The key is not the one that the same tag has without a PIN. Only a TPM has such keys.
    /// - Parameters:
    ///   - tag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    ///   - pin: The user's PIN, of any length; not empty.
    ///   - directory: The directory that contains the file `secured-pin-key-<tag>`; the default directory of a vault if nil.
    /// - Throws: ``StoreError/Code/denied`` for a wrong PIN, and while the TPM is locked; ``StoreError/Code/invalid`` for an empty PIN;
    ///   the errors of ``init(tag:in:)``.
    public init(tag: String = SecuredKey.defaultTag, pin: Secret, in directory: VaultDirectory? = nil) throws(StoreError) {
        try self.init(tag: tag, pin: pin, isNew: false, in: directory, of: .default)
    }

    /// Enrolls a new PIN: creates a key that it releases, in place of the one that the earlier PIN released.
    ///
    /// What was sealed to the earlier key cannot be opened any more. A program that has loaded the earlier key can use it with the earlier PIN
    /// until it ends, and so can an attacker with a copy of the file and the earlier PIN on this machine. An active device on the bus of the
    /// TPM can learn the new PIN's authorization during this call, because the storage key to which it is encrypted is not authenticated
    /// then. The same holds when ``init(tag:pin:in:)`` creates the key.
    /// - Parameters:
    ///   - pin: The user's new PIN; not empty.
    ///   - tag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    ///   - directory: The directory that contains the file `secured-pin-key-<tag>`; the default directory of a vault if nil.
    /// - Returns: The new key.
    /// - Throws: The errors of ``init(tag:pin:in:)``: the earlier key is in place then, because the new key replaces it only after the
    ///   hardware has loaded and used it. The exception is ``StoreError/Code/outcomeUnknown``: the new key is in place, but the disk did
    ///   not confirm it, and a crash of the machine can bring the earlier key back. Load the key with the new PIN to find out;
    ///   ``StoreError/Code/denied`` means the earlier key.
    public static func enroll(
        pin: Secret, tag: String = SecuredKey.defaultTag, in directory: VaultDirectory? = nil
    ) throws(StoreError) -> SecuredKey {
        try SecuredKey(tag: tag, pin: pin, isNew: true, in: directory, of: .default)
    }

    package init(
        tag: String, pin: Secret, isNew: Bool, in directory: VaultDirectory?, of hardware: HardwareKeys
    ) throws(StoreError) {
        try Self.check(tag)
        guard pin.count > 0 else { throw StoreError(.invalid, "open the secured key", "the PIN is empty") }
        key = try hardware.key(tag: tag, releasedBy: .pin(pin), isNew: isNew, in: directory)
    }
}

/// Keys that the enrolled fingerprints or the enrolled face release.
///
/// Only a Secure Enclave has such keys. The device asks for a finger or the face each time something is opened. When a fingerprint or a face
/// is enrolled or removed, the key becomes useless: opening throws ``StoreError/Code/denied`` from then on. This was tested against a
/// substitute for the Security framework, and not on a device yet.
extension SecuredKey {
    /// Loads the key with this tag that the fingerprints or the face release, or creates it if it does not exist.
    ///
    /// The key is not the one that the same tag has without a second factor.
    /// - Parameter tag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    /// - Throws: ``StoreError/Code/keyUnavailable`` outside of Apple's systems; the errors of ``init(tag:in:)``.
    public init(biometryTag tag: String) throws(StoreError) {
        try self.init(biometryTag: tag, isNew: false)
    }

    /// Creates a key that the fingerprints or the face release that are enrolled now, in place of an earlier one.
    ///
    /// What was sealed to the earlier key cannot be opened any more.
    /// - Parameter tag: A tag of 1 to 128 letters, digits, `.`, `-` and `_`.
    /// - Returns: The new key.
    /// - Throws: The errors of ``init(biometryTag:)``. The earlier key stays then.
    public static func enrollBiometry(tag: String = SecuredKey.defaultTag) throws(StoreError) -> SecuredKey {
        try SecuredKey(biometryTag: tag, isNew: true)
    }

    private init(biometryTag tag: String, isNew: Bool) throws(StoreError) {
        try Self.check(tag)
        key = try HardwareKeys.default.key(tag: tag, releasedBy: .biometry, isNew: isNew, in: nil)
    }
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
