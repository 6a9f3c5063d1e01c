/// A rule that an issuer may put on an account, by name: under it the device must be as asked, or the account is locked.
public protocol AccountPolicy: Sendable {
    /// The name by which issuers ask for it, for example `biometricAvailable`.
    var name: String { get }
    /// Whether the device is as asked. It is asked whenever an account under it is looked at, so it has no side effects.
    /// - Parameter parameters: What the issuer wrote beside the name; an empty object if nothing.
    func isMet(_ parameters: JSONValue) async -> Bool
}

/// The policies that an app can judge, in the order in which they are asked (protocol/authenticator.md section 6.2).
public struct AccountPolicies: Sendable {
    /// In the order of their registration.
    public let policies: [any AccountPolicy]
    /// Who judges instead, if somebody does.
    private var judge: (@Sendable (Subject) async -> String?)?

    /// What is judged as a whole.
    package enum Subject: Sendable {
        /// An account that is here.
        case account(Account)
        /// What an account would bring.
        case enrollment([String: JSONValue])
    }

    /// A judge of its own, who names the policy that is not met: for the family whose evaluator is asked for whole accounts.
    package init(judgedBy judge: @escaping @Sendable (Subject) async -> String?) {
        policies = []
        self.judge = judge
    }

    /// Policies in the order in which they are asked. Of two with one name the last counts, in the place of the first.
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

    /// No policy: whatever an issuer asks for is met.
    public static let none = AccountPolicies([])

    /// These, and `more` behind them; one that has the name of another takes its place.
    public func adding(_ more: [any AccountPolicy]) -> AccountPolicies { AccountPolicies(policies + more) }

    /// One policy, and what an account says beside its name.
    public struct Question: Sendable {
        /// What is asked.
        public let policy: any AccountPolicy
        /// The issuer's parameters.
        public let parameters: JSONValue
    }

    /// What an account's policies ask, in order. Names that nobody registered are passed over.
    public func questions(_ accountPolicies: [String: JSONValue]) -> [Question] {
        guard !accountPolicies.isEmpty else { return [] }
        return policies.compactMap { policy in
            accountPolicies[policy.name].map { Question(policy: policy, parameters: $0) }
        }
    }

    /// The name of the first policy that is not met; nil when all are. Nothing is stored.
    public func violated(_ accountPolicies: [String: JSONValue]) async -> String? {
        if let judge { return await judge(.enrollment(accountPolicies)) }
        for question in questions(accountPolicies) where await !question.policy.isMet(question.parameters) {
            return question.policy.name
        }
        return nil
    }

    /// Whether nobody has to be asked to know that an account is not locked.
    package func leaveFree(_ account: Account) -> Bool {
        account.lockingPolicy == nil && judge == nil && questions(account.policies).isEmpty
    }

    /// Whether somebody else judges than the policies one by one.
    package var areJudgedElsewhere: Bool { judge != nil }

    /// Why an account is locked at present; nil when it is not. What was done by hand comes first.
    public func lock(on account: Account) async -> AccountLock? {
        if let policy = account.lockingPolicy { return .byHand(policy: policy) }
        if let judge { return await judge(.account(account)).map { .byPolicy($0) } }
        return await violated(account.policies).map { .byPolicy($0) }
    }
}
