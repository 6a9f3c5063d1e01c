import Foundation
import SignetCore
import SignetJourney

/// Asks for a user name.
public class NameCallback: SingleValueCallback {
    override class var needsPrompt: Bool { true }
}

/// Asks for a password, a one-time code, or the answer to a security question.
public class PasswordCallback: SingleValueCallback {
    override class var needsPrompt: Bool { true }
}

/// Asks for a line of text.
public class TextInputCallback: SingleValueCallback {
    override class var needsPrompt: Bool { true }

    /// The text that the server proposes; nil when it proposes none.
    public func getDefaultText() -> String? { output("defaultText")?.string }
}

/// Asks for one of several choices.
public class ChoiceCallback: SingleValueCallback {
    /// The choices that the server offers.
    public var choices: [String] = []
    /// The index of the choice that the server proposes; 0 when the server proposes nothing.
    public var defaultChoice = 0
    override class var needsPrompt: Bool { true }

    /// Reads a callback.
    ///
    /// The proposed choice is filled in.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no prompt, no choices or no input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        let view = SignetJourney.ChoiceCallback(unchecked: received)
        (choices, defaultChoice) = (view.choices, view.defaultChoice ?? 0)
        guard !choices.isEmpty else { throw AuthError.invalidCallbackResponse("Missing choices") }
        value = view.defaultChoice ?? view.selectedIndex ?? 0
    }

    /// Chooses by index, which is a number or a string with a number.
    ///
    /// An index that the server does not offer is ignored, because this method cannot throw in the ForgeRock SDK.
    public override func setValue(_ val: Any?) {
        guard let index = val as? Int ?? (val as? String).flatMap({ Int($0) }), choices.indices.contains(index) else { return }
        super.setValue(index)
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
    /// The server sent another number, or none.
    case unknown
}

/// A button of a standard set.
public enum Option: Int, Sendable {
    /// The button yes.
    case yes = 0
    /// The button no.
    case no = 1
    /// The button cancel.
    case cancel = 2
    /// The button OK.
    case ok = 3
    /// The server sent another number, or none.
    case unknown
}

/// The kind of a message, which decides how the app shows it.
public enum MessageType: Int, Sendable {
    /// Information.
    case information = 0
    /// A warning.
    case warning = 1
    /// An error.
    case error = 2
    /// The server sent another number, or none; 4 is a script for browsers.
    case unknown
}

/// Asks the user to press one of several buttons.
public class ConfirmationCallback: Callback {
    /// The labels of the buttons that the server names; nil when it names none.
    public var options: [String]?
    /// The number of the button that the server proposes; -1 when it proposes none.
    public var defaultOption: Int
    /// The button that the server selected.
    public var option: Option
    /// The standard set of buttons, for a server that names no buttons.
    public var optionType: OptionType
    /// The kind of message that the prompt is.
    public var messageType: MessageType
    /// The name that the server gave the input.
    public var inputName: String?
    /// The prompt to show, in the user's language.
    public var prompt: String?
    /// The number of the button that the user pressed.
    public var value: Any?
    /// The index in the step, which newer servers send.
    public var _id: Int?

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs or no input.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        try callback.require("input", "output")
        let number = { (name: String) -> Int? in
            if case .integer(let number)? = callback.output(name) { Int(exactly: number) } else { nil }
        }
        options = callback.output("options").map { _ in callback.texts("options") }
        defaultOption = number("defaultOption") ?? -1
        option = number("option").flatMap(Option.init) ?? .unknown
        optionType = number("optionType").flatMap(OptionType.init) ?? .unknown
        messageType = number("messageType").flatMap(MessageType.init) ?? .unknown
        prompt = callback.output("prompt")?.string
        inputName = try callback.inputName("")
        value = callback.value()?.untyped
        _id = callback._id
        try super.init(json: json)
    }

    /// Returns the callback with the button that the user pressed.
    public override func buildResponse() -> [String: Any] {
        Self.replacingInputs(of: response) { $0 == inputName ? .some(value) : nil }
    }

    override func enter(_ value: JSONValue, as name: String) { self.value = value.untyped }
}

/// Shows a message to the user.
public class TextOutputCallback: Callback {
    /// The kind of message that the text is.
    public var messageType: MessageType
    /// The text.
    public var message: String

    /// Reads a callback.
    ///
    /// The server writes the number of the kind as a string; a number has the kind ``MessageType/unknown``.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs.
    public required init(json: [String: Any]) throws {
        let view = SignetJourney.TextOutputCallback(unchecked: try JourneyCallback(untyped: json))
        try view.callback.require("output")
        message = view.message
        messageType = view.callback.output("messageType")?.string.flatMap { Int($0) }.flatMap(MessageType.init) ?? .unknown
        try super.init(json: json)
    }

    /// Returns the callback; an empty dictionary for a message of an unknown kind.
    public override func buildResponse() -> [String: Any] { messageType == .unknown ? [:] : response }

    /// The callback itself: the engine leaves scripts out where the server doesn't read them, and OpenAM requires every callback.
    override var sent: [String: Any] { response }
}

/// Says that the journey continues at a link that the server sent by email.
public class SuspendedTextOutputCallback: TextOutputCallback {}

/// Carries a value that the app does not show to the user.
///
/// A value that the app does not change is sent back as it came.
public class HiddenValueCallback: SingleValueCallback {
    /// The identifier that says what the value is for.
    ///
    /// When the server sends no identifier, this is the value that it filled in.
    public var id: String?
    /// True when the answer of a passkey goes into this value.
    public var isWebAuthnOutcome = false
    /// The outcome of a passkey, which arrives later.
    let outcome = LateOutcome()

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        id = received.output("id")?.string ?? received.value()?.string
        isWebAuthnOutcome = id == WebAuthnOutcome.callbackID
    }

    /// Fills in the value.
    public override func setValue(_ val: Any?) {
        outcome.text = nil
        super.setValue(val)
    }

    /// Returns the value that is filled in.
    public override func getValue() -> Any? { outcome.text ?? super.getValue() }

    /// Returns the callback with the value that is filled in.
    public override func buildResponse() -> [String: Any] {
        guard let text = outcome.text else { return super.buildResponse() }
        return Self.replacingInputs(of: response) { $0 == inputName ? .some(text) : nil }
    }

    override func enter(_ value: JSONValue, as name: String) {
        outcome.text = nil
        super.enter(value, as: name)
    }
}

/// Asks the app to continue after a delay.
public class PollingWaitCallback: Callback {
    /// The delay in milliseconds.
    public var waitTime: Int
    /// The message to show during the delay; empty when the server sends none, as OpenAM does.
    public var message: String

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no delay.
    public required init(json: [String: Any]) throws {
        let view = SignetJourney.PollingWaitCallback(unchecked: try JourneyCallback(untyped: json))
        waitTime = max(0, try view.callback.required(view.callback.number("waitTime"), "waitTime"))
        message = view.message
        try super.init(json: json)
    }
}

/// Asks for a reCAPTCHA token, which shows that the user is human.
public class ReCaptchaCallback: Callback {
    /// The name that the server gave the input.
    public var inputName: String?
    /// The token.
    public var value: Any?
    /// The site key.
    public var recaptchaSiteKey: String

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no site key or no input.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        recaptchaSiteKey = try callback.required(callback.optionalText("recaptchaSiteKey"), "recaptchaSiteKey")
        inputName = try callback.inputName("")
        value = callback.value()?.untyped
        try super.init(json: json)
    }

    /// Returns the callback with the token.
    public override func buildResponse() -> [String: Any] {
        Self.replacingInputs(of: response) { $0 == inputName ? .some(value) : nil }
    }

    override func enter(_ value: JSONValue, as name: String) { self.value = value.untyped }
}
