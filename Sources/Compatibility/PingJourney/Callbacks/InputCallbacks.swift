import SignetCore
import SignetJourney

/// A callback that asks for a user name.
public final class NameCallback: AbstractCallback {
    private var view: SignetJourney.NameCallback { .init(unchecked: callback) }
    /// The prompt, in the user's language.
    public var prompt: String { view.prompt }
    /// The user name.
    public var name: String {
        get { view.name }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a password or a one-time code.
public final class PasswordCallback: AbstractCallback {
    /// The prompt, in the user's language.
    public var prompt: String { SignetJourney.PasswordCallback(unchecked: callback).prompt }
    /// The password.
    public var password: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a line of text.
public final class TextInputCallback: AbstractCallback {
    private var view: SignetJourney.TextInputCallback { .init(unchecked: callback) }
    /// The prompt, in the user's language.
    public var prompt: String { view.prompt }
    /// The text that the server proposes.
    public var defaultText: String { view.defaultText }
    /// The text, at first ``defaultText``.
    public var text: String {
        get { view.text }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks the user to select one of several choices.
public final class ChoiceCallback: AbstractCallback {
    private var view: SignetJourney.ChoiceCallback { .init(unchecked: callback) }
    /// The prompt, in the user's language.
    public var prompt: String { view.prompt }
    /// The choices.
    public var choices: [String] { view.choices }
    /// The index of the choice that the server proposes.
    public var defaultChoice: Int { callback.number("defaultChoice") ?? 0 }
    /// The index of the selected choice, at first ``defaultChoice``.
    public var selectedIndex: Int {
        get { callback.value()?.lenientInteger.map { Int(clamping: $0) } ?? 0 }
        set { callback.set(.integer(Int64(newValue))) }
    }
}

/// The kind of buttons of a ``ConfirmationCallback``.
public enum OptionType: Int, Sendable {
    /// The server names the buttons.
    case unspecified = -1
    /// Yes and no.
    case yesNo = 0
    /// Yes, no and cancel.
    case yesNoCancel = 1
    /// OK and cancel.
    case okCancel = 2
    /// Another number, or none.
    case unknown
}

/// A callback that asks the user to press one of several buttons.
public final class ConfirmationCallback: AbstractCallback {
    /// The text to show beside the buttons, in the user's language.
    public var prompt: String { SignetJourney.ConfirmationCallback(unchecked: callback).prompt }
    /// The labels of the buttons that the server names.
    public var options: [String] { callback.texts("options") }
    /// The proposed button.
    public var defaultOption: OptionType { callback.number("defaultOption").flatMap(OptionType.init(rawValue:)) ?? .unspecified }
    /// The kind of the buttons.
    public var optionType: OptionType { callback.number("optionType").flatMap(OptionType.init(rawValue:)) ?? .unknown }
    /// The kind of the message.
    public var messageType: MessageType { MessageType(callback) }
    private var selected: Int?
    /// The number of the pressed button; nil while no button is pressed, which sends the value of the server.
    public var selectedIndex: Int? {
        get { selected }
        set {
            selected = newValue
            if let newValue { callback.set(.integer(Int64(newValue))) }
        }
    }
}

/// A callback with a value that isn't shown to the user.
public final class HiddenValueCallback: AbstractCallback, ValueCallbackProtocol {
    private var view: SignetJourney.HiddenValueCallback { .init(unchecked: callback) }
    private var givenID: String?
    /// The identifier of the value.
    public var valueId: String {
        get { givenID ?? view.id }
        set { givenID = newValue }
    }
    /// The value, at first that of the server.
    public var value: String {
        get { view.value }
        set { callback.set(.string(newValue)) }
    }

    /// Reads a callback of the server.
    public override func initialize(with json: [String: Any]) -> any Callback {
        _ = super.initialize(with: json)
        let id = valueId
        value = view.sentValue
        valueId = id
        return self
    }

    /// Sets the value.
    public func setValue(_ value: String) { self.value = value }
}

/// A callback that asks the user to set a security question and its answer.
public final class KbaCreateCallback: AbstractCallback {
    private var view: SignetJourney.KbaCreateCallback { .init(unchecked: callback) }
    /// The prompt, in the user's language.
    public var prompt: String { view.prompt }
    /// The questions that the server proposes.
    public var predefinedQuestions: [String] { view.predefinedQuestions }
    /// True when the user may enter a question.
    public var allowUserDefinedQuestions: Bool { callback.bool("allowUserDefinedQuestions") }
    /// The question.
    public var selectedQuestion: String {
        get { view.question }
        set { callback.set("question", .string(newValue)) }
    }
    /// The answer.
    public var selectedAnswer: String {
        get { callback.value("answer")?.string ?? "" }
        set { callback.set("answer", .string(newValue)) }
    }
}

/// A callback that asks the user to accept terms.
public final class TermsAndConditionsCallback: AbstractCallback {
    private var view: SignetJourney.TermsAndConditionsCallback { .init(unchecked: callback) }
    /// The version of the terms.
    public var version: String { view.version }
    /// The time at which the terms were created.
    public var createDate: String { view.createDate }
    /// The terms.
    public var terms: String { view.terms }
    /// True when the user accepts the terms.
    public var accepted: Bool {
        get { view.isAccepted }
        set { callback.set(.bool(newValue)) }
    }

    /// Returns the callback as it is sent, with an answer in any case.
    public override func payload() -> [String: Any] { input(accepted) }
}

/// A callback that asks the user for consent to share data.
public final class ConsentMappingCallback: AbstractCallback {
    private var view: SignetJourney.ConsentMappingCallback { .init(unchecked: callback) }
    /// The name of the mapping.
    public var name: String { view.name }
    /// The name of the recipient, for display.
    public var displayName: String { view.displayName }
    /// The address of the recipient's icon.
    public var icon: String { view.icon }
    /// The level of access.
    public var accessLevel: String { view.accessLevel }
    /// True when the journey can't continue without consent.
    public var isRequired: Bool { view.isRequired }
    /// The names of the shared properties.
    public var fields: [String] { view.fields }
    /// The message, in the user's language.
    public var message: String { view.message }
    /// True when the user consents.
    public var accepted: Bool {
        get { view.isAccepted }
        set { callback.set(.bool(newValue)) }
    }

    /// Returns the callback as it is sent, with an answer in any case.
    public override func payload() -> [String: Any] { input(accepted) }
}
