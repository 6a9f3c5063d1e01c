/// The rules that decide where AM and the specifications of OpenID Connect differ.
public enum ConformanceProfile: String, Sendable, CaseIterable {
    /// The rules of AM: responses have AM's additions, and an unknown scope is `invalid_scope`.
    case am
    /// The rules of the OpenID Foundation's conformance suite.
    ///
    /// Responses of `authorize` have no `client_id`, id_tokens no `realm` and `tokenName`, and the discovery document no `version`.
    /// `authorize` ignores unknown scopes (OpenID Connect Core section 3.1.2.1).
    case openid
}
