/// The reason why an export of AM could not be read.
///
/// It names the file, and never contains values of it: an export can have passwords.
package struct JourneyImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    package enum Code: String, Sendable, CaseIterable {
        /// The file or directory does not exist.
        case notFound
        /// A file or directory cannot be read, or is neither a file nor a directory.
        case unreadable
        /// A file is not JSON in UTF-8.
        case notJSON
        /// A file, or the whole export, exceeds one of the ``ImportLimits``.
        case tooLarge
        /// None of the files has a journey.
        case noJourney
    }

    /// The kind of the error.
    package let code: Code
    /// The path of the file or directory.
    package let file: String
    /// The description of the error.
    package let message: String

    init(_ code: Code, _ file: String, _ message: String) {
        self.code = code
        self.file = file
        self.message = message
    }

    /// The file and the message.
    package var description: String { "\(file): \(message)" }
}
