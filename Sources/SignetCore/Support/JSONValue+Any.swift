/// The conversion between JSON and the untyped values in which other SDKs and push services pass it: dictionaries, arrays, strings,
/// numbers and Boolean values.
extension JSONValue {
    /// Creates a JSON value from an untyped value.
    ///
    /// Nil and the null of `JSONSerialization` become null, also inside a collection. Members and elements that JSON can't express are
    /// left out. An integer that does not fit a signed 64-bit integer is rounded to a `Double`, as when a document is decoded.
    ///
    /// Returns nil for a value that JSON can't express.
    package init?(any value: Any?) {
        switch value {
        case nil: self = .null
        case let value as any NullableValue where value.isNull: self = .null
        case let value as JSONValue: self = value
        case let text as String: self = .string(text)
        case let bool as Bool where Self.isBoolean(value): self = .bool(bool)
        case let whole as any BinaryInteger:
            self = Int64(exactly: whole).map { .integer($0) } ?? .number(Double(whole))
        // Whole numbers of Foundation. They come before Double, because the cast of one that a Double can't hold exactly, such as
        // 2^53 + 1, fails there. One that does not fit Int64 is rounded.
        case let whole as Int64: self = .integer(whole)
        case let whole as UInt64: self = .number(Double(whole))
        case let number as Double:
            guard number.isFinite else { return nil }
            self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
        case let members as [String: Any]: self = .object(members.compactMapValues { JSONValue(any: $0) })
        case let elements as [Any]: self = .array(elements.compactMap { JSONValue(any: $0) })
        case let value? where Self.isFoundation("NSNull", value): self = .null
        default: return nil
        }
    }

    /// Returns true for a Boolean value of Swift, or of Foundation as `JSONSerialization` returns it.
    ///
    /// Swift casts the numbers 0 and 1 of Foundation to `Bool` too.
    private static func isBoolean(_ value: Any?) -> Bool {
        guard let value else { return false }
        return value is Bool && (type(of: value) == Bool.self || isFoundation("__NSCFBoolean", value))
    }

    /// Returns true for an object of a class of Foundation, which this module does not import.
    private static func isFoundation(_ name: String, _ value: Any) -> Bool { String(describing: type(of: value)) == name }

    /// The value as an untyped Swift value; null is an `Any?` that is nil.
    package var any: Any {
        switch self {
        case .null: Any?.none as Any
        case .bool(let value): value
        case .integer(let value): Int(clamping: value)
        case .number(let value): value
        case .string(let value): value
        case .array(let elements): elements.map(\.any)
        case .object(let members): members.mapValues(\.any)
        }
    }

    /// The value as an untyped Swift value that is Sendable; null is an empty optional.
    package var sendable: any Sendable {
        switch self {
        case .null: String?.none
        case .bool(let value): value
        case .integer(let value): Int(clamping: value)
        case .number(let value): value
        case .string(let value): value
        case .array(let elements): elements.map(\.sendable)
        case .object(let members): members.mapValues(\.sendable)
        }
    }
}

/// A type with a value that stands for the JSON null.
private protocol NullableValue {
    /// True for that value.
    var isNull: Bool { get }
}

extension Optional: NullableValue {
    fileprivate var isNull: Bool { if case .none = self { true } else { false } }
}
