import SignetCore
public import SignetJourney

/// Asks for a user name.
public final class NameCallback: SingleValueCallback {}

/// Asks for a password, a one-time code, or the answer to a security question.
public final class PasswordCallback: SingleValueCallback {}

/// Asks for a line of text.
public final class TextInputCallback: SingleValueCallback {
    /// The text that the server proposes.
    public func getDefaultText() -> String { callback.text("defaultText") }
}

/// Asks for one of several choices.
public final class ChoiceCallback: TypedValueCallback<SignetJourney.ChoiceCallback> {
    /// The choices that the server offers.
    public var choices: [String] { view.choices }
    /// The index of the choice that the server proposes; 0 when the server proposes nothing.
    public var defaultChoice: Int { view.defaultChoice ?? 0 }

    /// Chooses by index, which is a number or a string with a number.
    ///
    /// An index that the server does not offer is ignored, because this method cannot throw in the ForgeRock SDK.
    public override func setValue(_ value: Any?) {
        var view = view
        guard let index = value as? Int ?? (value as? String).flatMap({ Int($0) }), (try? view.select(index)) != nil else {
            return
        }
        callback = view.callback
    }
}

/// The standard set of buttons that the server asks for when it names no buttons.
public enum OptionType: Int, Sendable {
    /// The server asks for no standard set.
    case unspecifiedOption = -1
    /// The buttons yes and no.
    case yesNoOption = 0
    /// The buttons yes, no and cancel.
    case yesNoCancelOption = 1
    /// The buttons OK and cancel.
    case okCancelOption = 2
    /// The server sent another number.
    case unknown = -2
}

/// The kind of a message, which decides how the app shows it.
public enum MessageType: Int, Sendable {
    /// Information.
    case information = 0
    /// A warning.
    case warning = 1
    /// An error.
    case error = 2
    /// A script for browsers.
    case script = 4
    /// The server sent another number.
    case unknown = -1

    init(_ callback: JourneyCallback) { self = callback.number("messageType").flatMap { Self(rawValue: $0) } ?? .unknown }
}

/// Asks the user to press one of several buttons.
public final class ConfirmationCallback: SingleValueCallback {
    /// The labels of the buttons that the server names.
    public var options: [String]? { output("options").map { _ in callback.texts("options") } }
    /// The standard set of buttons, for a server that names no buttons.
    public var optionType: OptionType { callback.number("optionType").flatMap(OptionType.init) ?? .unknown }
    /// The number of the button that the server proposes.
    public var defaultOption: Int? { callback.number("defaultOption") }
    /// The number of the button that the server selected.
    public var option: Int? { callback.number("option") }
    /// The kind of message that the prompt is.
    public var messageType: MessageType { MessageType(callback) }
    /// The number of the button that the user pressed, under the name that the ForgeRock SDK gives it.
    public var value: Any? {
        get { getValue() }
        set { setValue(newValue) }
    }
}

/// Shows a message to the user.
public class TextOutputCallback: Callback {
    /// The text.
    public final var message: String { callback.text("message") }
    /// The kind of message that the text is.
    public final var messageType: MessageType { MessageType(callback) }
}

/// Says that the journey continues at a link that the server sent by email.
public final class SuspendedTextOutputCallback: TextOutputCallback {}

/// Carries a value that the app does not show to the user.
public final class HiddenValueCallback: SingleValueCallback {
    /// The identifier that says what the value is for.
    ///
    /// When the server sends no identifier, this is the current value.
    public var id: String? { output("id")?.string ?? getValue() as? String }
    /// True when the answer of a passkey goes into this value.
    public var isWebAuthnOutcome: Bool { id == "webAuthnOutcome" }
}

/// Asks the app to continue after a delay.
public final class PollingWaitCallback: Callback {
    /// The delay in milliseconds.
    public var waitTime: Int { max(0, callback.number("waitTime") ?? 0) }
    /// The message to show during the delay.
    public var message: String { callback.text("message") }
}

/// Carries data for the app.
public class MetadataCallback: Callback {
    /// The data.
    public final var data: [String: Any] { output("data")?.dictionary ?? [:] }
}

/// A callback with a value that must satisfy policies that the server sends.
open class AbstractValidatedCallback: SingleValueCallback {
    /// The policies, as the server writes them.
    public final var policies: [String: Any]? { output("policies")?.object?.mapValues(\.any) }
    /// The policies that the last entered value did not satisfy.
    public final var failedPolicies: [SignetJourney.FailedPolicy]? {
        output("failedPolicies")?.array?.compactMap { SignetJourney.FailedPolicy($0) }
    }
    /// True when the server must only validate the value and not continue the journey.
    public final var validateOnly: Bool {
        get { callback.value("validateOnly")?.truth ?? false }
        set { callback.set("validateOnly", .bool(newValue)) }
    }
}

/// Asks for the user name of a new account.
public final class ValidatedCreateUsernameCallback: AbstractValidatedCallback {}

/// Asks for the password of a new account.
public final class ValidatedCreatePasswordCallback: AbstractValidatedCallback {
    /// True when the app may show the password while the user types it.
    public var echoOn: Bool { callback.truth("echoOn") }
}

/// Asks for an attribute of the user.
open class AttributeInputCallback: AbstractValidatedCallback {
    /// The attribute's name on the server.
    public final var name: String { callback.text("name") }
    /// True when the journey does not continue without a value.
    public final var required: Bool { callback.truth("required") }
}

/// Asks for an attribute that is a string.
public final class StringAttributeInputCallback: AttributeInputCallback {}

/// Asks for an attribute that is a number.
public final class NumberAttributeInputCallback: AttributeInputCallback {}

/// Asks for an attribute that is a Boolean value.
public final class BooleanAttributeInputCallback: AttributeInputCallback {}

/// Asks the user to agree to terms and conditions.
public final class TermsAndConditionsCallback: TypedValueCallback<SignetJourney.TermsAndConditionsCallback> {
    /// The version of the terms.
    public var version: String { view.version }
    /// The terms.
    public var terms: String { view.terms }
    /// The date at which this version was created, as the server writes it.
    public var createDate: String { view.createDate }
}

/// Asks for a security question and its answer.
public final class KbaCreateCallback: TypedValuesCallback<SignetJourney.KbaCreateCallback> {
    /// The questions that the server offers.
    public var predefinedQuestions: [String] { view.predefinedQuestions }
    /// True when the user may write a question.
    ///
    /// A server that does not say accepts any question.
    public var allowUserDefinedQuestions: Bool { view.allowsOwnQuestion }
    /// Enters the question.
    public func setQuestion(_ question: String) { set("question", question) }
    /// Enters the answer.
    public func setAnswer(_ answer: String) { set("answer", answer) }
}

/// Asks the user for consent to share data.
public final class ConsentMappingCallback: TypedValueCallback<SignetJourney.ConsentMappingCallback> {
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
