import SignetCore
import Synchronization

/// The app's policies, owned: one caller at a time.
final class PolicyBox: Sendable {
    private let evaluator: Mutex<FRAPolicyEvaluator>

    init(_ evaluator: sending FRAPolicyEvaluator) {
        self.evaluator = Mutex(evaluator)
    }

    /// The name of the first of an account's policies that is not met; nil when all are.
    func violated(_ policies: [String: JSONValue]) -> String? {
        guard !policies.isEmpty else { return nil }
        return evaluator.withLock { $0.evaluate(policies).nonCompliancePolicy?.name }
    }

    /// The same for the engine, which asks policy by policy.
    var engine: AccountPolicies {
        AccountPolicies(evaluator.withLock { $0.policies.map(\.name) }.map { Policy(name: $0, box: self) })
    }

    private struct Policy: AccountPolicy {
        let name: String
        let box: PolicyBox

        func isMet(_ parameters: JSONValue) async -> Bool { box.violated([name: parameters]) == nil }
    }
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
