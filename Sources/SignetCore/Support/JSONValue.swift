/// Any JSON document (RFC 8259), as a value that can be compared, hashed and sent between tasks.
///
/// Whole numbers that fit a signed 64-bit integer stay exact. They are equal however they were written (`3` or `3.0`). Every
/// other number becomes a `Double`.
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// A number with a fraction, or an integer that does not fit 64 bits.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. The order of its members is not kept.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The text when this value is a string; otherwise nil.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The members when this value is an object; otherwise nil.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements when this value is an array; otherwise nil.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The Boolean value when this value is a Boolean; otherwise nil.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer when this value is one, or a string that contains one; otherwise nil.
    ///
    /// Existing servers and SDKs send numbers in both forms.
    public var lenientInteger: Int64? {
        switch self {
        case .integer(let value): value
        case .string(let text): Int64(text)
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The member called `name` when this value is an object that has it; otherwise nil.
    public subscript(name: String) -> JSONValue? { object?[name] }
}

extension JSONValue: Codable {
    /// Decodes a value of any type.
    public init(from decoder: any Decoder) throws {
        // The most frequent types are tried first: each wrong guess throws an error, which takes longer than decoding.
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .string(text)
            return
        }
        if let members = try? decoder.container(keyedBy: JSONKey.self) {
            self = .object(
                try Dictionary(
                    members.allKeys.map { ($0.stringValue, try members.decode(JSONValue.self, forKey: $0)) },
                    uniquingKeysWith: { _, last in last }))
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSONValue.self)) }
            self = .array(array)
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let whole = try? single.decode(Int64.self) {
            self = .integer(whole)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    /// Encodes the value as JSON.
    ///
    /// JSON has no infinite numbers and no NaN: they become `null`, as in JavaScript.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? JSONNodeEncoder { return encoder.encode(self) }
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .integer(let value): try single.encode(value)
        case .number(let value): value.isFinite ? try single.encode(value) : try single.encodeNil()
        case .string(let value): try single.encode(value)
        case .array(let value): try single.encode(value)
        case .object(let value): try single.encode(value)
        }
    }
}

/// A member name that is known only at run time.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}

extension JSONValue {
    /// A Boolean value that indicates whether the nesting depth is at most 64.
    ///
    /// Records and archives wrap values from outside in further levels, and the result must stay within the parser's limit.
    package var isStorable: Bool { nests(within: 64) }

    private func nests(within depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth > 0 && elements.allSatisfy { $0.nests(within: depth - 1) }
        case .object(let members): depth > 0 && members.values.allSatisfy { $0.nests(within: depth - 1) }
        default: true
        }
    }
}
