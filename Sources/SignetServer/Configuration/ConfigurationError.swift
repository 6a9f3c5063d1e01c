public import SignetCore

/// Why a configuration file is not taken: everything that is wrong with it, in the order of the file.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong; at least one.
    public let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) {
        self.problems = problems.sorted { $0.place < $1.place }
    }

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a configuration file, and what to do about it. What the file says of passwords is never in it.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// Where it is.
    public let place: SourcePosition
    /// What it is about, for example the text "journey `Login`, node `page`"; nil when it is about the file as a whole.
    public let subject: String?
    /// What is wrong, and the way out.
    public let message: String

    init(_ place: SourcePosition, _ subject: String?, _ message: String) {
        self.place = place
        self.subject = subject
        self.message = message
    }

    /// `12:9: journey `Login`, node `page`: there is no outcome ...`, as compilers write it.
    public var description: String { "\(place): " + (subject.map { "\($0): " } ?? "") + message }
}
