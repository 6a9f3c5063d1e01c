import SignetCore
import SignetJourney

/// A callback for a value that must satisfy policies of the server.
open class AbstractValidatedCallback: AbstractCallback {
    // The engine's struct for an attribute. All validated callbacks have its outputs.
    fileprivate final var view: SignetJourney.StringAttributeInputCallback { .init(unchecked: callback) }
    /// The prompt, in the user's language.
    public final var prompt: String { view.prompt }
    /// The policies of the server.
    public final var policies: [String: Any] { callback.output("policies")?.object?.mapValues(\.any) ?? [:] }
    /// The requirements that the last value violated.
    public final var failedPolicies: [FailedPolicy] { view.failedPolicies.map(FailedPolicy.init) }
    /// True when the server must only validate the value and return the same step.
    public final var validateOnly: Bool {
        get { view.isValidatedOnly }
        set { callback.set("validateOnly", .bool(newValue)) }
    }
}

/// A requirement that a value violates.
public final class FailedPolicy {
    /// The parameters of the requirement.
    public let params: [String: Any]?
    /// The name of the requirement, for example `MIN_LENGTH`.
    public let policyRequirement: String
    private let message: String

    init(_ policy: SignetJourney.FailedPolicy) {
        params = policy.parameters.isEmpty ? nil : policy.parameters.mapValues(\.any)
        policyRequirement = policy.requirement
        message = policy.message
    }

    /// Returns an English sentence about the requirement for a property.
    public func failedDescription(for propertyName: String) -> String { "\(propertyName): \(message)" }
}

/// A callback that asks for the user name of a new account.
public final class ValidatedUsernameCallback: AbstractValidatedCallback {
    /// The user name.
    public var username: String {
        get { SignetJourney.ValidatedCreateUsernameCallback(unchecked: callback).username }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for the password of a new account.
public final class ValidatedPasswordCallback: AbstractValidatedCallback {
    /// True when the password may be visible while the user types.
    public var echoOn: Bool { SignetJourney.ValidatedCreatePasswordCallback(unchecked: callback).echoesInput }
    /// The password.
    public var password: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a property of the user.
public class AttributeInputCallback: AbstractValidatedCallback {
    /// The name of the property on the server, for example `givenName`.
    public final var name: String { view.name }
    /// True when the journey can't continue without a value.
    public final var required: Bool { view.isRequired }
}

/// A callback that asks for a property of the user that is text.
public final class StringAttributeInputCallback: AttributeInputCallback {
    /// The value, at first that of the server.
    public var value: String {
        get { view.value }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a property of the user that is a number.
public final class NumberAttributeInputCallback: AttributeInputCallback {
    /// The value, at first that of the server.
    public var value: Double {
        get { SignetJourney.NumberAttributeInputCallback(unchecked: callback).value ?? 0 }
        set {
            var view = SignetJourney.NumberAttributeInputCallback(unchecked: callback)
            // A value that is not a number, or is infinite, has no form in JSON and leaves the callback unchanged.
            if (try? view.fill(newValue)) != nil { callback = view.callback }
        }
    }
}

/// A callback that asks for a property of the user that is true or false.
public final class BooleanAttributeInputCallback: AttributeInputCallback {
    /// The value, at first that of the server.
    public var value: Bool {
        get { SignetJourney.BooleanAttributeInputCallback(unchecked: callback).value }
        set { callback.set(.bool(newValue)) }
    }
}
