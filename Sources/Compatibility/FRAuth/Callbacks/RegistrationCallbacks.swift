public import Foundation
import SignetCore
import SignetJourney

/// A policy requirement that a value does not satisfy.
public class FailedPolicy: NSObject {
    /// The parameters of the requirement, for example `minLength`.
    public var params: [String: Any]?
    /// The name of the requirement, for example `MIN_LENGTH`.
    public var policyRequirement: String
    private let propertyName: String

    init(_ policy: SignetJourney.FailedPolicy, of propertyName: String) {
        self.propertyName = propertyName
        params = policy.parameters.isEmpty ? nil : policy.parameters.mapValues(\.any)
        policyRequirement = policy.requirement
        super.init()
    }

    /// Returns an English text that names the property and tells the user how to correct its value.
    public func failedDescription() -> String {
        let parameters = (params ?? [:]).compactMapValues { JSONValue(any: $0) }
        return "\(propertyName): \(PolicyRequirement(name: policyRequirement, parameters: parameters).sentence)"
    }
}

/// A callback with a value that must satisfy policies that the server sends.
open class AbstractValidatedCallback: SingleValueCallback {
    /// The policies, as the server writes them; nil when it sends none.
    public final var policies: [String: Any]?
    /// The policies that the last entered value did not satisfy; nil when it satisfied all.
    public final var failedPolicies: [FailedPolicy]?
    /// True when the server must only validate the value and not continue the journey.
    public final var validateOnly = false
    private var validateOnlyName: String? { received.optionalInputName("validateOnly") }

    /// Reads a callback.
    ///
    /// The value that the server proposes is filled in.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs, no input, or a failed policy that can't
    ///   be read.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require("output")
        let property = prompt ?? received.output("name")?.string ?? received.type
        policies = received.output("policies")?.object?.mapValues(\.any)
        let failed = received.output("failedPolicies")?.array ?? []
        failedPolicies =
            failed.isEmpty
            ? nil
            : try failed.map { policy in
                FailedPolicy(try received.required(SignetJourney.FailedPolicy(policy), "failedPolicies"), of: property)
            }
        validateOnly = received.bool("validateOnly")
        if value == nil || value as? String == "", let proposed = received.output("value") {
            value = adapted(proposed.untyped)
        }
    }

    /// Returns the callback with the value and ``validateOnly``.
    open override func buildResponse() -> [String: Any] {
        Self.replacingInputs(of: super.buildResponse()) { $0 == validateOnlyName ? .some(validateOnly) : nil }
    }

    override func enter(_ value: JSONValue, as name: String) {
        guard name == validateOnlyName else { return super.enter(value, as: name) }
        validateOnly = value.lenientBool ?? false
    }
}

/// Asks for the user name of a new account.
public class ValidatedCreateUsernameCallback: AbstractValidatedCallback {}

/// Asks for the password of a new account.
public class ValidatedCreatePasswordCallback: AbstractValidatedCallback {
    /// True when the app may show the password while the user types it.
    public var echoOn = false

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``, as in ``AbstractValidatedCallback/init(json:)``.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        echoOn = SignetJourney.ValidatedCreatePasswordCallback(unchecked: received).echoesInput
    }
}

/// Asks for an attribute of the user.
open class AttributeInputCallback: AbstractValidatedCallback {
    /// The attribute's name on the server; nil when the server sends none.
    public final var name: String?
    /// True when the journey does not continue without a value.
    public final var required = false

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``, as in ``AbstractValidatedCallback/init(json:)``.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        name = received.output("name")?.string
        required = SignetJourney.StringAttributeInputCallback(unchecked: received).isRequired
    }
}

/// Asks for an attribute that is a string.
public class StringAttributeInputCallback: AttributeInputCallback {}

/// Asks for an attribute that is a number, which is a `Double`.
public class NumberAttributeInputCallback: AttributeInputCallback {
    override func adapted(_ value: Any?) -> Any? { (value as? Int).map { Double($0) } ?? value }
}

/// Asks for an attribute that is a Boolean value.
public class BooleanAttributeInputCallback: AttributeInputCallback {}

/// Asks the user to agree to terms and conditions.
public class TermsAndConditionsCallback: SingleValueCallback {
    /// The date at which this version was created, as the server writes it.
    public var createDate: String?
    /// The terms.
    public var terms: String?
    /// The version of the terms.
    public var version: String?

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs or no input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require("output")
        createDate = received.output("createDate")?.string
        terms = received.output("terms")?.string
        version = received.output("version")?.string
    }
}

/// Asks for a security question and its answer.
public class KbaCreateCallback: MultipleValuesCallback {
    /// The questions that the server offers.
    public var predefinedQuestions: [String] = []
    /// True when the user may write a question.
    ///
    /// A server that does not say accepts any question.
    public var allowUserDefinedQuestions: Bool { view.allowsOwnQuestion }
    private var view: SignetJourney.KbaCreateCallback { .init(unchecked: received) }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback lacks an input, or when it offers no question and the
    ///   server doesn't say that the user may write one.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require(inputs: ["question", "answer"])
        predefinedQuestions = view.predefinedQuestions
        let mayWriteOne = received.bool("allowUserDefinedQuestions")
        _ = try received.required(mayWriteOne ? "" : predefinedQuestions.first, "predefinedQuestions")
    }

    /// Enters the question.
    public func setQuestion(_ question: String) { fill("question", with: question) }
    /// Enters the answer.
    public func setAnswer(_ answer: String) { fill("answer", with: answer) }
}

/// Asks the user for consent to share data.
public class ConsentMappingCallback: SingleValueCallback {
    private var view: SignetJourney.ConsentMappingCallback { .init(unchecked: received) }

    /// The name of the mapping.
    public var name: String { view.name }
    /// The name of the recipient of the data, to show to the user.
    public var displayName: String { view.displayName }
    /// The URL or the name of an icon.
    public var icon: String { view.icon }
    /// The amount of data that is shared.
    public var accessLevel: String { view.accessLevel }
    /// True when the journey does not continue without consent.
    public var isRequired: Bool { view.isRequired }
    /// The question to show, in the user's language.
    public var message: String { view.message }
    /// The fields that are shared.
    public var fields: [String] { view.fields }
}
