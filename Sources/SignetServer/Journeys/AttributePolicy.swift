import SignetCore

/// A requirement for the value of an attribute, in the terms of AM's identity management (protocol/journey.md section 2.6).
enum AttributePolicy: Sendable, Hashable {
    case required
    case minimumLength(Int)
    case maximumLength(Int)
    /// No other user of the realm has this name, in any case.
    case unique
    case capitals(Int)
    case digits(Int)
    case emailAddress
    case minimum(Double)
    case maximum(Double)
    /// The value has no characters that could disguise it or other text where it is shown.
    ///
    /// It applies to every user name and text attribute, and a file cannot name it. Text attributes may contain invisible
    /// characters, which some languages need; user names may not.
    case safeCharacters
    /// The value has this JSON type.
    case validType(String)

    /// Returns true when a value complies.
    ///
    /// As in AM, an empty value complies with every policy except ``required``. To that policy, a text of spaces is empty too.
    func accepts(_ value: JSONValue, attribute: String, in realm: RealmPath, _ tx: ServerTransaction) throws -> Bool {
        let text = value.string ?? ""
        if self == .required { return value != .null && value.string?.isBlank != true }
        guard value != .string("") else { return true }
        switch self {
        case .required: return true
        case .minimumLength(let length): return text.count >= length
        case .maximumLength(let length): return text.count <= length
        case .unique: return try tx.directory.user(named: text, in: realm) == nil
        case .capitals(let count): return text.count { $0.isUppercase } >= count
        case .digits(let count): return text.count { $0.isNumber } >= count
        case .emailAddress: return text.isEmailAddress
        case .minimum(let limit): return (value.double ?? -.infinity) >= limit
        case .maximum(let limit): return (value.double ?? .infinity) <= limit
        case .safeCharacters: return attribute == "userName" ? text.isSafeName : text.isSafeToShow
        case .validType: return false
        }
    }

    /// The key of the requirement, which clients translate into a message.
    var requirement: String {
        switch self {
        case .required: "REQUIRED"
        case .minimumLength: "MIN_LENGTH"
        case .maximumLength: "MAX_LENGTH"
        case .unique: "UNIQUE"
        case .capitals: "AT_LEAST_X_CAPITAL_LETTERS"
        case .digits: "AT_LEAST_X_NUMBERS"
        case .emailAddress: "VALID_EMAIL_ADDRESS_FORMAT"
        case .minimum: "MINIMUM_NUMBER_VALUE"
        case .maximum: "MAXIMUM_NUMBER_VALUE"
        case .safeCharacters: "CANNOT_CONTAIN_CHARACTERS"
        case .validType: "VALID_TYPE"
        }
    }

    /// The id of the policy in AM.
    var id: String {
        switch self {
        case .required: "not-empty"
        case .minimumLength: "minimum-length"
        case .maximumLength: "maximum-length"
        case .unique: "unique"
        case .capitals: "at-least-X-capitals"
        case .digits: "at-least-X-numbers"
        case .emailAddress: "valid-email-address-format"
        case .minimum: "minimum-number-value"
        case .maximum: "maximum-number-value"
        case .safeCharacters: "cannot-contain-characters"
        case .validType: "valid-type"
        }
    }

    private var parameters: [String: JSONValue]? {
        switch self {
        case .required, .unique, .emailAddress: nil
        case .minimumLength(let length): ["minLength": .integer(Int64(length))]
        case .maximumLength(let length): ["maxLength": .integer(Int64(length))]
        case .capitals(let count): ["numCaps": .integer(Int64(count))]
        case .digits(let count): ["numNums": .integer(Int64(count))]
        case .minimum(let limit): ["minimum": .number(limit)]
        case .maximum(let limit): ["maximum": .number(limit)]
        case .safeCharacters:
            ["forbiddenChars": .texts(["control characters", "text direction marks", "invisible characters"])]
        case .validType(let type): ["types": .array([.string(type)])]
        }
    }

    /// A failure as an element of `failedPolicies`: JSON in a string.
    var failure: String { JSON.text(of: requirementAndParameters) }

    /// A failure as an element of `failedPolicyRequirements`.
    var requirementAndParameters: JSONValue {
        var members: [String: JSONValue] = ["policyRequirement": .string(requirement)]
        members["params"] = parameters.map { .object($0) }
        return .object(members)
    }

    /// Returns the member `policies` of a callback.
    static func description(of policies: [AttributePolicy], name: String) -> JSONValue {
        .object([
            "policyRequirements": .texts(policies.map(\.requirement)), "fallbackPolicies": .null, "name": .string(name),
            "policies": .array(
                policies.map { policy in
                    var members: [String: JSONValue] = [
                        "policyId": .string(policy.id), "policyRequirements": .texts([policy.requirement]),
                    ]
                    members["params"] = policy.parameters.map { .object($0) }
                    return .object(members)
                }), "conditionalPolicies": .null,
        ])
    }
}

extension AttributePolicy {
    /// The policies that a file can name.
    ///
    /// Their limits are placeholders.
    private static let named: [AttributePolicy] = [
        .required, .unique, .emailAddress, .minimumLength(0), .maximumLength(0), .capitals(0), .digits(0), .minimum(0),
        .maximum(0),
    ]

    /// The names of the policies.
    static let ids = named.map(\.id)

    /// Creates a policy from its name in AM.
    ///
    /// The result is nil when the name is unknown, or when a required limit is missing or an unexpected one is given.
    init?(id: String, limit: Int?) {
        guard let policy = Self.named.first(where: { $0.id == id })?.with(limit) else { return nil }
        self = policy
    }

    private func with(_ limit: Int?) -> AttributePolicy? {
        switch (self, limit) {
        case (.required, nil), (.unique, nil), (.emailAddress, nil): self
        case (.minimumLength, let limit?): .minimumLength(limit)
        case (.maximumLength, let limit?): .maximumLength(limit)
        case (.capitals, let limit?): .capitals(limit)
        case (.digits, let limit?): .digits(limit)
        case (.minimum, let limit?): .minimum(Double(limit))
        case (.maximum, let limit?): .maximum(Double(limit))
        default: nil
        }
    }
}

extension JSONValue {
    /// The number; nil for another value.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension String {
    /// True when the text has the form of an email address: a name, an `@` and a domain with a dot.
    ///
    /// It does not check that the address exists.
    var isEmailAddress: Bool {
        let parts = split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !contains(where: \.isWhitespace) else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
