/// Any JSON document (RFC 8259), as a value that can be compared, hashed and sent between tasks.
///
/// Whole numbers that fit a signed 64-bit integer stay exact, and are one value however they were written (`3` or `3.0`);
/// every other number becomes a `Double`.
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent, or beyond 64 bits.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. The order of members is not kept.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The text, if this is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The members, if this is an object.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements, if this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The truth value, if this is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, if this is one or a string that spells one: existing servers and SDKs send both.
    public var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .string(let text): Int64(text)
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The member called `name`, if this is an object that has it.
    public subscript(name: String) -> JSONValue? { object?[name] }
}

extension JSONValue: Codable {
    /// Decodes whatever comes next.
    public init(from decoder: any Decoder) throws {
        // First what is most frequent: each wrong guess costs an error, and an error costs more than a decoding.
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
        } else if let truth = try? single.decode(Bool.self) {
            self = .bool(truth)
        } else if let whole = try? single.decode(Int64.self) {
            self = .integer(whole)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    /// Encodes the value as the JSON it stands for. JSON has no infinite numbers and no "not a number": they become `null`, as
    /// in JavaScript.
    public func encode(to encoder: any Encoder) throws {
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
    /// Whether it leaves room for what it is stored in: records and archives wrap what came from outside, and must be read back.
    package var isStorable: Bool { nests(within: 64) }

    private func nests(within depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth > 0 && elements.allSatisfy { $0.nests(within: depth - 1) }
        case .object(let members): depth > 0 && members.values.allSatisfy { $0.nests(within: depth - 1) }
        default: true
        }
    }
}
