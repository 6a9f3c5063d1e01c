/// Why a file could not be read at all: which part of it, and what is wrong. It never contains anything of the file.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// It is of no format that is known here.
        case unknownFormat
        /// It is not what a file of its format is.
        case malformed
        /// It was written by a newer version of its program than is known here.
        case newerVersion
        /// It is larger, or holds more, than is read.
        case tooLarge
        /// It asks for more computing than any program of its kind does.
        case tooCostly
        /// It is encrypted, and no passphrase was given.
        case passphraseNeeded
        /// The passphrase is another one. Where a format cannot tell that from damage, the reason says so.
        case wrongPassphrase
        /// It was changed or cut off since it was written.
        case damaged
    }

    /// What is wrong.
    public let code: Code
    /// The format it was read as.
    public let format: ImportFormat?
    /// The wrong part, for example `header.slots`.
    public let part: String
    /// What is wrong, in words, and the way on where there is one.
    public let reason: String

    /// Format, part and reason.
    public var description: String { [format?.title, part, reason].compactMap { $0 }.joined(separator: ": ") }

    init(_ code: Code, _ format: ImportFormat?, _ part: String, _ reason: String) {
        self.code = code
        self.format = format
        self.part = part
        self.reason = reason
    }
}
