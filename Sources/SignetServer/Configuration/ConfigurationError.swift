public import SignetCore

/// The error of a configuration file that could not be read. It contains all problems, in the order of the file.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems; at least one.
    public let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) {
        self.problems = problems.sorted { $0.place < $1.place }
    }

    /// The problems as text, one in each line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// A problem in a configuration file, with a hint for its correction. It never contains a password from the file.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The position of the problem in the file.
    public let place: SourcePosition
    /// The part of the file with the problem, for example the text "journey `Login`, node `page`"; nil when the problem concerns
    /// the whole file.
    public let subject: String?
    /// The description of the problem, with a hint for its correction.
    public let message: String

    init(_ place: SourcePosition, _ subject: String?, _ message: String) {
        self.place = place
        self.subject = subject
        self.message = message
    }

    /// The problem as text in the format of compiler messages: `12:9: journey `Login`, node `page`: there is no outcome ...`.
    public var description: String { "\(place): " + (subject.map { "\($0): " } ?? "") + message }
}
