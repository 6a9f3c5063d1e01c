import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The app's policies, owned: one caller at a time.
final class PolicyBox: Sendable {
    private let evaluator: Mutex<FRAPolicyEvaluator>

    init(_ evaluator: sending FRAPolicyEvaluator) {
        self.evaluator = Mutex(evaluator)
    }

    /// The name of the policy by which an account is locked; nil when there is none.
    func violated(_ account: SignetCore.Account) -> String? {
        evaluator.withLock { $0.evaluate(account: Account(account)).violated }
    }

    /// Whether a policy is one of an account's own.
    func isAttached(_ name: String, to account: SignetCore.Account) -> Bool {
        evaluator.withLock { $0.isPolicyAttached(account: Account(account), policyName: name) }
    }

    /// The same for the engine.
    /// - Parameter uri: The URI that is enrolled.
    func engine(enrolling uri: String? = nil) -> AccountPolicies {
        AccountPolicies(judgedBy: { subject in
            switch subject {
            case .account(let account): self.violated(account)
            case .enrollment(let policies): self.violated(policies, uri)
            }
        })
    }

    /// The name of the policy for which a URI is not enrolled.
    private func violated(_ policies: [String: JSONValue], _ uri: String?) -> String? {
        evaluator.withLock { evaluator in
            // What the URI's own reader found counts, whatever the app makes of the text.
            if let name = evaluator.evaluate(policies).violated { return name }
            guard let uri, let url = URL(string: uri.trimmingWhitespace()) else { return nil }
            return evaluator.evaluate(uri: url).violated
        }
    }
}

extension FRAPolicyEvaluator.Result {
    /// The name of the policy that is not met; a result that names none is one, too.
    fileprivate var violated: String? { comply ? nil : nonCompliancePolicy?.name ?? "policy" }
}

/// Some of the app's policies, owned: one caller at a time.
final class HandedOver: Sendable {
    private let policies: Mutex<[any FRAPolicy]>
    let names: [String]

    init(_ policies: sending [any FRAPolicy]) {
        names = policies.map(\.name)
        self.policies = Mutex(policies)
    }

    /// Policies that ask those that were handed over.
    var asPolicies: [any FRAPolicy] { names.indices.map { Asking(owner: self, place: $0) } }

    private func evaluate(_ place: Int, _ parameters: JSONValue) -> Bool {
        policies.withLock { policies in
            policies[place].data = parameters.unconstrained
            return policies[place].evaluate()
        }
    }

    private struct Asking: FRAPolicy {
        let owner: HandedOver
        let place: Int
        var data: Any?
        var name: String { owner.names[place] }

        init(owner: HandedOver, place: Int) {
            (self.owner, self.place) = (owner, place)
        }

        func evaluate() -> Bool { owner.evaluate(place, JSONValue(unconstrained: data)) }
    }
}
