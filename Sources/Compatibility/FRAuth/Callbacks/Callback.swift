public import Foundation
public import SignetCore
import SignetJourney

/// A callback of a ``Node``.
///
/// A callback type without a registered class is an instance of this class: the app reads it with ``output(_:)`` and fills it in
/// with ``setInput(_:_:)``. A class of an app reads the server's JSON in ``init(json:)`` and returns the answer from
/// ``buildResponse()``; ``CallbackFactory/registerCallback(callbackType:callbackClass:)`` registers it.
///
/// Callbacks belong to the task that has the node. They are not Sendable, as in the ForgeRock SDK.
open class Callback: NSObject {
    /// The type's name in the server's JSON, for example `NameCallback`.
    open var type: String = ""
    /// The callback in the form that the server sent.
    open var response: [String: Any] = [:]

    /// Reads a callback.
    /// - Parameter json: The callback as the server sent it; an empty dictionary for a class that sets ``response`` and ``type``.
    /// - Throws: A class throws ``AuthError/invalidCallbackResponse(_:)`` when the callback lacks a part that it needs.
    public required init(json: [String: Any]) throws {
        response = json
        type = json["type"] as? String ?? ""
        super.init()
    }

    /// Returns the callback as the app sends it back: a dictionary with `type`, `output`, `input` and `_id`.
    ///
    /// An empty dictionary leaves the callback out of the answer.
    open func buildResponse() -> [String: Any] { response }

    /// Returns the output with a name; nil when the callback lacks it.
    public final func output(_ name: String) -> JSONValue? { (try? JourneyCallback(untyped: response))?.output(name) }

    /// Fills in the input that has this name.
    ///
    /// Returns false when the callback lacks it.
    @discardableResult
    public final func setInput(_ name: String, _ value: JSONValue) -> Bool {
        guard (response["input"] as? [[String: Any]])?.contains(where: { $0["name"] as? String == name }) == true else {
            return false
        }
        enter(value, as: name)
        return true
    }

    /// The callback as it is sent, which by default is ``buildResponse()``.
    var sent: [String: Any] { buildResponse() }

    /// Fills in an input that exists.
    func enter(_ value: JSONValue, as name: String) { replaceInputs { $0 == name ? .some(value.any) : nil } }

    /// Replaces the values of the inputs for which `value` returns one.
    final func replaceInputs(_ value: (String) -> Any??) {
        response = Self.replacingInputs(of: response, value)
    }

    /// Returns a callback with other values of the inputs for which `value` returns one; `.some(nil)` removes the value.
    final class func replacingInputs(of response: [String: Any], _ value: (String) -> Any??) -> [String: Any] {
        guard var inputs = response["input"] as? [[String: Any]] else { return response }
        for index in inputs.indices {
            guard let name = inputs[index]["name"] as? String, let value = value(name) else { continue }
            inputs[index]["value"] = value
        }
        var response = response
        response["input"] = inputs
        return response
    }

    /// Returns the callback of the engine, with the values that the app filled in; nil when it is left out of the answer.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when a class of the app returned something else than a callback.
    final func filled() throws(AuthError) -> JourneyCallback? {
        let sent = sent
        return sent.isEmpty ? nil : try JourneyCallback(untyped: sent)
    }

    /// Enters what the engine changed in the inputs.
    final func take(_ changed: JourneyCallback, after former: JourneyCallback) {
        for (new, old) in zip(changed.input ?? [], former.input ?? []) where new.value != old.value {
            enter(new.value, as: new.name)
        }
    }
}

/// A callback with one input.
open class SingleValueCallback: Callback {
    /// The name that the server gave the input.
    public final var inputName: String?
    /// The prompt to show, in the user's language; nil when the server sends none.
    public final var prompt: String?
    /// The index in the step, which newer servers send.
    public final var _id: Int?
    /// The engine's callback, as the server sent it.
    final let received: JourneyCallback
    /// The value to send.
    final var value: Any?
    /// True when the app entered a value, which may be nil.
    private final var isEntered = false

    /// True for a class that refuses a callback without a prompt.
    class var needsPrompt: Bool { false }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no type or no input, or no prompt in a class that
    ///   needs one: ``NameCallback``, ``PasswordCallback``, ``TextInputCallback`` and ``ChoiceCallback``.
    public required init(json: [String: Any]) throws {
        received = try JourneyCallback(untyped: json)
        inputName = try received.inputName("")
        prompt = received.output("prompt")?.string
        _id = received._id
        try super.init(json: json)
        value = adapted(received.value()?.untyped)
        if Self.needsPrompt { _ = try received.required(prompt, "prompt") }
    }

    /// Fills in the input with a string, a number or a Boolean value.
    ///
    /// Nil removes the value. A value that JSON cannot express is ignored.
    open func setValue(_ val: Any?) {
        guard let json = JSONValue(any: val) else { return }
        value = adapted(json.untyped)
        isEntered = true
    }

    /// Returns the value that is filled in; nil when the input has no value.
    open func getValue() -> Any? { value }

    /// Returns the value in the type that the class uses for it.
    func adapted(_ value: Any?) -> Any? { value }

    /// Returns the callback with the value that is filled in.
    open override func buildResponse() -> [String: Any] {
        Self.replacingInputs(of: response) { name in
            name == inputName && (isEntered || value != nil) ? .some(value) : nil
        }
    }

    override func enter(_ value: JSONValue, as name: String) {
        guard name == inputName else { return super.enter(value, as: name) }
        self.value = adapted(value.untyped)
        isEntered = true
    }
}

/// A callback with several inputs.
///
/// All inputs are sent back, in the server's order.
open class MultipleValuesCallback: Callback {
    /// The names that the server gave the inputs.
    public final var inputNames: [String]
    /// The values that the app filled in, by input name.
    public final var inputValues: [String: Any] = [:]
    /// The prompt to show, in the user's language; nil when the server sends none.
    public final var prompt: String?
    /// The index in the step, which newer servers send.
    public final var _id: Int?
    /// The engine's callback, as the server sent it.
    final let received: JourneyCallback

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no type.
    public required init(json: [String: Any]) throws {
        received = try JourneyCallback(untyped: json)
        inputNames = (received.input ?? []).map(\.name)
        prompt = received.output("prompt")?.string
        _id = received._id
        try super.init(json: json)
    }

    /// Returns the name that the server gave the input with a name ending; nil when the callback lacks it.
    final func key(_ ending: String) -> String? { received.optionalInputName(ending) }

    /// Fills in the input with a name ending, if the callback has it.
    final func fill(_ ending: String, with value: String) {
        if let key = key(ending) { inputValues[key] = value }
    }

    /// Returns the callback with the values that are filled in.
    ///
    /// Other inputs keep the server's value.
    open override func buildResponse() -> [String: Any] {
        Self.replacingInputs(of: response) { name in inputValues[name].map { .some($0) } }
    }

    override func enter(_ value: JSONValue, as name: String) { inputValues[name] = value.any }
}
