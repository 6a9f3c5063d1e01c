package import SignetCore

/// A P-256 key whose private half can be used but not read, for example in a TPM or in a Secure Enclave.
package protocol AgreementKey: Sendable {
    /// The public half (X9.63, 65 bytes).
    var publicKey: [UInt8] { get }
    /// Returns the x coordinate of the shared point of the private half and `ephemeral` (X9.63): 32 bytes. The call may block for
    /// seconds.
    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret
}
