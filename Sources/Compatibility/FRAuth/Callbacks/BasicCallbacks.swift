import SignetCore
public import SignetJourney

/// Asks for a user name.
public final class NameCallback: SingleValueCallback {}

/// Asks for a password, a one-time code, or the answer to a security question.
public final class PasswordCallback: SingleValueCallback {}

/// Asks for a line of text.
public final class TextInputCallback: SingleValueCallback {
    /// The text that the server proposes.
    public func getDefaultText() -> String { text("defaultText") }
}

/// Asks for one of several choices.
public final class ChoiceCallback: SingleValueCallback {
    /// The choices that the server offers.
    public var choices: [String] { wire.output("choices")?.array?.compactMap(\.string) ?? [] }
    /// The index of the choice that the server proposes; 0 when the server proposes nothing.
    public var defaultChoice: Int { wire.output("defaultChoice")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 0 }

    /// Chooses by index, which is a number or a string with a number. An index that the server does not offer is ignored, because
    /// this method cannot throw in the ForgeRock SDK.
    public override func setValue(_ value: Any?) {
        guard let position = value as? Int ?? (value as? String).flatMap({ Int($0) }), choices.indices.contains(position) else {
            return
        }
        super.setValue(position)
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
}

/// Asks the user to press one of several buttons.
public final class ConfirmationCallback: SingleValueCallback {
    /// The labels of the buttons that the server names.
    public var options: [String]? { wire.output("options")?.array?.compactMap(\.string) }
    /// The standard set of buttons, for a server that names no buttons.
    public var optionType: OptionType { number("optionType").flatMap(OptionType.init) ?? .unknown }
    /// The number of the button that the server proposes.
    public var defaultOption: Int? { number("defaultOption") }
    /// The number of the button that the server selected.
    public var option: Int? { number("option") }
    /// The kind of message that the prompt is.
    public var messageType: MessageType { number("messageType").flatMap(MessageType.init) ?? .unknown }
    /// The number of the button that the user pressed, under the name that the ForgeRock SDK gives it.
    public var value: Any? {
        get { getValue() }
        set { setValue(newValue) }
    }

    private func number(_ name: String) -> Int? { wire.output(name)?.wholeNumber.flatMap { Int(exactly: $0) } }
}

/// Shows a message to the user.
public class TextOutputCallback: Callback {
    /// The text.
    public final var message: String { text("message") }
    /// The kind of message that the text is.
    public final var messageType: MessageType {
        wire.output("messageType")?.wholeNumber.flatMap { Int(exactly: $0) }.flatMap(MessageType.init) ?? .unknown
    }
}

/// Says that the journey continues at a link that the server sent by email.
public final class SuspendedTextOutputCallback: TextOutputCallback {}

/// Carries a value that the app does not show to the user.
public final class HiddenValueCallback: SingleValueCallback {
    /// The identifier that says what the value is for. When the server sends no identifier, this is the current value.
    public var id: String? { wire.output("id")?.string ?? getValue() as? String }
    /// True when the answer of a passkey goes into this value.
    public var isWebAuthnOutcome: Bool { id == "webAuthnOutcome" }
}

/// Asks the app to continue after a delay.
public final class PollingWaitCallback: Callback {
    /// The delay in milliseconds.
    public var waitTime: Int { max(0, wire.output("waitTime")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 0) }
    /// The message to show during the delay.
    public var message: String { text("message") }
}

/// Carries data for the app.
public class MetadataCallback: Callback {
    /// The data.
    public final var data: [String: Any] { wire.output("data").map(LegacyJSON.dictionary) ?? [:] }
}

/// A callback with a value that must satisfy policies that the server sends.
open class AbstractValidatedCallback: SingleValueCallback {
    /// The policies, as the server writes them.
    public final var policies: [String: Any]? { wire.output("policies")?.object.map { LegacyJSON.dictionary(.object($0)) } }
    /// The policies that the last entered value did not satisfy.
    public final var failedPolicies: [SignetJourney.FailedPolicy]? {
        wire.output("failedPolicies")?.array?.compactMap { SignetJourney.FailedPolicy($0) }
    }
    /// True when the server must only validate the value and not continue the journey.
    public final var validateOnly: Bool {
        get { wire.inputIndex("validateOnly").flatMap { wire.input?[$0].value.bool } ?? false }
        set {
            guard let index = wire.inputIndex("validateOnly") else { return }
            wire.input?[index].value = .bool(newValue)
        }
    }
}

/// Asks for the user name of a new account.
public final class ValidatedCreateUsernameCallback: AbstractValidatedCallback {}

/// Asks for the password of a new account.
public final class ValidatedCreatePasswordCallback: AbstractValidatedCallback {
    /// True when the app may show the password while the user types it.
    public var echoOn: Bool { wire.output("echoOn")?.bool ?? false }
}

/// Asks for an attribute of the user.
open class AttributeInputCallback: AbstractValidatedCallback {
    /// The attribute's name on the server.
    public final var name: String { text("name") }
    /// True when the journey does not continue without a value.
    public final var required: Bool { wire.output("required")?.bool ?? false }
}

/// Asks for an attribute that is a string.
public final class StringAttributeInputCallback: AttributeInputCallback {}

/// Asks for an attribute that is a number.
public final class NumberAttributeInputCallback: AttributeInputCallback {}

/// Asks for an attribute that is a Boolean value.
public final class BooleanAttributeInputCallback: AttributeInputCallback {}

/// Asks the user to agree to terms and conditions.
public final class TermsAndConditionsCallback: SingleValueCallback {
    /// The version of the terms.
    public var version: String { text("version") }
    /// The terms.
    public var terms: String { text("terms") }
    /// The date at which this version was created, as the server writes it.
    public var createDate: String { text("createDate") }
}

/// Asks for a security question and its answer.
public final class KbaCreateCallback: MultipleValuesCallback {
    /// The questions that the server offers.
    public var predefinedQuestions: [String] { wire.output("predefinedQuestions")?.array?.compactMap(\.string) ?? [] }
    /// True when the user may write a question. A server that does not say accepts any question.
    public var allowUserDefinedQuestions: Bool { SignetJourney.KbaCreateCallback(wire)?.allowsOwnQuestion ?? false }
    /// Enters the question.
    public func setQuestion(_ question: String) { set("question", question) }
    /// Enters the answer.
    public func setAnswer(_ answer: String) { set("answer", answer) }
}

/// Asks the user for consent to share data.
public final class ConsentMappingCallback: SingleValueCallback {
    /// The name of the mapping.
    public var name: String { text("name") }
    /// The name of the recipient of the data, to show to the user.
    public var displayName: String { text("displayName") }
    /// The URL or the name of an icon.
    public var icon: String { text("icon") }
    /// The amount of data that is shared.
    public var accessLevel: String { text("accessLevel") }
    /// True when the journey does not continue without consent.
    public var isRequired: Bool { wire.output("isRequired")?.bool ?? false }
    /// The question to show, in the user's language.
    public var message: String { text("message") }
    /// The fields that are shared.
    public var fields: [String] { wire.output("fields")?.array?.compactMap(\.string) ?? [] }
}
