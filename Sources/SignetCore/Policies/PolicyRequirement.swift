/// A rule for a value that the user enters, as servers report it in `failedPolicies` and `failedPolicyRequirements`
/// (protocol/journey.md section 2.6).
package struct PolicyRequirement: Sendable, Hashable {
    /// The rule's name, for example `MIN_LENGTH`.
    package let name: String
    /// The parameters of the rule, for example `minLength`.
    package let parameters: [String: JSONValue]

    package init(name: String, parameters: [String: JSONValue] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// Parses `{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}`, or a string that contains this JSON; servers send
    /// both.
    ///
    /// Any other string is taken as the name of a rule.
    package init?(_ value: JSONValue) {
        switch value {
        case .object(let members):
            guard let name = members["policyRequirement"]?.string else { return nil }
            self.init(name: name, parameters: members["params"]?.object ?? [:])
        case .string(let text):
            if let value = try? JSON.value(of: text.utf8), case .object = value {
                self.init(value)
            } else {
                self.init(name: text)
            }
        default: return nil
        }
    }

    /// Returns the instruction for the user for an element of a server's list, including elements that cannot be parsed.
    package static func sentence(for value: JSONValue) -> String {
        PolicyRequirement(value)?.sentence ?? "This value is not accepted."
    }

    /// The instruction for the user, in English.
    package var sentence: String {
        if let sentence = Self.plain[name] { return sentence }
        return switch name {
        case "MIN_LENGTH": "Use at least \(text(of: "minLength")) characters."
        case "MAX_LENGTH": "Use at most \(text(of: "maxLength")) characters."
        case "AT_LEAST_X_CAPITAL_LETTERS": Self.atLeast(text(of: "numCaps"), "a capital letter", "capital letters")
        case "AT_LEAST_X_NUMBERS": Self.atLeast(text(of: "numNums"), "a digit", "digits")
        case "VALID_TYPE": "Enter a value of the type \(text(of: "types"))."
        case "MINIMUM_NUMBER_VALUE": has("minimum") ? "Enter \(text(of: "minimum")) or more." : "Enter a larger number."
        case "MAXIMUM_NUMBER_VALUE": has("maximum") ? "Enter \(text(of: "maximum")) or less." : "Enter a smaller number."
        case "CANNOT_CONTAIN_CHARACTERS": "Do not use \(text(of: "forbiddenChars"))."
        case "CANNOT_CONTAIN_DUPLICATES": "Do not repeat \(text(of: "duplicateValue"))."
        case "CANNOT_CONTAIN_OTHERS": "Do not use what you entered as \(text(of: "disallowedFields"))."
        default: "This does not comply with the rule \(name)."
        }
    }

    private static let plain = [
        "REQUIRED": "Fill this in.", "UNIQUE": "This is taken. Choose another.",
        "MATCH_REGEXP": "This is not in the form that is asked for.",
        "VALID_QUERY_FILTER": "Enter a valid filter.", "VALID_ARRAY_ITEMS": "An entry of the list is not valid.",
        "VALID_DATE": "Enter a date.", "VALID_EMAIL_ADDRESS_FORMAT": "Enter an email address, like name@example.org.",
        "VALID_NAME_FORMAT": "Enter a name.", "VALID_PHONE_FORMAT": "Enter a telephone number.",
        "VALID_NUMBER": "Enter a number.",
    ]

    private static func atLeast(_ count: String, _ one: String, _ several: String) -> String {
        count == "1" ? "Use \(one)." : "Use at least \(count) \(several)."
    }

    private func has(_ parameter: String) -> Bool { parameters[parameter] != nil }

    /// Returns a parameter of the rule as text; a question mark for a parameter that the rule does not have.
    package func text(of parameter: String) -> String {
        switch parameters[parameter] {
        case .string(let text)?: text
        case .array(let elements)?: elements.map { $0.string ?? JSON.text(of: $0) }.joined(separator: ", ")
        case let value?: JSON.text(of: value)
        case nil: "?"
        }
    }
}
