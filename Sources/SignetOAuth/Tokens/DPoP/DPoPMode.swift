import SignetStorage

/// The choice whether the tokens of a client are bound to a key of this machine (RFC 9449), and the place of the key.
///
/// A bound token is of no use without the key: each request with it needs a new proof, which the key signs with ES256. Each login
/// gets a new key. It is stored, replaced and removed together with the tokens.
public enum DPoPMode: String, Sendable, CaseIterable {
    /// No key: the tokens are bearer tokens.
    case none
    /// A key in the TPM or the Secure Enclave, or in software where this machine has no such hardware.
    case best
    /// A key in the TPM or the Secure Enclave.
    ///
    /// Without that hardware no token is requested.
    case hardware
    /// A key in software, which is stored with the tokens.
    case software

    /// The place for a new key; nil without a key.
    var requirement: SigningKeyRequirement? {
        switch self {
        case .none: nil
        case .best: .best
        case .hardware: .hardware
        case .software: .software
        }
    }
}
