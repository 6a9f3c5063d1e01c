/// Why an enrolment URI was refused: which part, and what is wrong with it. It never contains the part's content.
public struct EnrollmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with the part.
    public enum Code: String, Sendable {
        /// It is required and absent or empty.
        case missing
        /// It is there and cannot be what it should be.
        case invalid
        /// It is well formed, but asks for what no authenticator here can do.
        case unsupported
        /// It is well formed, but would put the account at risk.
        case unsafe
    }

    /// What is wrong.
    public let code: Code
    /// The wrong part: `scheme`, `type`, `label`, `query`, or the name of a parameter such as `secret` or `r`.
    public let part: String
    /// What is wrong, in words.
    public let reason: String

    /// Names the part and what is wrong with it.
    public var description: String { "enrolment URI: \(part): \(reason)" }

    package init(_ code: Code, _ part: String, _ reason: String) {
        self.code = code
        self.part = part
        self.reason = reason
    }
}
