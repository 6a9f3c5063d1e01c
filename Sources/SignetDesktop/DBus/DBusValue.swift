/// A value in a D-Bus message (D-Bus Specification, "Type System").
package indirect enum DBusValue: Sendable, Hashable {
    /// An unsigned 8-bit integer, `y`.
    case byte(UInt8)
    /// A Boolean value, `b`.
    case boolean(Bool)
    /// A signed 16-bit integer, `n`.
    case int16(Int16)
    /// An unsigned 16-bit integer, `q`.
    case uint16(UInt16)
    /// A signed 32-bit integer, `i`.
    case int32(Int32)
    /// An unsigned 32-bit integer, `u`.
    case uint32(UInt32)
    /// A signed 64-bit integer, `x`.
    case int64(Int64)
    /// An unsigned 64-bit integer, `t`.
    case uint64(UInt64)
    /// A floating-point number, `d`.
    case double(Double)
    /// A text, `s`.
    case string(String)
    /// The name of an object, `o`.
    case objectPath(String)
    /// A list of types, `g`.
    case signature(String)
    /// The index of a file descriptor in ``DBusMessage/descriptors``, `h`.
    case handle(Int32)
    /// An array with the type of its elements; of entries for a dictionary.
    case array(of: String, [DBusValue])
    /// An entry of a dictionary.
    case entry(DBusValue, DBusValue)
    /// Several values as one.
    case structure([DBusValue])
    /// A value with its type, `v`.
    case variant(DBusValue)

    /// The type of the value, as in a signature.
    package var type: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .handle: "h"
        case .array(let element, _): "a" + element
        case .entry(let key, let value): "{" + key.type + value.type + "}"
        case .structure(let fields): "(" + fields.map(\.type).joined() + ")"
        case .variant: "v"
        }
    }
}

// MARK: Common forms

extension DBusValue {
    /// Returns an array of texts, `as`.
    package static func strings(_ texts: [String]) -> DBusValue { .array(of: "s", texts.map { .string($0) }) }

    /// Returns a dictionary of names and values of any type, `a{sv}`, in the order of the names.
    package static func options(_ values: [String: DBusValue]) -> DBusValue {
        let entries = values.sorted { $0.key < $1.key }.map { DBusValue.entry(.string($0.key), .variant($0.value)) }
        return .array(of: "{sv}", entries)
    }

    /// Returns a dictionary of texts, `a{ss}`, in the order of the names.
    package static func texts(_ values: [String: String]) -> DBusValue {
        let entries = values.sorted { $0.key < $1.key }.map { DBusValue.entry(.string($0.key), .string($0.value)) }
        return .array(of: "{ss}", entries)
    }

    /// The text; nil for a value of another type.
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The name of the object; nil for a value of another type.
    package var objectPath: String? { if case .objectPath(let path) = self { path } else { nil } }
    /// The Boolean value; nil for a value of another type.
    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The byte; nil for a value of another type.
    package var byte: UInt8? { if case .byte(let value) = self { value } else { nil } }
    /// The unsigned 32-bit integer; nil for a value of another type.
    package var uint32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
    /// The signed 32-bit integer; nil for a value of another type.
    package var int32: Int32? { if case .int32(let value) = self { value } else { nil } }
    /// The index of the file descriptor; nil for a value of another type.
    package var handle: Int32? { if case .handle(let value) = self { value } else { nil } }
    /// The values of a structure; nil for a value of another type.
    package var fields: [DBusValue]? { if case .structure(let values) = self { values } else { nil } }

    /// The texts of an array of texts; nil for a value of another type.
    package var strings: [String]? {
        guard case .array(of: "s", let elements) = self else { return nil }
        return elements.compactMap(\.string)
    }

    /// The dictionary of `a{sv}`, without the variants around its values; nil for a value of another type.
    package var options: [String: DBusValue]? {
        guard case .array(of: "{sv}", let elements) = self else { return nil }
        return elements.reduce(into: [:]) { values, element in
            if case .entry(.string(let name), .variant(let value)) = element { values[name] = value }
        }
    }
}
