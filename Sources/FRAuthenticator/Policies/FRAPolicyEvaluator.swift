import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The policies that the app can judge, in the order in which they are asked. Hand it to
/// ``FRAClient/setPolicyEvaluator(policyEvaluator:)`` before `FRAClient.start()`.
///
/// A subclass may judge by more than the policies: ``FRAClient`` asks ``evaluate(uri:)`` before it enrols,
/// ``evaluate(account:)`` whenever it looks at an account, and ``isPolicyAttached(account:policyName:)`` before it locks one.
/// The accounts that it is given have no mechanisms. The evaluator is asked by one caller at a time, and an override must not
/// call the client: it would wait for itself.
///
/// Judging changes nothing: an account that does not meet a policy is locked for as long as it does not, and nothing is stored.
open class FRAPolicyEvaluator {
    /// What came out.
    public struct Result {
        /// Whether every policy is met.
        public let comply: Bool
        /// The first policy that is not.
        public let nonCompliancePolicy: (any FRAPolicy)?

        /// A result, for an evaluator of the app's own.
        public init(comply: Bool, nonCompliancePolicy: (any FRAPolicy)?) {
            self.comply = comply
            self.nonCompliancePolicy = nonCompliancePolicy
        }
    }

    /// The registered policies.
    public private(set) var policies: [any FRAPolicy]

    /// An evaluator with ``defaultPolicies``.
    public init() {
        policies = Self.defaultPolicies
    }

    /// ``BiometricAvailablePolicy`` and ``DeviceTamperingPolicy``, in this order.
    public static var defaultPolicies: [any FRAPolicy] { [BiometricAvailablePolicy(), DeviceTamperingPolicy()] }

    /// Registers policies: instead of those that are registered, or behind them.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` for a policy without a name; none is registered then.
    open func registerPolicies(policies: [any FRAPolicy], shouldOverride: Bool = true) throws {
        guard policies.allSatisfy({ !$0.name.isEmpty }) else {
            throw FRAError.invalidPolicyRegisteredWithPolicyEvaluator("it has no name")
        }
        self.policies = shouldOverride ? policies : self.policies + policies
    }

    /// Judges the policies that an enrolment URI carries.
    /// - Returns: Compliance also for a URI that cannot be read: enrolling it fails for that.
    open func evaluate(uri: URL) -> Result {
        evaluate((try? EnrollmentURI.parse(uri.absoluteString))?.policies ?? [:])
    }

    /// Judges an account's policies.
    open func evaluate(account: Account) -> Result { evaluate(account.core.policies) }

    /// Whether the account's issuer asks for the policy of this name.
    open func isPolicyAttached(account: Account, policyName: String) -> Bool { account.core.policies[policyName] != nil }

    func evaluate(_ accountPolicies: [String: JSONValue]) -> Result {
        for policy in policies {
            guard let parameters = accountPolicies[policy.name] else { continue }
            var policy = policy
            policy.data = parameters.unconstrained
            if !policy.evaluate() { return Result(comply: false, nonCompliancePolicy: policy) }
        }
        return Result(comply: true, nonCompliancePolicy: nil)
    }
}
