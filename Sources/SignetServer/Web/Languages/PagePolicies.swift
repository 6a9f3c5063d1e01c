import SignetCore

extension PageLanguage {
    /// Returns the instruction for a rule that a value does not comply with.
    /// - Parameter value: An element of the list that the server sends (``PolicyRequirement``).
    /// - Returns: The instruction in this language.
    func instruction(for value: JSONValue) -> String {
        guard let requirement = PolicyRequirement(value) else { return sentence(.policyUnknown) }
        return instruction(for: requirement)
    }

    private func instruction(for requirement: PolicyRequirement) -> String {
        if let text = Self.plainPolicies[requirement.name] { return sentence(text) }
        let has = { requirement.parameters[$0] != nil }
        let filled = { (text: PageText, parameter: String) in
            sentence(text, ["value": requirement.text(of: parameter)])
        }
        switch requirement.name {
        case "MIN_LENGTH": return filled(.policyMinLength, "minLength")
        case "MAX_LENGTH": return filled(.policyMaxLength, "maxLength")
        case "AT_LEAST_X_CAPITAL_LETTERS":
            let isOne = requirement.text(of: "numCaps") == "1"
            return isOne ? sentence(.policyCapital) : filled(.policyCapitals, "numCaps")
        case "AT_LEAST_X_NUMBERS":
            let isOne = requirement.text(of: "numNums") == "1"
            return isOne ? sentence(.policyDigit) : filled(.policyDigits, "numNums")
        case "VALID_TYPE": return filled(.policyType, "types")
        case "MINIMUM_NUMBER_VALUE": return has("minimum") ? filled(.policyMinimum, "minimum") : sentence(.policyLarger)
        case "MAXIMUM_NUMBER_VALUE": return has("maximum") ? filled(.policyMaximum, "maximum") : sentence(.policySmaller)
        case "CANNOT_CONTAIN_CHARACTERS": return filled(.policyCharacters, "forbiddenChars")
        case "CANNOT_CONTAIN_DUPLICATES": return filled(.policyDuplicates, "duplicateValue")
        case "CANNOT_CONTAIN_OTHERS": return filled(.policyOthers, "disallowedFields")
        default: return sentence(.policyOther, ["value": requirement.name])
        }
    }

    private static let plainPolicies: [String: PageText] = [
        "REQUIRED": .policyRequired, "UNIQUE": .policyUnique, "MATCH_REGEXP": .policyPattern,
        "VALID_QUERY_FILTER": .policyFilter, "VALID_ARRAY_ITEMS": .policyItems, "VALID_DATE": .policyDate,
        "VALID_EMAIL_ADDRESS_FORMAT": .policyEmail, "VALID_NAME_FORMAT": .policyName, "VALID_PHONE_FORMAT": .policyPhone,
        "VALID_NUMBER": .policyNumber,
    ]
}
