import SignetCore
import YAMLText

/// A collector that asks for attributes until their values comply with the policies.
///
/// With `validateOnly`, a value is checked but not stored, so that the user sees errors while typing (protocol/journey.md section
/// 2.6).
struct AttributeCollector: Collector {
    static let type = NodeType(
        "AttributeCollectorNode", "Attribute Collector",
        "Asks for attributes. The section `attributes` defines their titles, types and policies.",
        ignoring: ["identityAttribute"],
        withContext: { decoder, context in
            let names = decoder.optionalStrings("attributesToCollect") ?? []
            let isRequired = decoder.bool("required", false)
            let isValidated = decoder.bool("validateInputs", false)
            if names.isEmpty, decoder.problems.isEmpty {
                decoder.report(
                    .missingSetting, at: decoder.position,
                    "`attributesToCollect` is missing: it must be a list of attributes, `[givenName, mail]`")
            }
            return Self(
                attributes: names.map { name in
                    var definition = context.attributes[name] ?? .plain(name)
                    if !isValidated { definition.policies = [] }
                    if isRequired, !definition.policies.contains(.required) { definition.policies.insert(.required, at: 0) }
                    return (name, definition)
                })
        })

    /// The attributes to ask for, by name.
    var attributes: [(name: String, definition: AttributeDefinition)]

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        attributes.map { name, definition in
            definition.callback(
                name, journey.attributes[name] ?? definition.kind.emptyValue, failures: [], isChecked: false, tx)
        }
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> CollectorResult {
        var shown = callbacks(journey, tx)
        var isDone = true
        for (index, (name, definition)) in attributes.enumerated() {
            let value = definition.kind.value(answers.value(index))
            let isChecked = value != nil && answers.bool(index, "validateOnly")
            let failures =
                try value.map { try definition.failures(of: $0, attribute: name, in: journey.realm, tx) }
                ?? [.validType(definition.kind.rawValue)]
            if let value, failures.isEmpty, !isChecked {
                journey.collect(value, for: name)
                shown[index] = definition.callback(name, value, failures: [], isChecked: false, tx)
            } else {
                shown[index] = definition.callback(
                    name, value ?? definition.kind.emptyValue, failures: failures, isChecked: isChecked, tx)
                if !failures.isEmpty { tx.explain("\(name) violates \(failures.map(\.requirement).joined(separator: ", "))") }
                isDone = false
            }
        }
        return isDone ? .accepted : .retry(shown)
    }
}

extension AttributeDefinition {
    fileprivate func callback(
        _ name: String, _ value: JSONValue, failures: [AttributePolicy], isChecked: Bool, _ tx: ServerTransaction
    ) -> JourneyCallback {
        .any(
            kind.callbackType,
            [
                "name": .string(name), "prompt": .string(tx.text(title)), "required": .bool(policies.contains(.required)),
                "policies": AttributePolicy.description(of: policies, name: name),
                "failedPolicies": .texts(failures.map(\.failure)), "validateOnly": .bool(isChecked), "value": value,
            ], ["": value, "validateOnly": .bool(isChecked)])
    }
}

extension AttributeDefinition.Kind {
    fileprivate var callbackType: String {
        switch self {
        case .string: "StringAttributeInputCallback"
        case .number: "NumberAttributeInputCallback"
        case .boolean: "BooleanAttributeInputCallback"
        }
    }

    fileprivate var emptyValue: JSONValue {
        switch self {
        case .string: .string("")
        case .number: .number(0)
        case .boolean: .bool(false)
        }
    }

    /// Converts the client's value to this kind, without white space at the ends of a text; nil when that is not possible.
    fileprivate func value(_ sent: JSONValue?) -> JSONValue? {
        switch (self, sent) {
        case (.string, .string(let text)): .string(String(text.trimmingWhitespace()))
        case (.number, .integer), (.number, .number), (.boolean, .bool): sent
        case (.number, .string(let text)): Double(text.trimmingWhitespace()).map { .number($0) }
        case (.boolean, .string(let text)): ["true": .bool(true), "false": .bool(false)][text]
        default: nil
        }
    }
}
