import SignetCore

/// A collector that asks for the password of a new user, if it has a definition until the password complies with its policies.
struct ValidatedPasswordCollector: Collector {
    static let type = NodeType.validated(
        "ValidatedPasswordNode", "Platform Password", attribute: "password", "password",
        ignoring: ["passwordAttribute"]
    ) { Self(definition: $0) }

    /// The title and the policies of the password; nil to ask as ``PasswordCollector`` does.
    var definition: AttributeDefinition?

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        guard let definition else { return PasswordCollector().callbacks(journey, tx) }
        return [callback(definition, failures: [], isChecked: false, tx)]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> CollectorResult {
        guard let definition else { return PasswordCollector().take(answers, &journey, &tx) }
        let failures = try definition.failures(of: answers.text(0), attribute: "password", journey, tx)
        let isChecked = answers.bool(0, "validateOnly")
        guard failures.isEmpty, !isChecked else {
            if !failures.isEmpty { tx.explain("password violates \(failures.map(\.requirement).joined(separator: ", "))") }
            return .retry([callback(definition, failures: failures, isChecked: isChecked, tx)])
        }
        journey.password = Secret(answers.text(0).utf8)
        return .accepted
    }

    /// Returns the callback.
    ///
    /// It has no `value` output, so that a password is never sent back.
    private func callback(
        _ definition: AttributeDefinition, failures: [AttributePolicy], isChecked: Bool, _ tx: ServerTransaction
    ) -> JourneyCallback {
        .any(
            "ValidatedCreatePasswordCallback",
            [
                "echoOn": .bool(false), "policies": AttributePolicy.description(of: definition.policies, name: "password"),
                "failedPolicies": .texts(failures.map(\.failure)), "validateOnly": .bool(isChecked),
                "prompt": .string(tx.text(definition.title)),
            ], ["": .string(""), "validateOnly": .bool(isChecked)])
    }
}
