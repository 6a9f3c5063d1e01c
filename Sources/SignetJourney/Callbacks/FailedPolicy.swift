public import SignetCore

/// A policy requirement that a value violates (protocol/journey.md section 2.6).
public struct FailedPolicy: Sendable, Hashable {
    /// The name of the requirement, for example `MIN_LENGTH`.
    public let requirement: String
    /// The parameters of the requirement, which are numbers and lists, for example `minLength`.
    public let parameters: [String: JSONValue]

    /// Creates a requirement.
    public init(requirement: String, parameters: [String: JSONValue] = [:]) {
        self.requirement = requirement
        self.parameters = parameters
    }

    /// Reads a JSON object, or a string that contains one.
    package init?(_ value: JSONValue) {
        guard let rule = PolicyRequirement(value) else { return nil }
        self.init(requirement: rule.name, parameters: rule.parameters)
    }

    /// An English sentence that tells the user how to correct the value, for the requirement names that servers use.
    ///
    /// An app with its own texts uses ``requirement`` instead.
    public var message: String { PolicyRequirement(name: requirement, parameters: parameters).sentence }
}

/// A policy that the server announces before the user enters a value.
public struct Policy: Sendable, Hashable {
    /// The ID of the policy, for example `minimum-length`.
    public let id: String
    /// The names of the policy's requirements, for example `MIN_LENGTH`.
    public let requirements: [String]
    /// The parameters of the policy, which are numbers and lists.
    public let parameters: [String: JSONValue]

    init?(_ value: JSONValue) {
        guard let id = value["policyId"]?.string else { return nil }
        self.id = id
        requirements = value["policyRequirements"]?.array?.compactMap(\.string) ?? []
        parameters = value["params"]?.object ?? [:]
    }

    /// Returns the policies in the output `policies`: an object that lists them, or the list itself in older servers.
    static func list(_ value: JSONValue?) -> [Policy] {
        (value?["policies"]?.array ?? value?.array ?? []).compactMap { Policy($0) }
    }
}

/// The policy requirements that a user property violates, from the response that ends a journey.
public struct PolicyFailure: Sendable, Hashable {
    /// The name of the property, for example `userName`.
    public let property: String
    /// The requirements that the property violates.
    public let requirements: [FailedPolicy]

    /// Returns the failures in the `detail` of a response; empty when it contains none.
    static func list(_ detail: JSONValue?) -> [PolicyFailure] {
        (detail?["failedPolicyRequirements"]?.array ?? []).map { failure in
            PolicyFailure(
                property: failure["property"]?.string ?? "",
                requirements: (failure["policyRequirements"]?.array ?? []).compactMap { FailedPolicy($0) })
        }
    }
}
