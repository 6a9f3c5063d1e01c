/// A rule that an issuer may apply to an account by name.
///
/// The account is locked while the device does not meet the rule.
public protocol AccountPolicy: Sendable {
    /// The name by which issuers apply the policy, for example `biometricAvailable`.
    var name: String { get }
    /// Evaluates the policy. The call must have no side effects, because it is made whenever an account with the policy is read.
    /// - Parameter parameters: The parameters that the issuer gave with the name; an empty object when it gave none.
    /// - Returns: True when the device meets the policy.
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

    /// Creates policies with an evaluator that returns the name of the unmet policy.
    ///
    /// It serves the FRAuthenticator target, whose evaluators evaluate whole accounts.
    package init(evaluatedBy evaluator: @escaping @Sendable (Subject) async -> String?) {
        policies = []
        self.evaluator = evaluator
    }

    /// Creates policies in evaluation order.
    ///
    /// Of two policies with the same name the last one counts, at the position of the first.
    public init(_ policies: [any AccountPolicy]) {
        var unique: [any AccountPolicy] = []
        for policy in policies {
            if let index = unique.firstIndex(where: { $0.name == policy.name }) {
                unique[index] = policy
            } else {
                unique.append(policy)
            }
        }
        self.policies = unique
    }

    /// The empty list of policies.
    ///
    /// With it every policy of an issuer counts as met.
    public static let none = AccountPolicies([])

    /// Returns these policies followed by `more`.
    ///
    /// A policy that has the name of another replaces it.
    public func adding(_ more: [any AccountPolicy]) -> AccountPolicies { AccountPolicies(policies + more) }

    /// A policy with the parameters that an account has for it.
    public struct Question: Sendable {
        /// The policy.
        public let policy: any AccountPolicy
        /// The issuer's parameters.
        public let parameters: JSONValue

        /// The identity of a question: a policy gives the same answer for the same parameters.
        package struct Key: Hashable, Sendable {
            fileprivate let name: String
            fileprivate let parameters: JSONValue
        }
    }

    /// Returns the registered policies of an account with its parameters, in evaluation order.
    ///
    /// Names without a registered policy are ignored.
    public func questions(_ accountPolicies: [String: JSONValue]) -> [Question] {
        guard !accountPolicies.isEmpty else { return [] }
        return policies.compactMap { policy in
            accountPolicies[policy.name].map { Question(policy: policy, parameters: $0) }
        }
    }

    /// Returns the name of the first unmet policy; nil when all are met.
    ///
    /// The result is not stored.
    public func violated(_ accountPolicies: [String: JSONValue]) async -> String? {
        if let evaluator { return await evaluator(.enrollment(accountPolicies)) }
        var answers: [Question.Key: Bool] = [:]
        return await violated(accountPolicies, &answers)
    }

    private func violated(_ accountPolicies: [String: JSONValue], _ answers: inout [Question.Key: Bool]) async -> String? {
        for question in questions(accountPolicies) {
            let key = Question.Key(name: question.policy.name, parameters: question.parameters)
            let isMet = if let answer = answers[key] { answer } else { await question.policy.isMet(question.parameters) }
            answers[key] = isMet
            if !isMet { return key.name }
        }
        return nil
    }

    /// Returns true when the account is known to be unlocked without evaluating any policy.
    ///
    /// No account is never locked.
    package func leaveFree(_ account: Account?) -> Bool {
        guard let account else { return true }
        return account.lockingPolicy == nil && evaluator == nil && questions(account.policies).isEmpty
    }

    /// Returns the current lock of an account; nil when it is not locked.
    ///
    /// A manual lock comes before the policies.
    public func lock(on account: Account) async -> AccountLock? {
        var answers: [Question.Key: Bool] = [:]
        return await lock(on: account, &answers)
    }

    /// Determines the current lock of one of many accounts.
    ///
    /// Each policy is evaluated once for each distinct set of parameters.
    /// - Parameters:
    ///   - account: The account.
    ///   - answers: The answers of policies that were evaluated for the other accounts.
    /// - Returns: The lock; nil when the account is not locked.
    package func lock(on account: Account, _ answers: inout [Question.Key: Bool]) async -> AccountLock? {
        if let policy = account.lockingPolicy { return .manual(policy: policy) }
        if let evaluator { return await evaluator(.account(account)).map { .byPolicy($0) } }
        return await violated(account.policies, &answers).map { .byPolicy($0) }
    }
}
