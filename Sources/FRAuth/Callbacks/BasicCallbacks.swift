import SignetCore
public import SignetJourney

/// Asks for a user name.
public final class NameCallback: SingleValueCallback {}

/// Asks for a password, a one-time code, or the answer to a security question.
public final class PasswordCallback: SingleValueCallback {}

/// Asks for a line of text.
public final class TextInputCallback: SingleValueCallback {
    /// What is proposed.
    public func getDefaultText() -> String { text("defaultText") }
}

/// Asks for one of several choices.
public final class ChoiceCallback: SingleValueCallback {
    /// What can be chosen.
    public var choices: [String] { wire.output("choices")?.array?.compactMap(\.string) ?? [] }
    /// The position of what is proposed.
    public var defaultChoice: Int { wire.output("defaultChoice")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 0 }

    /// Chooses by position, as a number or a text that spells one. What is not offered is passed over: the original has no way to
    /// refuse here.
    public override func setValue(_ value: Any?) {
        guard let position = value as? Int ?? (value as? String).flatMap({ Int($0) }), choices.indices.contains(position) else {
            return
        }
        super.setValue(position)
    }
}

/// The buttons that a server means when it names none.
public enum OptionType: Int, Sendable {
    /// None.
    case unspecifiedOption = -1
    /// Yes and no.
    case yesNoOption = 0
    /// Yes, no and cancel.
    case yesNoCancelOption = 1
    /// OK and cancel.
    case okCancelOption = 2
    /// Another number.
    case unknown = -2
}

/// How a text is meant to look.
public enum MessageType: Int, Sendable {
    /// It tells.
    case information = 0
    /// It warns.
    case warning = 1
    /// Something went wrong.
    case error = 2
    /// It is a script for browsers.
    case script = 4
    /// Another number.
    case unknown = -1
}

/// Asks to press one of several buttons.
public final class ConfirmationCallback: SingleValueCallback {
    /// The buttons that the server names.
    public var options: [String]? { wire.output("options")?.array?.compactMap(\.string) }
    /// The buttons that it means when it names none.
    public var optionType: OptionType { number("optionType").flatMap(OptionType.init) ?? .unknown }
    /// The number of the button that is proposed.
    public var defaultOption: Int? { number("defaultOption") }
    /// The number of a button that the server has pressed.
    public var option: Int? { number("option") }
    /// How to show the prompt.
    public var messageType: MessageType { number("messageType").flatMap(MessageType.init) ?? .unknown }
    /// The number of the button that was pressed, as the original has it.
    public var value: Any? {
        get { getValue() }
        set { setValue(newValue) }
    }

    private func number(_ name: String) -> Int? { wire.output(name)?.wholeNumber.flatMap { Int(exactly: $0) } }
}

/// Tells something.
public class TextOutputCallback: Callback {
    /// The text.
    public final var message: String { text("message") }
    /// How to show it.
    public final var messageType: MessageType {
        wire.output("messageType")?.wholeNumber.flatMap { Int(exactly: $0) }.flatMap(MessageType.init) ?? .unknown
    }
}

/// Tells that the journey goes on at a link that was sent by e-mail.
public final class SuspendedTextOutputCallback: TextOutputCallback {}

/// Carries a value that people do not see.
public final class HiddenValueCallback: SingleValueCallback {
    /// What the value is.
    public var id: String? { wire.output("id")?.string ?? getValue() as? String }
    /// Whether the answer of a passkey goes here.
    public var isWebAuthnOutcome: Bool { id == "webAuthnOutcome" }
}

/// Asks to come back after a while.
public final class PollingWaitCallback: Callback {
    /// How many milliseconds to wait.
    public var waitTime: Int { max(0, wire.output("waitTime")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 0) }
    /// What to show meanwhile.
    public var message: String { text("message") }
}

/// Carries data for the app.
public class MetadataCallback: Callback {
    /// The data.
    public final var data: [String: Any] { wire.output("data").map(LegacyJSON.dictionary) ?? [:] }
}

/// A callback whose value must keep rules that the server has announced.
open class AbstractValidatedCallback: SingleValueCallback {
    /// The rules, as the server writes them.
    public final var policies: [String: Any]? { wire.output("policies")?.object.map { LegacyJSON.dictionary(.object($0)) } }
    /// The rules that what was entered last did not keep.
    public final var failedPolicies: [SignetJourney.FailedPolicy]? {
        wire.output("failedPolicies")?.array?.compactMap { SignetJourney.FailedPolicy($0) }
    }
    /// Whether the server is only to judge the value.
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
    /// Whether what is typed may be seen.
    public var echoOn: Bool { wire.output("echoOn")?.bool ?? false }
}

/// Asks for a property of a person.
open class AttributeInputCallback: AbstractValidatedCallback {
    /// The property's name on the server.
    public final var name: String { text("name") }
    /// Whether there is no way on without it.
    public final var required: Bool { wire.output("required")?.bool ?? false }
}

/// Asks for a property that is a text.
public final class StringAttributeInputCallback: AttributeInputCallback {}

/// Asks for a property that is a number.
public final class NumberAttributeInputCallback: AttributeInputCallback {}

/// Asks for a property that is yes or no.
public final class BooleanAttributeInputCallback: AttributeInputCallback {}

/// Asks to agree to terms.
public final class TermsAndConditionsCallback: SingleValueCallback {
    /// The version of the terms.
    public var version: String { text("version") }
    /// The terms.
    public var terms: String { text("terms") }
    /// When this version was made.
    public var createDate: String { text("createDate") }
}

/// Asks for a security question and its answer.
public final class KbaCreateCallback: MultipleValuesCallback {
    /// The questions that the server proposes.
    public var predefinedQuestions: [String] { wire.output("predefinedQuestions")?.array?.compactMap(\.string) ?? [] }
    /// Whether a question of the person's own is taken. A server that does not say it takes any.
    public var allowUserDefinedQuestions: Bool { SignetJourney.KbaCreateCallback(wire)?.allowsOwnQuestion ?? false }
    /// Enters the question.
    public func setQuestion(_ question: String) { set("question", question) }
    /// Enters the answer.
    public func setAnswer(_ answer: String) { set("answer", answer) }
}

/// Asks for consent to hand data on.
public final class ConsentMappingCallback: SingleValueCallback {
    /// The mapping's name.
    public var name: String { text("name") }
    /// Who gets the data, for people.
    public var displayName: String { text("displayName") }
    /// The address or the name of a picture.
    public var icon: String { text("icon") }
    /// How much is handed on.
    public var accessLevel: String { text("accessLevel") }
    /// Whether there is no way on without consent.
    public var isRequired: Bool { wire.output("isRequired")?.bool ?? false }
    /// What to ask, in the person's language.
    public var message: String { text("message") }
    /// What is handed on.
    public var fields: [String] { wire.output("fields")?.array?.compactMap(\.string) ?? [] }
}
