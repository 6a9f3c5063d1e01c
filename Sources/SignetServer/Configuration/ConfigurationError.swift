public import SignetCore

/// The error of a configuration file that could not be read.
///
/// It contains all problems, in the order of the file.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems; at least one.
    public let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) {
        self.problems = problems.sorted { $0.position < $1.position }
    }

    /// The problems as text, one in each line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// A problem in a configuration file, with a hint for its correction.
///
/// It never contains a password from the file.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a problem.
    ///
    /// Codes are stable; messages can change.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the problem.
    public let code: Code
    /// The position of the problem in the file.
    public let position: SourcePosition
    /// The part of the file with the problem, for example the text "journey `Login`, node `page`"; nil when the problem concerns
    /// the whole file.
    public let subject: String?
    /// The description of the problem, with a hint for its correction.
    public let message: String

    init(_ code: Code, at position: SourcePosition, _ subject: String?, _ message: String) {
        self.code = code
        self.position = position
        self.subject = subject
        self.message = message
    }

    /// The problem as text in the format of compiler messages: `12:9: journey `Login`, node `page`: there is no outcome ...`.
    public var description: String { "\(position): " + (subject.map { "\($0): " } ?? "") + message }
}

extension ConfigurationProblem.Code {
    // Problems of the file.

    /// The text is not YAML, or it has a form of YAML that is not accepted here, such as an anchor.
    public static let invalidYAML = Self(rawValue: "invalidYAML")
    /// The file is empty.
    public static let emptyFile = Self(rawValue: "emptyFile")

    // Problems of a setting.

    /// The name of a setting is unknown.
    public static let unknownSetting = Self(rawValue: "unknownSetting")
    /// A required setting is missing.
    public static let missingSetting = Self(rawValue: "missingSetting")
    /// A value has the wrong type, such as a list in place of a string.
    public static let wrongType = Self(rawValue: "wrongType")
    /// A value has the right type, but the setting cannot have it.
    public static let invalidValue = Self(rawValue: "invalidValue")
    /// A localized string has no value in a language of the server.
    public static let missingLanguage = Self(rawValue: "missingLanguage")
    /// A setting contradicts another one, or means nothing without it.
    public static let conflict = Self(rawValue: "conflict")
    /// A name is used more than once.
    public static let duplicate = Self(rawValue: "duplicate")
    /// A value refers to a realm, journey, node, node type, policy or input that does not exist.
    public static let unknownName = Self(rawValue: "unknownName")
    /// A file or an access key to which the configuration refers is missing or unusable.
    public static let unusableResource = Self(rawValue: "unusableResource")

    // Problems of a journey.

    /// The file has no journey, or a journey has no nodes.
    public static let noNodes = Self(rawValue: "noNodes")
    /// A journey that clients cannot start is named where a journey must be startable.
    public static let innerJourney = Self(rawValue: "innerJourney")
    /// A node has the name of an end of the journey.
    public static let reservedName = Self(rawValue: "reservedName")
    /// An outcome is unknown for the type of the node.
    public static let unknownOutcome = Self(rawValue: "unknownOutcome")
    /// An outcome has no target.
    public static let missingTarget = Self(rawValue: "missingTarget")
    /// The default target of a node is never used, because each outcome has a target.
    public static let unusedDefault = Self(rawValue: "unusedDefault")
    /// No connection leads to a node.
    public static let unreachableNode = Self(rawValue: "unreachableNode")
    /// A journey loops forever without asking the user.
    public static let infiniteLoop = Self(rawValue: "infiniteLoop")
    /// A journey contains itself as an inner journey.
    public static let recursiveJourney = Self(rawValue: "recursiveJourney")
    /// A node cannot be at this place of a page.
    public static let notEmbeddable = Self(rawValue: "notEmbeddable")
}
