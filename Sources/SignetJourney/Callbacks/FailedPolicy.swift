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

    /// Reads an object, or a text that holds one.
    package init?(_ value: JSONValue) {
        guard let rule = PolicyRequirement(value) else { return nil }
        self.init(requirement: rule.name, parameters: rule.parameters)
    }

    /// What to do about it, a sentence in English for the names that servers use. An app that has texts of its own asks
    /// ``requirement``.
    public var message: String { PolicyRequirement(name: requirement, parameters: parameters).sentence }
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
