import SignetCore

/// Conversion between JSON and the types in which the ForgeRock SDK passes it to policies: dictionaries, arrays, strings, numbers
/// and Boolean values.
extension JSONValue {
    var unconstrained: Any {
        switch self {
        case .null: Any?.none as Any
        case .bool(let value): value
        case .integer(let value): Int(value)
        case .number(let value): value
        case .string(let text): text
        case .array(let elements): elements.map(\.unconstrained)
        case .object(let members): members.mapValues(\.unconstrained)
        }
    }

    /// Creates a JSON value from such types; null for a value that JSON can't express.
    init(unconstrained value: Any?) {
        self =
            switch value {
            case let value as Bool: .bool(value)
            case let value as Int: .integer(Int64(value))
            case let value as Double: .number(value)
            case let value as String: .string(value)
            case let value as [Any]: .array(value.map { JSONValue(unconstrained: $0) })
            case let value as [String: Any]: .object(value.mapValues { JSONValue(unconstrained: $0) })
            default: .null
            }
    }
}
