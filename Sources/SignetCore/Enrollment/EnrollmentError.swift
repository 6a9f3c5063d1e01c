/// An error that reports an invalid enrollment URI, with the invalid part and the reason.
///
/// It never contains the content of the part.
public struct EnrollmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public struct Code: ErrorCode {
        /// The part is required, and is absent or empty.
        public static let missing = Code(rawValue: "missing")
        /// The part has an invalid value.
        public static let invalid = Code(rawValue: "invalid")
        /// The part is well-formed, but requires a feature that this package does not support.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The part is well-formed, but would put the account at risk.
        public static let unsafe = Code(rawValue: "unsafe")

        /// All codes of this version.
        public static let allCases: [Code] = [.missing, .invalid, .unsupported, .unsafe]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The invalid part: `uri` for the text as a whole, `scheme`, `type`, `label`, `query`, or the name of a parameter such as
    /// `secret` or `r`.
    public let part: String
    /// A description of the reason.
    public let reason: String

    /// The part and the reason.
    public var description: String { "enrollment URI: \(part): \(reason)" }

    /// The error for an account of Steam where its codes, which are five letters and digits, are not supported.
    package static let steam = EnrollmentError(.unsupported, "type", "it is an account of Steam, whose codes are not supported")

    /// The error for an account of Steam whose settings cannot be those of its codes.
    package static let steamSettings = EnrollmentError(
        .unsupported, "type", "it is an account of Steam, with another hash function, period or type than Steam's codes have")

    private static let repetition = "a parameter is given twice, with different values"

    /// Returns the error for a parameter that is given twice with different values.
    package static func repeated(_ part: String) -> EnrollmentError { EnrollmentError(.invalid, part, repetition) }

    /// True for the error of a parameter that is given twice.
    package var isRepetition: Bool { reason == Self.repetition }

    package init(_ code: Code, _ part: String, _ reason: String) {
        self.code = code
        self.part = part
        self.reason = reason
    }
}
