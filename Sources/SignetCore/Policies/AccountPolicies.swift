/// A rule that an issuer may apply to an account by name. The account is locked while the device does not meet the rule.
public protocol AccountPolicy: Sendable {
    /// The name by which issuers apply the policy, for example `biometricAvailable`.
    var name: String { get }
    /// Returns true when the device meets the policy. The call must have no side effects, because it is made whenever an account
    /// with the policy is read.
    /// - Parameter parameters: The parameters that the issuer gave with the name; an empty object when it gave none.
    func isMet(_ parameters: JSONValue) async -> Bool
}

/// The policies that an app can evaluate, in evaluation order (protocol/authenticator.md section 6.2).
public struct AccountPolicies: Sendable {
    /// The policies in the order of their registration.
    public let policies: [any AccountPolicy]
    /// The evaluator that replaces the policies, if one was given.
    private var evaluator: (@Sendable (Subject) async -> String?)?

    /// The subject of a whole evaluation.
    package enum Subject: Sendable {
        /// An enrolled account.
        case account(Account)
        /// The policies of an account that is about to be enrolled.
        case enrollment([String: JSONValue])
    }

    /// Creates policies with an evaluator that returns the name of the unmet policy. It serves the FRAuthenticator target, whose
    /// evaluators evaluate whole accounts.
    package init(evaluatedBy evaluator: @escaping @Sendable (Subject) async -> String?) {
        policies = []
        self.evaluator = evaluator
    }

    /// Creates policies in evaluation order. Of two policies with the same name the last one counts, at the position of the
    /// first.
    public init(_ policies: [any AccountPolicy]) {
        var unique: [any AccountPolicy] = []
        for policy in policies {
            if let place = unique.firstIndex(where: { $0.name == policy.name }) {
                unique[place] = policy
            } else {
                unique.append(policy)
            }
        }
        self.policies = unique
    }

    /// The empty list of policies. With it every policy of an issuer counts as met.
    public static let none = AccountPolicies([])

    /// Returns these policies followed by `more`. A policy that has the name of another replaces it.
    public func adding(_ more: [any AccountPolicy]) -> AccountPolicies { AccountPolicies(policies + more) }

    /// A policy with the parameters that an account has for it.
    public struct Question: Sendable {
        /// The policy.
        public let policy: any AccountPolicy
        /// The issuer's parameters.
        public let parameters: JSONValue
    }

    /// Returns the registered policies of an account with its parameters, in evaluation order. Names without a registered policy
    /// are ignored.
    public func questions(_ accountPolicies: [String: JSONValue]) -> [Question] {
        guard !accountPolicies.isEmpty else { return [] }
        return policies.compactMap { policy in
            accountPolicies[policy.name].map { Question(policy: policy, parameters: $0) }
        }
    }

    /// Returns the name of the first unmet policy; nil when all are met. The result is not stored.
    public func violated(_ accountPolicies: [String: JSONValue]) async -> String? {
        if let evaluator { return await evaluator(.enrollment(accountPolicies)) }
        for question in questions(accountPolicies) where await !question.policy.isMet(question.parameters) {
            return question.policy.name
        }
        return nil
    }

    /// Returns true when the account is known to be unlocked without evaluating any policy. No account is never locked.
    package func leaveFree(_ account: Account?) -> Bool {
        guard let account else { return true }
        return account.lockingPolicy == nil && evaluator == nil && questions(account.policies).isEmpty
    }

    /// A Boolean value that indicates whether an evaluator replaces the policies.
    package var haveEvaluator: Bool { evaluator != nil }

    /// Returns the current lock of an account; nil when it is not locked. A manual lock comes before the policies.
    public func lock(on account: Account) async -> AccountLock? {
        if let policy = account.lockingPolicy { return .manual(policy: policy) }
        if let evaluator { return await evaluator(.account(account)).map { .byPolicy($0) } }
        return await violated(account.policies).map { .byPolicy($0) }
    }
}
