public import Foundation
import SignetCore

/// The policies that the app can evaluate, in the order of evaluation.
///
/// Pass an evaluator to ``FRAClient/setPolicyEvaluator(policyEvaluator:)`` before `FRAClient.start()`.
///
/// A subclass may add other checks. ``FRAClient`` calls ``evaluate(uri:)`` before an enrollment, ``evaluate(account:)`` whenever
/// it reads an account, and ``isPolicyAttached(account:policyName:)`` before it locks an account. The accounts that it passes
/// have no mechanisms. Calls never overlap. An override must not call the client, because that call would deadlock.
///
/// An evaluation changes and stores nothing: an account is locked for as long as it doesn't satisfy a policy.
open class FRAPolicyEvaluator {
    /// The result of an evaluation.
    public struct Result {
        /// True when every policy is satisfied.
        public let comply: Bool
        /// The first policy that is not satisfied.
        public let nonCompliancePolicy: (any FRAPolicy)?

        /// Creates a result, for an evaluator of the app.
        public init(comply: Bool, nonCompliancePolicy: (any FRAPolicy)?) {
            self.comply = comply
            self.nonCompliancePolicy = nonCompliancePolicy
        }
    }

    /// The registered policies.
    ///
    /// It is an optional as in the ForgeRock SDK, and never nil.
    public private(set) var policies: [any FRAPolicy]?

    /// Creates an evaluator with ``defaultPolicies``.
    public init() {
        policies = Self.defaultPolicies
    }

    /// ``BiometricAvailablePolicy`` and ``DeviceTamperingPolicy``, in this order.
    public static var defaultPolicies: [any FRAPolicy] { [BiometricAvailablePolicy(), DeviceTamperingPolicy()] }

    /// Registers policies, which replace the registered ones or follow them.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` when a policy has no name; none is registered then.
    open func registerPolicies(policies: [any FRAPolicy], shouldOverride: Bool = true) throws {
        if let nameless = policies.first(where: \.name.isEmpty) { throw FRAError.nameless(nameless) }
        self.policies = shouldOverride ? policies : (self.policies ?? []) + policies
    }

    /// Evaluates the policies of an enrollment URI.
    /// - Returns: The result. A URI that can't be read counts as compliant, because its enrollment fails anyway.
    open func evaluate(uri: URL) -> Result {
        evaluate((try? EnrollmentURI.parse(ignoringDamagedPoliciesOf: uri.absoluteString, policy: .secure))?.policies ?? [:])
    }

    /// Evaluates an account's policies.
    open func evaluate(account: Account) -> Result { evaluate(account.core.policies) }

    /// Returns true when the account's issuer requires the policy with this name.
    open func isPolicyAttached(account: Account, policyName: String) -> Bool { account.core.policies[policyName] != nil }

    func evaluate(_ accountPolicies: [String: JSONValue]) -> Result {
        for policy in policies ?? [] {
            guard let parameters = accountPolicies[policy.name] else { continue }
            var policy = policy
            policy.data = parameters.any
            if !policy.evaluate() { return Result(comply: false, nonCompliancePolicy: policy) }
        }
        return Result(comply: true, nonCompliancePolicy: nil)
    }
}

extension FRAError {
    /// Returns the error for a policy without a name, with the name of its type.
    static func nameless(_ policy: any FRAPolicy) -> FRAError {
        .invalidPolicyRegisteredWithPolicyEvaluator("\(type(of: policy))")
    }
}
