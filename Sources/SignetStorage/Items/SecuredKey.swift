#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A P-256 key whose private half is in hardware and cannot be read: on Linux in the TPM, on Apple's systems in the Secure
/// Enclave. A user has one of every tag; programs that name the same tag share it.
public struct SecuredKey: Sendable {
    /// The tag under which the iOS SDKs keep their key.
    public static let defaultTag = "com.pingidentity.securedKey.identifier"

    let key: any AgreementKey

    /// Takes the key of that tag, and makes it if there is none. Asks the hardware, so the call may take a second.
    ///
    /// - Parameters:
    ///   - tag: letters, digits, `.`, `-` and `_`, 128 at most.
    ///   - directory: where on Linux the file `secured-key-<tag>` is: the usual place of a vault if nil. The file is of use in
    ///     this machine's TPM only.
    /// - Throws: ``StoreError/Code/keyUnavailable`` where there is no hardware, ``StoreError/Code/denied`` where it may not be
    ///   used, ``StoreError/Code/keyMismatch`` when the key is another machine's, or the TPM was cleared since. A key that is
    ///   there is never replaced; what was sealed to it would be lost.
    public init(tag: String = SecuredKey.defaultTag, in directory: VaultDirectory? = nil) throws(StoreError) {
        try self.init(tag: tag, in: directory, of: .usual)
    }

    package init(tag: String, in directory: VaultDirectory?, of hardware: HardwareKeys) throws(StoreError) {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        guard (1...128).contains(tag.utf8.count), tag.allSatisfy(allowed.contains) else {
            throw StoreError(.failed, "open the secured key", "a tag has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
        guard let directory = directory ?? VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw StoreError(.keyUnavailable, "open the secured key", "there is no home to keep it in; set SIGNET_HOME")
        }
        key = try hardware.key(tag: tag, in: directory)
    }

    /// Whether this machine has hardware for a key that this user may use. Makes none; asks the hardware, so it may take a moment.
    public static func isAvailable() -> Bool { HardwareKeys.usual.availability().isUsable }

    /// The public half (X9.63, 65 bytes); others can seal to it.
    public var publicKey: [UInt8] { key.publicKey }
}
