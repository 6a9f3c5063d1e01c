/// The settings for DPoP proofs (RFC 9449).
public struct DPoPSettings: Sendable, Hashable {
    /// True when a proof must contain a nonce of the server (RFC 9449 sections 8 and 9).
    ///
    /// A client without a nonce gets the error `use_dpop_nonce` and a nonce. Without this setting, a nonce in a proof is ignored.
    public var requiresNonce = false
    /// The time in seconds after which the server issues other nonces; at least 1.
    ///
    /// A nonce is accepted until the end of the next period, so for this time at least.
    public var nonceLifetime = 300

    /// Creates the default settings and lets `configure` change them.
    public init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }
}
