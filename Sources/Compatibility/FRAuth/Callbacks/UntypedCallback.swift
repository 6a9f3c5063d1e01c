import SignetCore
import SignetJourney

// Conversions between callbacks of the engine and the untyped dictionaries that callback classes take and return.

extension JSONValue {
    /// The value as an untyped Swift value; nil for null.
    var untyped: Any? { self == .null ? nil : any }
}

extension JourneyCallback {
    /// Reads a callback from an untyped dictionary.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it has no type, or an output or input without a name.
    init(untyped json: [String: Any]) throws(AuthError) {
        guard let value = JSONValue(any: json) else { throw .invalidCallbackResponse("the callback is not JSON") }
        do {
            try self.init(json: value)
        } catch {
            // The name of the missing member, without any value.
            throw .invalidCallbackResponse(error.name == "type" ? "the callback has no type" : "Missing \(error.name)")
        }
    }

    /// The callback as an untyped dictionary.
    var untyped: [String: Any] { json.object?.mapValues(\.any) ?? [:] }

    /// Returns the name that the server gave the input with a name ending; nil when the callback lacks it.
    func optionalInputName(_ ending: String) -> String? { inputIndex(ending).flatMap { input?[$0].name } }

    /// Returns the name that the server gave the input with a name ending.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``.
    func inputName(_ ending: String) throws(AuthError) -> String {
        try required(optionalInputName(ending), ending.isEmpty ? "input" : ending)
    }

    /// Checks that the callback has these string outputs, and inputs with these name endings.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``.
    func require(texts: [String] = [], inputs: [String] = []) throws(AuthError) {
        for name in texts { _ = try required(output(name)?.string, name) }
        for ending in inputs { _ = try inputName(ending) }
    }

    /// Returns `value`.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` with the name of the part when it is nil.
    func required<Value>(_ value: Value?, _ name: String) throws(AuthError) -> Value {
        guard let value else { throw .invalidCallbackResponse("Missing \(name)") }
        return value
    }

    /// Checks that the callback has an array of outputs, or one of inputs.
    ///
    /// The arrays may be empty.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``.
    func require(_ arrays: String...) throws(AuthError) {
        for name in arrays { _ = try required(json[name]?.array, name) }
    }
}
