#if canImport(Security)
import Crypto
public import SignetCore

/// The Secure Enclave of an Apple device protects the key.
///
/// Only this app on this device can open what it sealed.
///
/// A wrapped key consists of the public half of the enclave's key (65 bytes) and an ECIES message. The plaintext of the message
/// is the SHA-256 of the context and the data key. Apple's ECIES has no associated data, so the context is sealed with the data
/// key and compared when the message is opened.
public struct SecureEnclaveProtector: KeyProtector {
    /// The name `secure-enclave`.
    public let name = "secure-enclave"
    /// The tag of the key in the Secure Enclave.
    public let tag: String
    /// The complete name of the keychain access group whose apps may use the key; nil for the app's own.
    public let accessGroup: String?

    private static let pointLength = 65

    /// Creates a key protector with the key that has this tag.
    ///
    /// The key is created at the first wrapping.
    public init(tag: String = "signet.vault", accessGroup: String? = nil) {
        self.tag = tag
        self.accessGroup = accessGroup
    }

    /// Seals `dataKey` to the key in the Secure Enclave.
    ///
    /// Creates the key if it does not exist.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let key = try SecureEnclaveKey.findOrCreate(tag: tag, accessGroup: accessGroup)
        return try key.publicKey + key.seal(SHA256.hash(data: context) + dataKey.bytes)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the Secure Enclave does not have the key, or the device was not unlocked
    ///   yet; ``StoreError/Code/keyMismatch`` when `wrapped` was changed, or was wrapped in another context.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        guard wrapped.count > Self.pointLength else { throw mismatch("is damaged") }
        let publicKey = Array(wrapped.prefix(Self.pointLength))
        guard let key = try SecureEnclaveKey.find(tag: tag, publicKey: publicKey, accessGroup: accessGroup) else {
            throw StoreError(
                .keyUnavailable, "open vault",
                "the Secure Enclave of this device does not have the key; open the vault with another key protector")
        }
        guard let opened = try key.open(Array(wrapped.dropFirst(Self.pointLength))) else { throw mismatch("is damaged") }
        let bytes = opened.bytes
        guard bytes.count > SHA256.byteCount,
            ConstantTime.areEqual(bytes.prefix(SHA256.byteCount), Array(SHA256.hash(data: context)))
        else { throw mismatch("belongs to another vault") }
        return Secret(bytes.dropFirst(SHA256.byteCount))
    }

    private func mismatch(_ reason: String) -> StoreError {
        StoreError(.keyMismatch, "open vault", "the key that the Secure Enclave sealed \(reason)")
    }
}

#endif
