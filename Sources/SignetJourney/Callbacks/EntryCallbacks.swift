public import SignetCore

/// Asks for a user name.
public struct NameCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "NameCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }

    /// The user name; what the server had filled in before.
    public var name: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks for a password, for a one-time code, or for the answer to a security question, which is the prompt then.
public struct PasswordCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "PasswordCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }

    /// Whether something was entered.
    public var isFilled: Bool { callback.value()?.string?.isEmpty == false }

    /// Enters a password, in UTF-8.
    public mutating func fill(_ password: Secret) {
        callback.set(.string(String(decoding: password.bytes, as: UTF8.self)))
    }

    /// Enters a password.
    public mutating func fill(_ password: String) {
        callback.set(.string(password))
    }
}

/// Asks for a line of text.
public struct TextInputCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "TextInputCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }
    /// What the server proposes.
    public var defaultText: String { callback.text("defaultText") }

    /// The text that goes back. In a step of a ``Journey`` it begins as what is proposed.
    public var text: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks for one of several choices.
public struct ChoiceCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "ChoiceCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }
    /// What can be chosen.
    public var choices: [String] { callback.texts("choices") }
    /// The position of the choice that is proposed; nil when none is.
    public var defaultChoice: Int? { callback.number("defaultChoice").flatMap { choices.indices.contains($0) ? $0 : nil } }
    /// The position of the choice that goes back; nil while none is chosen. In a step of a ``Journey`` it begins as what is proposed.
    public var selectedIndex: Int? {
        callback.value()?.wholeNumber.flatMap { Int(exactly: $0) }.flatMap { choices.indices.contains($0) ? $0 : nil }
    }

    /// Chooses by position, from 0.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ index: Int) throws(CallbackError) {
        guard choices.indices.contains(index) else {
            throw CallbackError(.notOffered, Self.type, "there are \(choices.count) choices, and none at position \(index)")
        }
        callback.set(.integer(Int64(index)))
    }

    /// Chooses by name.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ choice: String) throws(CallbackError) {
        guard let index = choices.firstIndex(of: choice) else {
            throw CallbackError(.notOffered, Self.type, "there is no such choice")
        }
        try select(index)
    }
}

/// Asks to press one of several buttons.
public struct ConfirmationCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "ConfirmationCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// What to say beside the buttons, in the person's language.
    public var prompt: String { callback.text("prompt") }
    /// How to say it.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
    /// The position of the button that is proposed; nil when none is.
    public var defaultOption: Int? { callback.number("defaultOption").flatMap { allowed.firstIndex(of: $0) } }
    /// The buttons: those that the server names, or the usual ones of its `optionType`.
    public var options: [String] {
        let named = callback.texts("options")
        return named.isEmpty ? usual.map(\.label) : named
    }

    /// The number that the server is told for a button, by the button's position: with buttons of its own the position, with the
    /// usual ones the number that Java has for them.
    private var allowed: [Int] {
        let named = callback.texts("options")
        return named.isEmpty ? usual.map(\.number) : Array(named.indices)
    }

    private var usual: [(label: String, number: Int)] {
        let (yes, no, cancel, ok) = (("Yes", 0), ("No", 1), ("Cancel", 2), ("OK", 3))
        return switch callback.number("optionType") {
        case 0: [yes, no]
        case 1: [yes, no, cancel]
        case 2: [ok, cancel]
        default: []
        }
    }

    /// The position of the button that was pressed; nil while none was. Servers fill in 100 for none; one that fills in 0 cannot be
    /// told from one that pressed the first.
    public var selectedIndex: Int? {
        callback.value()?.wholeNumber.flatMap { Int(exactly: $0) }.flatMap { allowed.firstIndex(of: $0) }
    }

    /// Presses a button by its position, from 0.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ index: Int) throws(CallbackError) {
        guard allowed.indices.contains(index) else {
            throw CallbackError(.notOffered, Self.type, "there are \(allowed.count) buttons, and none at position \(index)")
        }
        callback.set(.integer(Int64(allowed[index])))
    }

    /// Presses a button by its name.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ option: String) throws(CallbackError) {
        guard let index = options.firstIndex(of: option) else {
            throw CallbackError(.notOffered, Self.type, "there is no such button")
        }
        try select(index)
    }
}

/// How a text is meant to look.
public enum MessageType: Sendable, Hashable {
    /// It tells.
    case information
    /// It warns.
    case warning
    /// Something went wrong.
    case error
    /// It is JavaScript for a browser, and not for people.
    case script
    /// Another number than those above, or none.
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

/// Asks which language to speak; OpenAM does.
public struct LanguageCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "LanguageCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "Language") else { return nil }
        self.callback = callback
    }

    /// The language, for example `en` (ISO 639).
    public var language: String {
        get { callback.value("Language")?.string ?? "" }
        set { callback.set("Language", .string(newValue)) }
    }

    /// The country, for example `CH` (ISO 3166); empty for none.
    public var country: String {
        get { callback.value("Country")?.string ?? "" }
        set { callback.set("Country", .string(newValue)) }
    }
}
