public import SignetCore

/// A callback of a ``Node``. What has no class of its own is one of these: it is shown by ``output(_:)`` and filled in by
/// ``setInput(_:_:)``.
///
/// Callbacks belong to who has the node; they are not Sendable, as the original's are not.
open class Callback {
    /// The name on the wire, for example `NameCallback`.
    public final let type: String
    /// The callback, with what was filled in so far.
    package final var wire: JourneyCallback

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it lacks what its type cannot do without.
    public required init(_ callback: JourneyCallback) throws {
        type = callback.type
        wire = callback
    }

    /// What the server says under a name.
    public final func output(_ name: String) -> JSONValue? { wire.output(name) }

    /// Fills in an input by the name that the server gave it. Returns false when there is none of that name.
    @discardableResult
    public final func setInput(_ name: String, _ value: JSONValue) -> Bool {
        guard let index = wire.input?.firstIndex(where: { $0.name == name }) else { return false }
        wire.input?[index].value = value
        return true
    }

    /// The callback as it goes back, as the original has it: a dictionary with `type`, `output`, `input` and `_id`.
    public final func buildResponse() -> [String: Any] { LegacyJSON.dictionary(wire.json) }

    /// An output that is a text; empty when there is none.
    final func text(_ name: String) -> String { wire.output(name)?.string ?? "" }

    /// The error for what is missing.
    final class func invalid(_ callback: JourneyCallback) -> AuthError { .invalidCallbackResponse(callback.description) }
}

/// JSON in the original's types.
enum LegacyJSON {
    static func dictionary(_ json: JSONValue) -> [String: Any] { json.object?.mapValues(any) ?? [:] }

    static func any(_ json: JSONValue) -> Any {
        switch json {
        case .null: Optional<Any>.none as Any
        case .bool(let value): value
        case .integer(let value): Int(clamping: value)
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(any)
        case .object(let members): members.mapValues(any)
        }
    }

    /// The value of an input; nil for what has no form on the wire.
    static func value(_ any: Any?) -> JSONValue? {
        switch any {
        case nil: .null
        case let value as JSONValue: value
        case let value as String: .string(value)
        case let value as Bool: .bool(value)
        case let value as Int: .integer(Int64(value))
        case let value as Double: Int64(exactly: value).map { .integer($0) } ?? (value.isFinite ? .number(value) : nil)
        default: nil
        }
    }
}

/// A callback with one input.
open class SingleValueCallback: Callback {
    /// The name that the server gave the input.
    public final var inputName: String { wire.inputIndex("").flatMap { wire.input?[$0].name } ?? "" }
    /// What to ask, in the person's language.
    public final var prompt: String { text("prompt") }
    /// The position in the step, as newer servers number it.
    public final var _id: Int? { wire._id }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it has no input.
    public required init(_ callback: JourneyCallback) throws {
        try super.init(callback)
        guard callback.inputIndex("") != nil else { throw Self.invalid(callback) }
    }

    /// Fills in the input: a text, a number, a truth value. What has no form in JSON is passed over.
    open func setValue(_ value: Any?) {
        guard let value = LegacyJSON.value(value) else { return }
        setInput(inputName, value)
    }

    /// What is filled in.
    open func getValue() -> Any? {
        guard let index = wire.inputIndex(""), let value = wire.input?[index].value, value != .null else { return nil }
        return LegacyJSON.any(value)
    }
}

/// A callback with several inputs. Every one of them goes back, in the server's order.
open class MultipleValuesCallback: Callback {
    /// The names that the server gave the inputs.
    public final var inputNames: [String] { (wire.input ?? []).map(\.name) }
    /// What is filled in, by name.
    public final var inputValues: [String: Any] {
        Dictionary((wire.input ?? []).map { ($0.name, LegacyJSON.any($0.value)) }, uniquingKeysWith: { $1 })
    }
    /// What to ask, in the person's language.
    public final var prompt: String { text("prompt") }
    /// The position in the step, as newer servers number it.
    public final var _id: Int? { wire._id }

    /// Fills in the input with this ending.
    final func set(_ ending: String, _ value: String) {
        guard let index = wire.inputIndex(ending) else { return }
        wire.input?[index].value = .string(value)
    }
}
