// Public, because the type and the protocol are: a conformance cannot be limited to the package. No product contains this module.
public import SignetCore

extension JSONValue: ExpressibleByStringLiteral {
    /// Creates a JSON string.
    /// - Parameter value: The text of the string.
    public init(stringLiteral value: String) { self = .string(value) }
}
