import SignetAuthenticator
public import SignetCore

extension BiometricAvailablePolicy: MfaPolicy {
    /// The name by which issuers apply the policy.
    public static var policyName: String { name }

    /// Returns true when the provider of the policy reports that recognition is available.
    @concurrent public func evaluate(data: [String: Any]?) async throws -> Bool { await isMet(.object([:])) }
}

extension DeviceTamperingPolicy: MfaPolicy {
    /// The name by which issuers apply the policy.
    public static var policyName: String { name }

    /// Creates the policy for this process.
    public init() { self = .thisDevice }

    /// Returns true when the score of this device is below the parameter `score`.
    @concurrent public func evaluate(data: [String: Any]?) async throws -> Bool {
        isMetNow(.object((data ?? [:]).compactMapValues(JSONValue.init(any:))))
    }
}
