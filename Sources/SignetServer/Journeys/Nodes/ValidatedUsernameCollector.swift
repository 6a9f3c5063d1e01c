import SignetCore

/// A collector that asks for the name of a new user, if it has a definition until the name complies with its policies.
struct ValidatedUsernameCollector: Collector {
    static let type = NodeType.validated(
        "ValidatedUsernameNode", "Platform Username", attribute: "userName", "name",
        ignoring: ["usernameAttribute", "autocompleteValues", "prepopulate"]
    ) { Self(definition: $0) }

    /// The title and the policies of the name; nil to ask as ``UsernameCollector`` does.
    var definition: AttributeDefinition?

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        guard let definition else { return UsernameCollector().callbacks(journey, tx) }
        return [callback(definition, journey.username ?? "", failures: [], isChecked: false, tx)]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> CollectorResult {
        guard let definition else { return try UsernameCollector().take(answers, &journey, &tx) }
        let name = String(answers.text(0).trimming(" "))
        let failures = try definition.failures(of: name, attribute: "userName", journey, tx)
        let isChecked = answers.bool(0, "validateOnly")
        guard failures.isEmpty, !isChecked else {
            if !failures.isEmpty { tx.explain("userName violates \(failures.map(\.requirement).joined(separator: ", "))") }
            return .retry([callback(definition, name, failures: failures, isChecked: isChecked, tx)])
        }
        journey.username = name
        return .accepted
    }

    private func callback(
        _ definition: AttributeDefinition, _ name: String, failures: [AttributePolicy], isChecked: Bool, _ tx: ServerTransaction
    ) -> JourneyCallback {
        .any(
            "ValidatedCreateUsernameCallback",
            [
                "policies": AttributePolicy.description(of: definition.policies, name: "userName"),
                "failedPolicies": .texts(failures.map(\.failure)), "validateOnly": .bool(isChecked),
                "prompt": .string(tx.text(definition.title)), "value": .string(name),
            ], ["": .string(name), "validateOnly": .bool(isChecked)])
    }
}
