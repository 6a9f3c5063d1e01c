/// The requirements of a service for DPoP proofs (RFC 9449 sections 4.3 and 7).
///
/// The signature of a proof is ES256 or EdDSA.
public struct ProofPolicy: Sendable {
    /// The address of the service as its clients write it, without the path of a request: `https://api.example.com`.
    ///
    /// It is a setting and not the header field `Host`, which a sender chooses: a proof that was made for another service must not be
    /// accepted here. It has the path that a proxy removes, if it does.
    public var baseURL: String
    /// True when bearer tokens are refused.
    public var isRequired: Bool
    /// The maximum time since a proof was made.
    ///
    /// A proof is also accepted when its time is that much in the future, for a client whose clock is fast.
    public var maximumAge: Duration
    /// The memory of received proofs.
    public var memory: any ProofMemory
    /// The nonces that a proof must have; nil to require none.
    public var nonces: ProofNonces?

    /// Creates requirements.
    /// - Parameters:
    ///   - baseURL: The address of the service as its clients write it.
    ///   - isRequired: True when bearer tokens are refused.
    ///   - maximumAge: The maximum time since a proof was made.
    ///   - memory: The memory of received proofs.
    ///   - nonces: The nonces that a proof must have; nil to require none.
    public init(
        baseURL: String, isRequired: Bool = false, maximumAge: Duration = .seconds(60),
        memory: any ProofMemory = ProcessProofMemory(), nonces: ProofNonces? = nil
    ) {
        self.baseURL = baseURL
        self.isRequired = isRequired
        self.maximumAge = maximumAge
        self.memory = memory
        self.nonces = nonces
    }
}
