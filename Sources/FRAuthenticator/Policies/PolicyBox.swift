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

/// One of the app's policies, owned: one caller at a time.
final class HandedOver: Sendable {
    private let policy: Mutex<any FRAPolicy>
    let name: String

    init(_ policy: sending any FRAPolicy) {
        name = policy.name
        self.policy = Mutex(policy)
    }

    /// A policy that asks the one that was handed over.
    var asPolicy: any FRAPolicy { Asking(policy: self) }

    private func evaluate(_ parameters: JSONValue) -> Bool {
        policy.withLock { policy in
            policy.data = parameters.unconstrained
            return policy.evaluate()
        }
    }

    private struct Asking: FRAPolicy {
        let policy: HandedOver
        var data: Any?
        var name: String { policy.name }

        init(policy: HandedOver) {
            self.policy = policy
        }

        func evaluate() -> Bool { policy.evaluate(JSONValue(unconstrained: data)) }
    }
}
