#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Seals items to a P-256 key in hardware, byte for byte as the iOS SDKs do: what a Secure Enclave's key sealed has the same
/// layout as what a TPM's sealed.
///
/// Sealing is done in software with the public half; every opening is one operation of the hardware, which takes a real TPM a
/// part of a second. For more than a few items use a ``Vault``, which asks the hardware once.
public struct SecuredKeyEncryptor: Encryptor {
    private let key: SecuredKey

    /// Uses the key of this machine and user, which is made the first time. Nil where there is no hardware for it; `SecuredKey()`
    /// says why. Nothing weaker takes its place: decide what to do without. The call asks the hardware, so it may take a second.
    public init?() {
        guard let key = try? SecuredKey() else { return nil }
        self.init(key)
    }

    /// Uses `key`.
    public init(_ key: SecuredKey) {
        self.key = key
    }

    /// Seals `data` to the key. The hardware is not asked.
    /// - Throws: ``StoreError``.
    public func encrypt(data: Data) async throws -> Data {
        Data(try ECIES.seal(Array(data), to: key.publicKey))
    }

    /// Opens what was sealed to the key, in the present layout or the one before (without `VariableIV`).
    /// - Throws: ``StoreError/Code/corrupt`` when it does not open; ``StoreError/Code/keyUnavailable`` and
    ///   ``StoreError/Code/denied`` when the hardware cannot be asked any more.
    public func decrypt(data: Data) async throws -> Data {
        let (key, sealed) = (key.key, Array(data))
        return Data(try await Blocking.run { () throws(StoreError) in try ECIES.open(sealed, with: key) })
    }
}
