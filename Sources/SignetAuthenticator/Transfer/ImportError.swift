/// An error that prevents the reading of a whole file, with the part of the file that caused it. It never contains content of the
/// file.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public enum Code: String, Sendable, CaseIterable {
        /// The format of the file is unknown.
        case unknownFormat
        /// The file violates its format.
        case malformed
        /// A newer version of the program has written the file than is supported here.
        case newerVersion
        /// The file is too large or has too many entries.
        case tooLarge
        /// Opening the file takes more computation than any program of its kind requires.
        case tooCostly
        /// The file is encrypted, and no passphrase was given.
        case passphraseNeeded
        /// The passphrase is wrong. When a format cannot distinguish this from damage, the reason says so.
        case wrongPassphrase
        /// The file was changed or truncated after it was written.
        case damaged
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
