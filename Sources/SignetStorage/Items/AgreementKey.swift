package import SignetCore

/// A P-256 key whose private half can be used and not be read: in a TPM, in a Secure Enclave.
package protocol AgreementKey: Sendable {
    /// The public half (X9.63, 65 bytes).
    var publicKey: [UInt8] { get }
    /// The x coordinate that the private half shares with `ephemeral` (X9.63): 32 bytes. The call may block for seconds.
    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret
}
