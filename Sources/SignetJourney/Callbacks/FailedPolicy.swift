public import SignetCore

/// A rule for a value that the value does not keep (protocol/journey.md section 2.6).
public struct FailedPolicy: Sendable, Hashable {
    /// The rule's name, for example `MIN_LENGTH`.
    public let requirement: String
    /// What the rule says in numbers and lists, for example `minLength`.
    public let parameters: [String: JSONValue]

    /// A rule by its name.
    public init(requirement: String, parameters: [String: JSONValue] = [:]) {
        self.requirement = requirement
        self.parameters = parameters
    }

    /// Reads an object, or a text that holds one; servers send both. A text that holds none is taken for the name of a rule.
    package init?(_ value: JSONValue) {
        switch value {
        case .object(let members):
            guard let requirement = members["policyRequirement"]?.string else { return nil }
            self.init(requirement: requirement, parameters: members["params"]?.object ?? [:])
        case .string(let text):
            if let value = try? JSON.value(of: text.utf8), case .object = value {
                self.init(value)
            } else {
                self.init(requirement: text)
            }
        default: return nil
        }
    }

    /// What is wrong, in English, for the names that servers use. An app that has texts of its own asks ``requirement``.
    public var message: String {
        if let message = Self.plain[requirement] { return message }
        return switch requirement {
        case "MIN_LENGTH": "At least \(text("minLength")) characters are needed"
        case "MAX_LENGTH": "No more than \(text("maxLength")) characters are allowed"
        case "AT_LEAST_X_CAPITAL_LETTERS": "At least \(text("numCaps")) capital letters are needed"
        case "AT_LEAST_X_NUMBERS": "At least \(text("numNums")) digits are needed"
        case "CANNOT_CONTAIN_CHARACTERS": "These characters are not allowed: \(text("forbiddenChars"))"
        case "CANNOT_CONTAIN_DUPLICATES": "This must not occur more than once: \(text("duplicateValue"))"
        case "CANNOT_CONTAIN_OTHERS": "This must not contain the value of: \(text("disallowedFields"))"
        case "VALID_TYPE": "This must be of type \(text("types"))"
        default: "The rule \(requirement) is not kept"
        }
    }

    private static let plain = [
        "REQUIRED": "A value is needed", "UNIQUE": "This is taken already",
        "MATCH_REGEXP": "This has not the form that is needed",
        "VALID_QUERY_FILTER": "This is not a valid filter", "VALID_ARRAY_ITEMS": "An entry of the list is not valid",
        "VALID_DATE": "This is not a valid date", "VALID_EMAIL_ADDRESS_FORMAT": "This is not a valid e-mail address",
        "VALID_NAME_FORMAT": "This is not a valid name", "VALID_PHONE_FORMAT": "This is not a valid telephone number",
        "VALID_NUMBER": "This is not a number", "MINIMUM_NUMBER_VALUE": "The number is too small",
        "MAXIMUM_NUMBER_VALUE": "The number is too large",
    ]

    private func text(_ parameter: String) -> String {
        switch parameters[parameter] {
        case .string(let text)?: text
        case .array(let elements)?: elements.map { $0.string ?? JSON.text(of: $0) }.joined(separator: ", ")
        case let value?: JSON.text(of: value)
        case nil: "?"
        }
    }
}

/// A rule of a server, as it announces it before anybody has typed anything.
public struct Policy: Sendable, Hashable {
    /// The rule's id, for example `minimum-length`.
    public let id: String
    /// The names of what it asks for, for example `MIN_LENGTH`.
    public let requirements: [String]
    /// What the rule says in numbers and lists.
    public let parameters: [String: JSONValue]

    init?(_ value: JSONValue) {
        guard let id = value["policyId"]?.string else { return nil }
        self.id = id
        requirements = value["policyRequirements"]?.array?.compactMap(\.string) ?? []
        parameters = value["params"]?.object ?? [:]
    }

    /// The rules in the output `policies`: an object that lists them, or in older servers the list itself.
    static func list(_ value: JSONValue?) -> [Policy] {
        (value?["policies"]?.array ?? value?.array ?? []).compactMap { Policy($0) }
    }
}

/// The rules that a property of a person did not keep, in the answer that ends a journey.
public struct PolicyFailure: Sendable, Hashable {
    /// The property's name, for example `userName`.
    public let property: String
    /// The rules it did not keep.
    public let requirements: [FailedPolicy]

    /// The failures in the `detail` of an answer; empty when it has none.
    static func list(_ detail: JSONValue?) -> [PolicyFailure] {
        (detail?["failedPolicyRequirements"]?.array ?? []).map { failure in
            PolicyFailure(
                property: failure["property"]?.string ?? "",
                requirements: (failure["policyRequirements"]?.array ?? []).compactMap { FailedPolicy($0) })
        }
    }
}
