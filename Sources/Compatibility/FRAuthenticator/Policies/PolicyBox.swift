import Foundation
import SignetCore

/// The app's policy evaluator, with access for one caller at a time.
final class PolicyBox: Sendable {
    private let evaluator: Mutex<FRAPolicyEvaluator>

    init(_ evaluator: sending FRAPolicyEvaluator) {
        self.evaluator = Mutex(evaluator)
    }

    /// Returns the name of the policy that locks an account; nil when the account satisfies all policies.
    func violated(_ account: SignetCore.Account) -> String? {
        evaluator.withLock { $0.evaluate(account: Account(account)).violated }
    }

    /// Returns true when a policy is one of the account's own.
    func isAttached(_ name: String, to account: SignetCore.Account) -> Bool {
        evaluator.withLock { $0.isPolicyAttached(account: Account(account), policyName: name) }
    }

    /// Returns the policies in the form that the engine uses.
    /// - Parameter uri: The URI that is being enrolled, which the app's evaluator reads too; nil when no URI is being enrolled.
    /// - Returns: Policies that ask the app's evaluator each time they are evaluated.
    func engine(enrolling uri: String? = nil) -> AccountPolicies {
        AccountPolicies(evaluatedBy: { subject in
            switch subject {
            case .account(let account): self.violated(account)
            case .enrollment(let policies): self.violated(policies, uri)
            }
        })
    }

    /// Returns the name of the policy that prevents the enrollment of a URI.
    private func violated(_ policies: [String: JSONValue], _ uri: String?) -> String? {
        evaluator.withLock { evaluator in
            // The policies from the engine's parser always apply, even if the app's override reads the URI differently.
            if let name = evaluator.evaluate(policies).violated { return name }
            guard let uri, let url = URL(string: uri.trimmingWhitespace()) else { return nil }
            return evaluator.evaluate(uri: url).violated
        }
    }
}

extension FRAPolicyEvaluator.Result {
    /// The name of the unsatisfied policy; `policy` when the result names none.
    fileprivate var violated: String? { comply ? nil : nonCompliancePolicy?.name ?? "policy" }
}

/// Policies that the app handed over, with access for one caller at a time.
final class PolicyList: Sendable {
    private let policies: Mutex<[any FRAPolicy]>
    let names: [String]

    init(_ policies: sending [any FRAPolicy]) {
        names = policies.map(\.name)
        self.policies = Mutex(policies)
    }

    /// Policies that forward each evaluation to those that were handed over.
    var asPolicies: [any FRAPolicy] { names.indices.map { Element(list: self, index: $0) } }

    private func evaluate(_ index: Int, _ parameters: JSONValue) -> Bool {
        policies.withLock { policies in
            policies[index].data = parameters.any
            return policies[index].evaluate()
        }
    }

    private struct Element: FRAPolicy {
        let list: PolicyList
        let index: Int
        var data: Any?
        var name: String { list.names[index] }

        init(list: PolicyList, index: Int) {
            (self.list, self.index) = (list, index)
        }

        func evaluate() -> Bool { list.evaluate(index, JSONValue(any: data) ?? .null) }
    }
}
