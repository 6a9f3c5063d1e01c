public import Foundation
import SignetCore
public import SignetJourney
import SignetNetwork

/// The kind of a policy's advice.
public enum AdviceType: String, Sendable, CaseIterable {
    /// A transaction must be confirmed.
    case transactionCondition = "TransactionConditionAdvice"
    /// A journey must be completed.
    case authenticateToService = "AuthenticateToServiceConditionAdvice"
}

/// The advice of a policy: the additional authentication that it requires before it allows access.
///
/// It has the engine's advice in ``advice``, which may have more requirements than the first one that the properties show.
public final class PolicyAdvice: NSObject, Sendable {
    /// The kind of the first requirement.
    public let type: AdviceType
    /// The value of the first requirement: the identifier of a transaction, or the name of a journey.
    public let value: String
    /// The identifier of the transaction that must be confirmed; nil for other advice.
    public var txId: String? { type == .transactionCondition ? value : nil }
    /// The type for the authenticate endpoint.
    public let authIndexType: String
    /// The value for the authenticate endpoint: the advice as XML.
    public var authIndexValue: String { advice.xml }
    /// The engine's advice.
    public let advice: SignetJourney.PolicyAdvice

    /// Creates the object for the engine's advice; nil when it has no requirement of a known kind.
    public init?(_ advice: SignetJourney.PolicyAdvice, authIndexType: String = "composite_advice") {
        let known = advice.attributes.lazy.compactMap { attribute in
            AdviceType(rawValue: attribute.name).flatMap { type in attribute.values.first.map { (type, $0) } }
        }
        guard let (type, value) = known.first else { return nil }
        self.advice = advice
        self.authIndexType = authIndexType
        self.type = type
        self.value = value
        super.init()
    }

    /// Reads the advice from the address of a redirect; nil when it has none.
    public convenience init?(redirectUrl: String) {
        guard let advice = SignetJourney.PolicyAdvice(redirect: redirectUrl) else { return nil }
        self.init(advice)
    }

    /// Reads the advice from the result of a policy's evaluation, or from its `advices`; nil when it has none.
    public convenience init?(json: [String: Any]) {
        let members = json.compactMapValues { JSONValue(any: $0) }
        let hasAdvices = members["advices"]?.object?.isEmpty == false
        let known = members.filter { AdviceType(rawValue: $0.key) != nil }
        let evaluation: JSONValue = .object(hasAdvices ? members : ["advices": .object(known)])
        guard let advice = SignetJourney.PolicyAdvice(evaluation: evaluation) else { return nil }
        self.init(advice)
    }

    /// Creates advice with one requirement; nil for an unknown kind.
    /// - Parameters:
    ///   - type: The kind of the requirement; see ``AdviceType``.
    ///   - value: The identifier of a transaction, or the name of a journey.
    ///   - authIndexType: The type for the authenticate endpoint; nil for `composite_advice`.
    ///   - authIndexValue: The advice as XML; nil for that of the kind and the value.
    public convenience init?(type: String, value: String, authIndexType: String? = nil, authIndexValue: String? = nil) {
        guard AdviceType(rawValue: type) != nil else { return nil }
        let written = authIndexValue.flatMap { SignetJourney.PolicyAdvice(xml: $0) }
        self.init(
            written ?? SignetJourney.PolicyAdvice(type, value), authIndexType: authIndexType ?? "composite_advice")
    }

    /// Returns true for the same advice.
    override public func isEqual(_ object: Any?) -> Bool { (object as? PolicyAdvice)?.advice == advice }

    /// The hash of the advice.
    override public var hash: Int { advice.hashValue }
}

/// A reader of a policy's advice in the forms of Ping's gateways.
public struct PolicyAdviceCreator: Sendable {
    /// Creates the reader.
    public init() {}

    /// Reads the advice from a `WWW-Authenticate` field; nil when it has none.
    public func parseAsBase64(advice: String) -> PolicyAdvice? {
        SignetJourney.PolicyAdvice(challenge: advice).flatMap { PolicyAdvice($0) }
    }

    /// Reads the advice from the address of a redirect; nil when it has none.
    public func parse(advice: String) -> PolicyAdvice? { PolicyAdvice(redirectUrl: advice) }
}
