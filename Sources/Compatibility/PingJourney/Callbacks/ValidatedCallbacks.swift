import SignetCore
import SignetJourney

/// A callback for a value that must satisfy policies of the server.
open class AbstractValidatedCallback: AbstractCallback {
    /// The prompt, in the user's language.
    public final var prompt: String { callback.text("prompt") }
    /// The policies of the server.
    public final var policies: [String: Any] { callback.output("policies")?.object?.mapValues(\.any) ?? [:] }
    /// The requirements that the last value violated.
    public final var failedPolicies: [FailedPolicy] {
        (callback.output("failedPolicies")?.array ?? []).compactMap { SignetJourney.FailedPolicy($0) }.map(FailedPolicy.init)
    }
    /// True when the server must only validate the value and return the same step.
    public final var validateOnly: Bool {
        get { (callback.value("validateOnly") ?? callback.output("validateOnly"))?.lenientBool ?? false }
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
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for the password of a new account.
public final class ValidatedPasswordCallback: AbstractValidatedCallback {
    /// True when the password may be visible while the user types.
    public var echoOn: Bool { callback.bool("echoOn") }
    /// The password.
    public var password: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a property of the user.
public class AttributeInputCallback: AbstractValidatedCallback {
    /// The name of the property on the server, for example `givenName`.
    public final var name: String { callback.text("name") }
    /// True when the journey can't continue without a value.
    public final var required: Bool { callback.bool("required") }
}

/// A callback that asks for a property of the user that is text.
public final class StringAttributeInputCallback: AttributeInputCallback {
    /// The value, at first that of the server.
    public var value: String {
        get { callback.value()?.string ?? "" }
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
        get { callback.value()?.lenientBool ?? false }
        set { callback.set(.bool(newValue)) }
    }
}
