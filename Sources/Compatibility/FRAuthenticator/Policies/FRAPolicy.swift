/// A rule that an issuer can attach to an account.
///
/// The account is locked while the device doesn't satisfy the rule.
public protocol FRAPolicy {
    /// The name that issuers use for the policy.
    var name: String { get }
    /// The issuer's parameters for the policy, as `[String: Any]`. They are set before each ``evaluate()``.
    var data: Any? { get set }
    /// Returns true when the device satisfies the policy. Calls never overlap, and an implementation must not call ``FRAClient``.
    func evaluate() -> Bool
}
