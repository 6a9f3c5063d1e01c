#if canImport(Security)
import Crypto
public import SignetCore

/// The Secure Enclave of an Apple device keeps the key. What it sealed opens on this device only, by this app.
///
/// A wrapped key is the enclave key's public half (65 bytes), then the ECIES message of: SHA-256 of the context, the data key.
/// Apple's ECIES takes no associated data, so the context is sealed with the key and compared when it is opened.
public struct SecureEnclaveProtector: KeyProtector {
    /// `secure-enclave`.
    public let name = "secure-enclave"
    /// The tag of the enclave's key.
    public let tag: String

    private static let pointLength = 65

    /// The key protector whose key has this tag. The key is made when something is wrapped for the first time.
    public init(tag: String = "signet.vault") {
        self.tag = tag
    }

    /// Seals `dataKey` to the enclave's key, which is made if there is none.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let key = try SecureEnclaveKey.findOrCreate(tag: tag)
        return try key.publicKey + key.seal(SHA256.hash(data: context) + dataKey.bytes)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the enclave does not have that key, or the device was not unlocked
    ///   yet; ``StoreError/Code/keyMismatch`` when it was changed, or wrapped in another context.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        guard wrapped.count > Self.pointLength else { throw mismatch("is damaged") }
        guard let key = try SecureEnclaveKey.find(tag: tag, publicKey: Array(wrapped.prefix(Self.pointLength))) else {
            throw StoreError(
                .keyUnavailable, "open vault", "the Secure Enclave of this device does not have the key; open it another way")
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
