public import SignetCore

/// A callback for a value that must satisfy policies that the server announces.
public protocol ValidatedCallback: TypedCallback {
    /// The underlying callback, including the values that were filled in.
    var callback: JourneyCallback { get set }
}

extension ValidatedCallback {
    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }
    /// The policies that the server announces for the value.
    public var policies: [Policy] { Policy.list(callback.output("policies")) }
    /// The policy requirements that the last entered value violated.
    public var failedPolicies: [FailedPolicy] {
        (callback.output("failedPolicies")?.array ?? []).compactMap { FailedPolicy($0) }
    }

    /// True when the server must only validate the value and return the same step, for validation while the user types.
    public var isValidatedOnly: Bool { (callback.value("validateOnly") ?? callback.output("validateOnly"))?.lenientBool ?? false }

    /// Sets whether the server only validates the value.
    /// - Throws: ``CallbackError/Code/noSuchInput`` when the server doesn't support this.
    public mutating func validateOnly(_ isOnly: Bool = true) throws(CallbackError) {
        try callback.fill("validateOnly", .bool(isOnly))
    }
}

/// A callback that asks for the user name of a new account.
public struct ValidatedCreateUsernameCallback: ValidatedCallback {
    /// The callback type in the protocol.
    public static let type = "ValidatedCreateUsernameCallback"
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The user name.
    public var username: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for the password of a new account.
public struct ValidatedCreatePasswordCallback: ValidatedCallback {
    /// The callback type in the protocol.
    public static let type = "ValidatedCreatePasswordCallback"
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// True when the password may be visible while the user types.
    public var echoesInput: Bool { callback.bool("echoOn") }

    /// Enters a password, which is UTF-8 text.
    public mutating func fill(_ password: Secret) {
        callback.set(.string(String(decoding: password.bytes, as: UTF8.self)))
    }

    /// Enters a password.
    public mutating func fill(_ password: String) {
        callback.set(.string(password))
    }
}

/// A callback that asks for a property of the user.
public protocol AttributeInputCallback: ValidatedCallback {}

extension AttributeInputCallback {
    /// The name of the property on the server, for example `givenName`.
    public var name: String { callback.text("name") }
    /// True when the journey can't continue without a value.
    public var isRequired: Bool { callback.bool("required") }
}

/// A callback that asks for a user property of type string.
public struct StringAttributeInputCallback: AttributeInputCallback {
    /// The callback type in the protocol.
    public static let type = "StringAttributeInputCallback"
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The text to send.
    ///
    /// In a step of a ``Journey``, the initial value is the server's current value.
    public var value: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a user property of type number.
public struct NumberAttributeInputCallback: AttributeInputCallback {
    /// The callback type in the protocol.
    public static let type = "NumberAttributeInputCallback"
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The number to send; nil when no number is set.
    ///
    /// In a step of a ``Journey``, the initial value is the server's current value.
    public var value: Double? { callback.value()?.double }

    /// Enters a number.
    /// - Throws: ``CallbackError/Code/invalid`` for a number that JSON can't express.
    public mutating func fill(_ value: Double) throws(CallbackError) {
        guard value.isFinite else { throw CallbackError(.invalid, Self.type, "JSON cannot represent an infinite number or NaN") }
        callback.set(Int64(exactly: value).map { .integer($0) } ?? .number(value))
    }
}

/// A callback that asks for a user property of type Boolean.
public struct BooleanAttributeInputCallback: AttributeInputCallback {
    /// The callback type in the protocol.
    public static let type = "BooleanAttributeInputCallback"
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The Boolean value to send.
    ///
    /// In a step of a ``Journey``, the initial value is the server's current value.
    public var value: Bool {
        get { callback.value()?.lenientBool ?? false }
        set { callback.set(.bool(newValue)) }
    }
}

/// A callback that asks the user to set a security question and its answer.
public struct KbaCreateCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "KbaCreateCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["question", "answer"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The prompt, in the user's language.
    public var prompt: String { callback.text("prompt") }
    /// The questions that the server proposes.
    public var predefinedQuestions: [String] { callback.texts("predefinedQuestions") }
    /// True when the user may enter their own question.
    ///
    /// A server that doesn't send this output accepts any question.
    public var allowsOwnQuestion: Bool { callback.output("allowUserDefinedQuestions")?.lenientBool ?? true }

    /// The question; empty while none is entered.
    public var question: String { callback.value("question")?.string ?? "" }

    /// Enters a question and its answer.
    /// - Throws: ``CallbackError/Code/notOffered`` for a question that the server doesn't propose, when it allows only proposed
    ///   questions; ``CallbackError/Code/invalid`` when the question or the answer is empty.
    public mutating func fill(question: String, answer: String) throws(CallbackError) {
        guard !question.trimmingWhitespace().isEmpty, !answer.trimmingWhitespace().isEmpty else {
            throw CallbackError(.invalid, Self.type, "a question and an answer are needed")
        }
        guard allowsOwnQuestion || predefinedQuestions.contains(question) else {
            throw CallbackError(.notOffered, Self.type, "the question must be one of those that are proposed")
        }
        callback.set("question", .string(question))
        callback.set("answer", .string(answer))
    }
}
