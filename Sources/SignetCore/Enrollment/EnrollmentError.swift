/// An error that reports an invalid enrollment URI, with the invalid part and the reason. It never contains the content of the
/// part.
public struct EnrollmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable {
        /// The part is required, and is absent or empty.
        case missing
        /// The part has an invalid value.
        case invalid
        /// The part is well-formed, but requires a feature that this package does not support.
        case unsupported
        /// The part is well-formed, but would put the account at risk.
        case unsafe
    }

    /// The kind of the error.
    public let code: Code
    /// The invalid part: `scheme`, `type`, `label`, `query`, or the name of a parameter such as `secret` or `r`.
    public let part: String
    /// A description of the reason.
    public let reason: String

    /// The part and the reason.
    public var description: String { "enrollment URI: \(part): \(reason)" }

    package init(_ code: Code, _ part: String, _ reason: String) {
        self.code = code
        self.part = part
        self.reason = reason
    }
}
