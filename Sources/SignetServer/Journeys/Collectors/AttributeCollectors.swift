import SignetCore

/// A collector that asks for an attribute until the value complies with the policies. With `validateOnly`, the value is checked
/// but not stored, so that the user sees errors while typing (protocol/journey.md section 2.6).
struct AttributeCollector: Collector {
    enum Kind: Sendable, Hashable {
        case text
        case number
        case truth

        fileprivate var type: String {
            switch self {
            case .text: "StringAttributeInputCallback"
            case .number: "NumberAttributeInputCallback"
            case .truth: "BooleanAttributeInputCallback"
            }
        }

        fileprivate var nothing: JSONValue {
            switch self {
            case .text: .string("")
            case .number: .number(0)
            case .truth: .bool(false)
            }
        }

        /// Converts the client's value to this kind; nil when that is not possible.
        fileprivate func value(_ sent: JSONValue?) -> JSONValue? {
            switch (self, sent) {
            case (.text, .string), (.number, .integer), (.number, .number), (.truth, .bool): sent
            case (.number, .string(let text)): Double(text).map { .number($0) }
            case (.truth, .string(let text)): ["true": .bool(true), "false": .bool(false)][text]
            default: nil
            }
        }
    }

    var attribute: String
    var prompt: String
    var kind = Kind.text
    var policies: [AttributePolicy] = []

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [shown(journey.attributes[attribute] ?? kind.nothing, failures: [], isChecked: false)]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        guard let value = kind.value(answers.value(0)) else {
            return .retry([shown(kind.nothing, failures: [.validType(kind.typeName)], isChecked: false)])
        }
        let failures = policies.filter { !$0.accepts(value, attribute: attribute, in: journey.realm, tx) }
        let isChecked = answers.truth(0, "validateOnly")
        guard failures.isEmpty, !isChecked else { return .retry([shown(value, failures: failures, isChecked: isChecked)]) }
        journey.attributes[attribute] = value
        return .accepted
    }

    private func shown(_ value: JSONValue, failures: [AttributePolicy], isChecked: Bool) -> JourneyCallback {
        .any(
            kind.type,
            [
                "name": .string(attribute), "prompt": .string(prompt), "required": .bool(policies.contains(.required)),
                "policies": AttributePolicy.description(of: policies, name: attribute),
                "failedPolicies": .texts(failures.map(\.failure)), "validateOnly": .bool(isChecked), "value": value,
            ], ["": value, "validateOnly": .bool(isChecked)])
    }
}

extension AttributeCollector.Kind {
    fileprivate var typeName: String {
        switch self {
        case .text: "string"
        case .number: "number"
        case .truth: "boolean"
        }
    }
}

/// A collector that asks for the name or the password of a new user.
struct NewCredentialCollector: Collector {
    enum Kind: Sendable, Hashable {
        case username
        case password
    }

    var kind: Kind
    var prompt: String
    var policies: [AttributePolicy]

    private var attribute: String { kind == .username ? "userName" : "password" }

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [shown(kind == .username ? journey.username ?? "" : "", failures: [], isChecked: false)]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        let text = answers.text(0)
        let failures = policies.filter { !$0.accepts(.string(text), attribute: attribute, in: journey.realm, tx) }
        let isChecked = answers.truth(0, "validateOnly")
        guard failures.isEmpty, !isChecked else { return .retry([shown(text, failures: failures, isChecked: isChecked)]) }
        switch kind {
        case .username: journey.username = text
        case .password: journey.password = Secret(text.utf8)
        }
        return .accepted
    }

    private func shown(_ text: String, failures: [AttributePolicy], isChecked: Bool) -> JourneyCallback {
        let policies = AttributePolicy.description(of: policies, name: attribute)
        let failed = JSONValue.texts(failures.map(\.failure))
        // The password callback has no `value` output, so that a password is never sent back.
        switch kind {
        case .username:
            return .any(
                "ValidatedCreateUsernameCallback",
                [
                    "policies": policies, "failedPolicies": failed, "validateOnly": .bool(isChecked),
                    "prompt": .string(prompt), "value": .string(text),
                ], ["": .string(text), "validateOnly": .bool(isChecked)])
        case .password:
            return .any(
                "ValidatedCreatePasswordCallback",
                [
                    "echoOn": .bool(false), "policies": policies, "failedPolicies": failed, "validateOnly": .bool(isChecked),
                    "prompt": .string(prompt),
                ], ["": .string(""), "validateOnly": .bool(isChecked)])
        }
    }
}
