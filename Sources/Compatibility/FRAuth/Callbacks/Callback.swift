public import SignetCore
public import SignetJourney

/// A callback of a ``Node``.
///
/// A callback type that has no class of its own is an instance of this class: the app reads it with ``output(_:)`` and fills it
/// in with ``setInput(_:_:)``.
///
/// Callbacks belong to the task that has the node. They are not Sendable, as in the ForgeRock SDK.
open class Callback {
    /// The type's name in the server's JSON, for example `NameCallback`.
    public final let type: String
    /// The callback in the form that the server sent, with the values that the app filled in so far.
    package final var callback: JourneyCallback

    /// The name endings of the inputs that the callback must have.
    class var inputs: [String] { [] }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback lacks a part that its type needs.
    public required init(_ callback: JourneyCallback) throws {
        guard callback.hasInputs(Self.inputs) else { throw Self.invalid(callback) }
        type = callback.type
        self.callback = callback
    }

    /// Returns the output with a name; nil when the callback lacks it.
    public final func output(_ name: String) -> JSONValue? { callback.output(name) }

    /// Fills in the input that has this name.
    ///
    /// Returns false when the callback lacks it.
    @discardableResult
    public final func setInput(_ name: String, _ value: JSONValue) -> Bool {
        guard let index = callback.input?.firstIndex(where: { $0.name == name }) else { return false }
        callback.input?[index].value = value
        return true
    }

    /// Returns the callback as the app sends it back, in the ForgeRock SDK's form: a dictionary with `type`, `output`, `input`
    /// and `_id`.
    public final func buildResponse() -> [String: Any] { callback.json.dictionary }

    /// Returns the error for a callback that lacks a part.
    final class func invalid(_ callback: JourneyCallback) -> AuthError { .invalidCallbackResponse(callback.description) }
}

/// A callback with one input.
open class SingleValueCallback: Callback {
    /// The name that the server gave the input.
    public final var inputName: String { callback.inputIndex("").flatMap { callback.input?[$0].name } ?? "" }
    /// The prompt to show, in the user's language.
    public final var prompt: String { callback.text("prompt") }
    /// The index in the step, which newer servers send.
    public final var _id: Int? { callback._id }

    override class var inputs: [String] { [""] }

    /// Fills in the input with a string, a number or a Boolean value.
    ///
    /// A value that JSON cannot express is ignored.
    open func setValue(_ value: Any?) {
        if let value = JSONValue(any: value) { callback.set(value) }
    }

    /// Returns the value that is filled in; nil when the input has no value.
    open func getValue() -> Any? { callback.value().flatMap { $0 == .null ? nil : $0.any } }
}

/// A callback with several inputs.
///
/// All inputs are sent back, in the server's order.
open class MultipleValuesCallback: Callback {
    /// The names that the server gave the inputs.
    public final var inputNames: [String] { (callback.input ?? []).map(\.name) }
    /// The values that are filled in, by input name.
    public final var inputValues: [String: Any] {
        Dictionary((callback.input ?? []).map { ($0.name, $0.value.any) }, uniquingKeysWith: { $1 })
    }
    /// The prompt to show, in the user's language.
    public final var prompt: String { callback.text("prompt") }
    /// The index in the step, which newer servers send.
    public final var _id: Int? { callback._id }

    /// Fills in the input with a name that ends in `ending`.
    final func set(_ ending: String, _ value: String) { callback.set(ending, .string(value)) }
}

/// A callback with one input, over a view of the engine, which has the rules for the callback's outputs and input.
public class TypedValueCallback<View: TypedCallback>: SingleValueCallback {
    /// The view.
    final var view: View { View(unchecked: callback) }
    override class var inputs: [String] { View.inputs }
}

/// A callback with several inputs, over a view of the engine, which has the rules for the callback's outputs and inputs.
public class TypedValuesCallback<View: TypedCallback>: MultipleValuesCallback {
    /// The view.
    final var view: View { View(unchecked: callback) }
    override class var inputs: [String] { View.inputs }
}

extension JSONValue {
    /// The members of an object in the types of the ForgeRock SDK; empty for any other value.
    var dictionary: [String: Any] { object?.mapValues(\.any) ?? [:] }
}
