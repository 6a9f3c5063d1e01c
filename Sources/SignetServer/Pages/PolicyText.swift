import SignetCore

/// What a policy asks for, in words.
enum PolicyText {
    /// An element of a callback's `failedPolicies`: JSON in a string.
    static func sentence(forFailure text: String) -> String {
        guard let requirement = try? JSON.value(of: text.utf8) else { return "This value is not accepted." }
        return sentence(for: requirement)
    }

    /// `{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}`.
    static func sentence(for requirement: JSONValue) -> String {
        let name = requirement["policyRequirement"]?.string ?? ""
        func parameter(_ key: String) -> String {
            guard let value = requirement["params"]?[key] else { return "?" }
            return value.string ?? value.array.map { $0.compactMap(\.string).joined(separator: ", ") } ?? JSON.text(of: value)
        }
        return switch name {
        case "REQUIRED": "Fill this in."
        case "UNIQUE": "This is taken. Choose another."
        case "MIN_LENGTH": "Use at least \(parameter("minLength")) characters."
        case "MAX_LENGTH": "Use at most \(parameter("maxLength")) characters."
        case "AT_LEAST_X_CAPITAL_LETTERS":
            parameter("numCaps") == "1" ? "Use a capital letter." : "Use at least \(parameter("numCaps")) capital letters."
        case "AT_LEAST_X_NUMBERS": parameter("numNums") == "1" ? "Use a digit." : "Use at least \(parameter("numNums")) digits."
        case "VALID_EMAIL_ADDRESS_FORMAT": "Enter an e-mail address, like name@example.org."
        case "VALID_PHONE_FORMAT": "Enter a telephone number."
        case "VALID_NAME_FORMAT": "Enter a name."
        case "VALID_DATE": "Enter a date."
        case "VALID_NUMBER": "Enter a number."
        case "VALID_TYPE": "Enter a value of the type \(parameter("types"))."
        case "MINIMUM_NUMBER_VALUE": "Enter \(parameter("minimum")) or more."
        case "MAXIMUM_NUMBER_VALUE": "Enter \(parameter("maximum")) or less."
        case "CANNOT_CONTAIN_CHARACTERS": "Do not use \(parameter("forbiddenChars"))."
        case "CANNOT_CONTAIN_DUPLICATES": "Do not repeat \(parameter("duplicateValue"))."
        case "CANNOT_CONTAIN_OTHERS": "Do not use what you entered as \(parameter("disallowedFields"))."
        case "MATCH_REGEXP": "This is not in the form that is asked for."
        default: "This does not comply with the rule \(name)."
        }
    }
}
