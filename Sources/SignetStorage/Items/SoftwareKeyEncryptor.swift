import Crypto
public import Foundation
public import SignetCore

/// Seals items to a P-256 key in the memory of this program, in the layout of ``SecuredKeyEncryptor``.
///
/// The items are only as safe as the key. Use it on machines without hardware, to read data that was sealed to a key from
/// elsewhere, and in tests.
public struct SoftwareKeyEncryptor: Encryptor {
    private let key: SoftwareKey

    /// Creates an encryptor with the P-256 key that has this private scalar: 32 bytes, big-endian (SEC 1).
    /// - Throws: ``StoreError/Code/keyMismatch`` when it is not a scalar of P-256.
    public init(privateKey: Secret) throws(StoreError) {
        key = try SoftwareKey(privateKey)
    }

    /// The public half (X9.63, 65 bytes).
    ///
    /// Others can seal data to it.
    public var publicKey: [UInt8] { key.publicKey }

    /// Seals `data` to the key.
    /// - Throws: ``StoreError``.
    public func encrypt(data: Data) async throws -> Data {
        Data(try ECIES.seal(Array(data), to: key.publicKey))
    }

    /// Opens data that was sealed to the key, in Apple's current layout or the previous one.
    /// - Throws: ``StoreError/Code/corrupt`` when it does not open.
    public func decrypt(data: Data) async throws -> Data {
        Data(try ECIES.open(Array(data), with: key))
    }
}

/// A P-256 key in memory.
struct SoftwareKey: AgreementKey {
    private let key: P256.KeyAgreement.PrivateKey

    init(_ scalar: Secret) throws(StoreError) {
        do {
            key = try scalar.withUnsafeBytes { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        } catch {
            throw StoreError(.keyMismatch, "use a key", "a P-256 private key is a scalar of 32 bytes; this value isn't one")
        }
    }

    var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        do {
            let point = try P256.KeyAgreement.PublicKey(x963Representation: ephemeral)
            return try key.sharedSecretFromKeyAgreement(with: point).withUnsafeBytes { Secret($0) }
        } catch {
            throw StoreError(.corrupt, "use a key", "what was sealed does not begin with a point of P-256")
        }
    }
}
