public import SignetCore

/// The place where the private half of a signing key is.
public enum SigningKeyLevel: String, Sendable, CaseIterable, Comparable {
    /// In the key's reference, and in this program's memory while the key is open.
    ///
    /// The key is protected as well as the place where the reference is stored.
    case software
    /// In a TPM 2.0 or a Secure Enclave, from which it cannot be read.
    case hardware

    /// Compares the strength of two levels.
    public static func < (one: SigningKeyLevel, other: SigningKeyLevel) -> Bool { one == .software && other == .hardware }
}

/// A P-256 key that signs with ES256 (RFC 7518 section 3.4).
///
/// ``SigningKeyProvider`` creates keys in the TPM, in the Secure Enclave and in software. An app with other hardware implements the
/// protocol.
///
/// The hardware keeps no list of keys: the reference is everything that exists of a key. A key is stored by storing its reference, and is
/// removed by removing it.
public protocol SigningKey: Sendable {
    /// The public half.
    var publicKey: ES256PublicKey { get }

    /// The place where the private half is.
    var level: SigningKeyLevel { get }

    /// The bytes from which ``SigningKeyProvider/open(_:)`` opens the key again.
    ///
    /// Store them only in a vault. For a key in software they contain the private half. For a key in hardware they are useless on
    /// another machine, but each program of this machine's user can sign with them.
    var reference: Secret { get }

    /// Returns the ECDSA signature with SHA-256 of some bytes: the numbers r and s, 32 bytes each.
    ///
    /// Hardware blocks the calling thread, a TPM up to a second. A key that the user releases waits for the user.
    /// - Throws: ``StoreError``: ``StoreError/Code/keyUnavailable`` when the hardware is missing or does not answer,
    ///   ``StoreError/Code/keyMismatch`` when it does not know the key any more, ``StoreError/Code/denied`` when it may not be used or
    ///   the user refused.
    func sign(_ bytes: [UInt8]) throws(StoreError) -> [UInt8]

    /// Returns a statement of the hardware that the private half is in it, for a server that verifies it with ``KeyAttestation``.
    /// - Parameter nonce: The server's challenge, up to 32 bytes, which the hardware signs too.
    /// - Returns: The statement.
    /// - Throws: ``StoreError/Code/keyUnavailable`` for a key whose place makes no such statements; ``StoreError/Code/invalid`` for a
    ///   longer nonce; the errors of the hardware.
    func attestation(nonce: [UInt8]) throws(StoreError) -> KeyAttestation
}

extension SigningKey {
    /// Throws ``StoreError/Code/keyUnavailable``, because only a TPM attests its keys.
    public func attestation(nonce: [UInt8]) throws(StoreError) -> KeyAttestation {
        throw StoreError(.keyUnavailable, "attest a signing key", "only a key in a TPM can be attested")
    }

    /// Returns the signature of some bytes without blocking a thread of Swift's pool.
    ///
    /// A key in software signs on the calling thread, which takes microseconds.
    package func signature(of bytes: [UInt8]) async throws(StoreError) -> [UInt8] {
        guard level == .hardware else { return try sign(bytes) }
        return try await Blocking.run { () throws(StoreError) in try sign(bytes) }
    }
}
