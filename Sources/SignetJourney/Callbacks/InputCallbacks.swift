public import SignetCore

/// A callback that asks for a user name.
public struct NameCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "NameCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }

    /// The user name.
    ///
    /// The server may have filled in an initial value.
    public var name: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a password, a one-time code, or the answer to a security question.
///
/// For a security question, the prompt is the question.
public struct PasswordCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "PasswordCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }

    /// True when the input contains a password.
    public var isFilled: Bool { callback.value()?.string?.isEmpty == false }

    /// Enters a password, which is UTF-8 text.
    public mutating func fill(_ password: Secret) {
        callback.set(.string(String(decoding: password.bytes, as: UTF8.self)))
    }

    /// Enters a password.
    public mutating func fill(_ password: String) {
        callback.set(.string(password))
    }
}

/// A callback that asks for a line of text.
public struct TextInputCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "TextInputCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }
    /// The text that the server proposes.
    public var defaultText: String { callback.text("defaultText") }

    /// The text to send.
    ///
    /// In a step of a ``Journey``, the initial value is ``defaultText``.
    public var text: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks the user to select one of several choices.
public struct ChoiceCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "ChoiceCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }
    /// The available choices.
    public var choices: [String] { callback.texts("choices") }
    /// The index of the proposed choice; nil when the server proposes none.
    public var defaultChoice: Int? { callback.number("defaultChoice").flatMap { choices.indices.contains($0) ? $0 : nil } }
    /// The index of the selected choice; nil while no choice is selected.
    ///
    /// In a step of a ``Journey``, the initial value is ``defaultChoice``.
    public var selectedIndex: Int? {
        callback.value()?.lenientInteger.flatMap { Int(exactly: $0) }.flatMap { choices.indices.contains($0) ? $0 : nil }
    }

    /// Selects a choice by its index, from 0.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ index: Int) throws(CallbackError) {
        guard choices.indices.contains(index) else {
            throw CallbackError(.notOffered, Self.type, "there are \(choices.count) choices, and none at position \(index)")
        }
        callback.set(.integer(Int64(index)))
    }

    /// Selects a choice by its name.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ choice: String) throws(CallbackError) {
        guard let index = choices.firstIndex(of: choice) else {
            throw CallbackError(.notOffered, Self.type, "there is no such choice")
        }
        try select(index)
    }
}

/// A callback that asks the user to press one of several buttons.
public struct ConfirmationCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "ConfirmationCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The text to show beside the buttons, in the user's language.
    public var prompt: String { callback.text("prompt") }
    /// The kind of the message.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
    /// The index of the proposed button; nil when the server proposes none.
    public var defaultOption: Int? { callback.number("defaultOption").flatMap { allowed.firstIndex(of: $0) } }
    /// The labels of the buttons: the ones that the server sends, or the default ones of its `optionType`.
    public var options: [String] {
        let named = callback.texts("options")
        return named.isEmpty ? defaultOptions.map(\.label) : named
    }

    /// The numbers that the server expects for the buttons, in the order of ``options``.
    ///
    /// For buttons that the server names, the number is the index. For the buttons of an `optionType`, it is the number that Java
    /// assigns to them.
    private var allowed: [Int] {
        let named = callback.texts("options")
        return named.isEmpty ? defaultOptions.map(\.number) : Array(named.indices)
    }

    private var defaultOptions: [(label: String, number: Int)] {
        let (yes, no, cancel, ok) = (("Yes", 0), ("No", 1), ("Cancel", 2), ("OK", 3))
        return switch callback.number("optionType") {
        case 0: [yes, no]
        case 1: [yes, no, cancel]
        case 2: [ok, cancel]
        default: []
        }
    }

    /// The index of the pressed button; nil while no button is pressed.
    ///
    /// Servers fill in 100 to indicate that no button is pressed. When a server fills in 0 instead, the value also means that the
    /// first button is pressed.
    public var selectedIndex: Int? {
        callback.value()?.lenientInteger.flatMap { Int(exactly: $0) }.flatMap { allowed.firstIndex(of: $0) }
    }

    /// Presses a button by its index, from 0.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ index: Int) throws(CallbackError) {
        guard allowed.indices.contains(index) else {
            throw CallbackError(.notOffered, Self.type, "there are \(allowed.count) buttons, and none at position \(index)")
        }
        callback.set(.integer(Int64(allowed[index])))
    }

    /// Presses a button by its label.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ option: String) throws(CallbackError) {
        guard let index = options.firstIndex(of: option) else {
            throw CallbackError(.notOffered, Self.type, "there is no such button")
        }
        try select(index)
    }
}

/// The kind of a message, which determines its presentation.
public enum MessageType: Sendable, Hashable {
    /// An informational message.
    case information
    /// A warning.
    case warning
    /// An error message.
    case error
    /// JavaScript for a browser, which must not be shown to the user.
    case script
    /// An unknown number, or no number.
    case unknown

    init(number: Int?) {
        self =
            switch number {
            case 0: .information
            case 1: .warning
            case 2: .error
            case 4: .script
            default: .unknown
            }
    }
}

/// A callback that asks for the user's language.
///
/// OpenAM sends it.
public struct LanguageCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "LanguageCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["Language"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The language, for example `en` (ISO 639).
    public var language: String {
        get { callback.value("Language")?.string ?? "" }
        set { callback.set("Language", .string(newValue)) }
    }

    /// The country, for example `CH` (ISO 3166); empty when none is set.
    public var country: String {
        get { callback.value("Country")?.string ?? "" }
        set { callback.set("Country", .string(newValue)) }
    }
}
