public import SignetCore

/// A callback whose value must keep rules that the server has announced.
public protocol ValidatedCallback: TypedCallback {
    /// What was filled in so far.
    var callback: JourneyCallback { get set }
}

extension ValidatedCallback {
    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }
    /// The rules, before anything is entered.
    public var policies: [Policy] { Policy.list(callback.output("policies")) }
    /// The rules that what was entered last did not keep.
    public var failedPolicies: [FailedPolicy] {
        (callback.output("failedPolicies")?.array ?? []).compactMap { FailedPolicy($0) }
    }

    /// Whether the server is only to judge the value, and to come back with the same step: for judging while somebody types.
    public var isValidatedOnly: Bool { (callback.value("validateOnly") ?? callback.output("validateOnly"))?.truth ?? false }

    /// Says whether the server is only to judge the value.
    /// - Throws: ``CallbackError/Code/noSuchInput``, from a server that does not offer it.
    public mutating func validateOnly(_ isOnly: Bool = true) throws(CallbackError) {
        try callback.fill("validateOnly", .bool(isOnly))
    }
}

/// Asks for the user name of a new account.
public struct ValidatedCreateUsernameCallback: ValidatedCallback {
    /// The name on the wire.
    public static let type = "ValidatedCreateUsernameCallback"
    /// The callback, with what was filled in so far.
    public var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The user name.
    public var username: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks for the password of a new account.
public struct ValidatedCreatePasswordCallback: ValidatedCallback {
    /// The name on the wire.
    public static let type = "ValidatedCreatePasswordCallback"
    /// The callback, with what was filled in so far.
    public var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// Whether what is typed may be seen.
    public var echoesInput: Bool { callback.truth("echoOn") }

    /// Enters a password, in UTF-8.
    public mutating func fill(_ password: Secret) {
        callback.set(.string(String(decoding: password.bytes, as: UTF8.self)))
    }

    /// Enters a password.
    public mutating func fill(_ password: String) {
        callback.set(.string(password))
    }
}

/// Asks for a property of a person.
public protocol AttributeInputCallback: ValidatedCallback {}

extension AttributeInputCallback {
    /// The property's name on the server, for example `givenName`.
    public var name: String { callback.text("name") }
    /// Whether there is no way on without it.
    public var isRequired: Bool { callback.truth("required") }
}

/// Asks for a property that is a text.
public struct StringAttributeInputCallback: AttributeInputCallback {
    /// The name on the wire.
    public static let type = "StringAttributeInputCallback"
    /// The callback, with what was filled in so far.
    public var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The text that goes back. In a step of a ``Journey`` it begins as what the server has.
    public var value: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks for a property that is a number.
public struct NumberAttributeInputCallback: AttributeInputCallback {
    /// The name on the wire.
    public static let type = "NumberAttributeInputCallback"
    /// The callback, with what was filled in so far.
    public var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The number that goes back; nil for none. In a step of a ``Journey`` it begins as what the server has.
    public var value: Double? { callback.value()?.double }

    /// Enters a number.
    /// - Throws: ``CallbackError/Code/invalid`` for one that JSON cannot express.
    public mutating func fill(_ value: Double) throws(CallbackError) {
        guard value.isFinite else { throw CallbackError(.invalid, Self.type, "an infinite number, or none, has no form in JSON") }
        callback.set(Int64(exactly: value).map { .integer($0) } ?? .number(value))
    }
}

/// Asks for a property that is yes or no.
public struct BooleanAttributeInputCallback: AttributeInputCallback {
    /// The name on the wire.
    public static let type = "BooleanAttributeInputCallback"
    /// The callback, with what was filled in so far.
    public var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The yes or no that goes back. In a step of a ``Journey`` it begins as what the server has.
    public var value: Bool {
        get { callback.value()?.truth ?? false }
        set { callback.set(.bool(newValue)) }
    }
}

/// Asks for a security question and its answer.
public struct KbaCreateCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "KbaCreateCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "question", "answer") else { return nil }
        self.callback = callback
    }

    /// What to ask, in the person's language.
    public var prompt: String { callback.text("prompt") }
    /// The questions that the server proposes.
    public var predefinedQuestions: [String] { callback.texts("predefinedQuestions") }
    /// Whether another question may be asked. A server that does not say it takes any.
    public var allowsOwnQuestion: Bool { callback.output("allowUserDefinedQuestions")?.truth ?? true }

    /// The question; empty while none is chosen.
    public var question: String { callback.value("question")?.string ?? "" }

    /// Enters a question and its answer.
    /// - Throws: ``CallbackError/Code/notOffered`` for a question of one's own where none is allowed;
    ///   ``CallbackError/Code/invalid`` when one of the two is empty.
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
