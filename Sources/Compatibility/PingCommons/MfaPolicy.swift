public import PingLogger
import SignetAuthenticator
import SignetCore

/// A rule that an issuer may apply to a credential by name, with the API of the Ping SDK.
public protocol MfaPolicy: Sendable {
    /// The name by which issuers apply the policy.
    var name: String { get }
    /// Evaluates the policy on this device.
    /// - Parameter data: The parameters that the issuer gave with the name; nil when they are not a JSON object.
    /// - Returns: True when the device meets the policy.
    /// - Throws: An error when the policy cannot be evaluated. The evaluator ignores the policy then.
    @concurrent func evaluate(data: [String: Any]?) async throws -> Bool
}

extension MfaPolicy {
    /// The type and the name of the policy.
    public var description: String { "\(type(of: self))(name: '\(name)')" }
}

/// The result of an evaluation of policies.
public struct MfaPolicyResult: Sendable {
    /// The first policy that the device does not meet; nil when it meets all.
    public let nonCompliancePolicy: (any MfaPolicy)?

    /// True when the device meets all policies.
    public var isSuccess: Bool { nonCompliancePolicy == nil }
    /// True when the device does not meet a policy.
    public var isFailure: Bool { nonCompliancePolicy != nil }
    /// The name of ``nonCompliancePolicy``.
    public var nonCompliancePolicyName: String? { nonCompliancePolicy?.name }

    /// Returns the result of a device that meets all policies.
    public static func success() -> MfaPolicyResult { MfaPolicyResult(nonCompliancePolicy: nil) }
    /// Returns the result of a device that does not meet `policy`.
    public static func failure(policy: any MfaPolicy) -> MfaPolicyResult { MfaPolicyResult(nonCompliancePolicy: policy) }
}

/// The policies that a client evaluates, in their order.
///
///     config.policyEvaluator = MfaPolicyEvaluator.create { $0.policies = [BiometricAvailablePolicy(), OfficeHoursPolicy()] }
public actor MfaPolicyEvaluator {
    /// The settings of a new evaluator.
    public final class Config {
        /// The policies in evaluation order.
        public var policies: [any MfaPolicy] = []
        /// The logger of the evaluator.
        public var logger: any Logger = LogManager.logger

        /// Creates settings without policies.
        public init() {}
    }

    private let policies: [any MfaPolicy]
    private let logger: any Logger

    private init(_ config: Config) {
        policies = config.policies
        logger = config.logger
    }

    /// Creates an evaluator with the settings that `configure` makes.
    public static func create(configure: (Config) -> Void = { _ in }) -> MfaPolicyEvaluator {
        let config = Config()
        configure(config)
        return MfaPolicyEvaluator(config)
    }

    /// Evaluates the policies of a credential.
    /// - Parameter credentialPolicies: The text of a JSON object with the names of policies and their parameters.
    /// - Returns: Success also for nil, and for a text that is not a JSON object.
    public func evaluate(credentialPolicies: String?) async -> MfaPolicyResult {
        guard let credentialPolicies, !credentialPolicies.isEmpty else { return .success() }
        guard let named = (try? JSON.value(of: credentialPolicies.utf8))?.object else {
            logger.w("the policies of a credential are not a JSON object and are ignored", error: nil)
            return .success()
        }
        return await evaluate(named)
    }

    /// Evaluates policies by their names and parameters.
    public func evaluate(policiesJson: sending [String: Any]) async -> MfaPolicyResult {
        await evaluate(policiesJson.compactMapValues(JSONValue.init(any:)))
    }

    private func evaluate(_ named: [String: JSONValue]) async -> MfaPolicyResult {
        for policy in policies {
            guard let parameters = named[policy.name] else { continue }
            if await !policy.isMet(parameters, logger) { return .failure(policy: policy) }
        }
        return .success()
    }

    /// Returns all policies in evaluation order.
    public func getPolicies() -> [any MfaPolicy] { policies }

    /// Returns the first policy with this name.
    public func getPolicy(policyName: String) -> (any MfaPolicy)? { policies.first { $0.name == policyName } }

    /// The policies as the engine evaluates them.
    package nonisolated var accountPolicies: AccountPolicies {
        AccountPolicies(policies.map { EnginePolicy(policy: $0, logger: logger) })
    }
}

extension MfaPolicy {
    /// Returns false when the device does not meet the policy, and true also when the policy throws, as the Ping SDK does.
    fileprivate func isMet(_ parameters: JSONValue, _ logger: any Logger) async -> Bool {
        do {
            return try await evaluate(data: parameters.object?.mapValues(\.any))
        } catch {
            logger.w("the policy \(name) cannot be evaluated and is ignored", error: nil)
            return true
        }
    }
}

/// A policy of an app, as a policy of the engine.
private struct EnginePolicy: AccountPolicy {
    let policy: any MfaPolicy
    let logger: any Logger

    var name: String { policy.name }
    func isMet(_ parameters: JSONValue) async -> Bool { await policy.isMet(parameters, logger) }
}
