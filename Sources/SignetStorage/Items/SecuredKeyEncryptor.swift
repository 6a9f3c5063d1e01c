public import Foundation

/// Seals items to a P-256 key in hardware, in the same format as the iOS SDKs.
///
/// Data that is sealed to a Secure Enclave key has the same layout as data that is sealed to a TPM key.
///
/// Sealing uses the public half and is done in software. Each opening is one operation of the hardware, which takes a fraction of
/// a second on a real TPM. For more than a few items, use a ``Vault``, which uses the hardware only once.
public struct SecuredKeyEncryptor: Encryptor {
    private let key: SecuredKey

    /// Creates an encryptor with this machine's key of this user, which is created at the first use.
    ///
    /// Returns nil when the hardware cannot be used; the error of `SecuredKey()` gives the reason. No weaker key takes its place,
    /// so the app has to handle nil. The call uses the hardware and may take a second.
    public init?() {
        guard let key = try? SecuredKey() else { return nil }
        self.init(key)
    }

    /// Creates an encryptor that uses `key`.
    public init(_ key: SecuredKey) {
        self.key = key
    }

    /// Seals `data` to the key, without using the hardware.
    /// - Throws: ``StoreError``.
    public func encrypt(data: Data) async throws -> Data {
        Data(try ECIES.seal(Array(data), to: key.publicKey))
    }

    /// Opens data that was sealed to the key, in the current layout or the previous one (without `VariableIV`).
    /// - Throws: ``StoreError/Code/corrupt`` when it does not open; ``StoreError/Code/keyUnavailable`` and
    ///   ``StoreError/Code/denied`` when the hardware cannot be used any more.
    public func decrypt(data: Data) async throws -> Data {
        let (key, sealed) = (key.key, Array(data))
        return Data(try await Blocking.run { () throws(StoreError) in try ECIES.open(sealed, with: key) })
    }
}
