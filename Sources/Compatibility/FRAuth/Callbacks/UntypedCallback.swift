import Foundation
import SignetCore
import SignetJourney

// Conversions between callbacks of the engine and the untyped dictionaries that callback classes take and return.

extension JSONValue {
    /// Creates a JSON value from an untyped value, including the number and null objects of `JSONSerialization`.
    ///
    /// `JSONSerialization` returns every number as an `NSNumber`, and 0 and 1 also cast to `Bool`. The type that the object was made
    /// from decides here.
    ///
    /// Returns nil for a value that JSON can't express. Such members and elements of collections are left out.
    init?(untyped value: Any?) {
        switch value {
        case is NSNull: self = .null
        case let value? where type(of: value) is NSNumber.Type:
            guard let number = value as? NSNumber, let json = JSONValue(number) else { return nil }
            self = json
        case let members as [String: Any]: self = .object(members.compactMapValues { JSONValue(untyped: $0) })
        case let elements as [Any]: self = .array(elements.compactMap { JSONValue(untyped: $0) })
        default: self.init(any: value)
        }
    }

    private init?(_ number: NSNumber) {
        switch String(cString: number.objCType) {
        case "c" where (0...1).contains(number.int8Value): self = .bool(number.boolValue)
        case "d", "f": self.init(any: number.doubleValue)
        case "Q": self.init(any: number.uint64Value)
        default: self = .integer(number.int64Value)
        }
    }

    /// The value as an untyped Swift value; nil for null.
    var untyped: Any? { self == .null ? nil : any }
}

extension JourneyCallback {
    /// Reads a callback from an untyped dictionary.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it has no type, or an output or input without a name.
    init(untyped json: [String: Any]) throws(AuthError) {
        guard let value = JSONValue(untyped: json) else { throw .invalidCallbackResponse("the callback is not JSON") }
        do {
            try self.init(json: value)
        } catch {
            // The name of the missing member, without any value.
            throw .invalidCallbackResponse(error.name == "type" ? "the callback has no type" : "Missing \(error.name)")
        }
    }

    /// The callback as an untyped dictionary.
    var untyped: [String: Any] { json.object?.mapValues(\.any) ?? [:] }

    /// Returns the name that the server gave the input with a name ending.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``.
    func inputName(_ ending: String) throws(AuthError) -> String {
        try required(inputIndex(ending).flatMap { input?[$0].name }, ending.isEmpty ? "input" : ending)
    }

    /// Returns a string output.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it is missing.
    func requiredText(_ name: String) throws(AuthError) -> String { try required(output(name)?.string, name) }

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
