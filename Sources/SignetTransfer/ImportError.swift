public import SignetCore

/// An error that prevents the reading of a whole file, with the part of the file that caused it.
///
/// It never contains content of the file.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: ErrorCode {
        /// The format of the file is unknown.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The file violates its format.
        public static let malformed = Code(rawValue: "malformed")
        /// A newer version of the program has written the file than is supported here.
        public static let newerVersion = Code(rawValue: "newerVersion")
        /// The file is too large or has too many entries.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Opening the file takes more computation than any program of its kind requires.
        public static let tooCostly = Code(rawValue: "tooCostly")
        /// The file is encrypted, and no passphrase was given.
        public static let passphraseNeeded = Code(rawValue: "passphraseNeeded")
        /// The passphrase is wrong.
        ///
        /// When a format cannot distinguish this from damage, the reason says so.
        public static let wrongPassphrase = Code(rawValue: "wrongPassphrase")
        /// The file was changed or truncated after it was written.
        public static let damaged = Code(rawValue: "damaged")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .unknownFormat, .malformed, .newerVersion, .tooLarge, .tooCostly, .passphraseNeeded, .wrongPassphrase, .damaged,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The format as which the file was read; nil when it is unknown.
    public let format: ImportFormat?
    /// The part that caused the error, for example `header.slots`.
    public let part: String
    /// A description of the error for people, with advice where there is some.
    public let reason: String

    /// The format, the part and the reason.
    public var description: String { [format?.title, part, reason].compactMap { $0 }.joined(separator: ": ") }

    init(_ code: Code, _ format: ImportFormat?, _ part: String, _ reason: String) {
        self.code = code
        self.format = format
        self.part = part
        self.reason = reason
    }
}
