public import SignetCore

extension JSONValue: ExpressibleByStringLiteral {
    /// Creates a JSON string.
    public init(stringLiteral value: String) { self = .string(value) }
}
