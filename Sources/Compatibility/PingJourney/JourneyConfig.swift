/// The journeys of one server: a workflow that logs a user in at AM.
public typealias Journey = Workflow

/// The settings of a journey: those of every workflow, and the properties below.
public typealias JourneyConfig = WorkflowConfig

extension WorkflowConfig {
    private enum Names {
        static let (server, realm, cookie) = ("journey.server", "journey.realm", "journey.cookie")
    }

    /// The address of the server up to its deployment path, for example `https://am.example.com/am`.
    public var serverUrl: String? {
        get { self[setting: Names.server] as? String }
        set { self[setting: Names.server] = newValue }
    }

    /// The realm, in any notation.
    public var realm: String {
        get { self[setting: Names.realm] as? String ?? JourneyConstants.realm }
        set { self[setting: Names.realm] = newValue }
    }

    /// The name of the session cookie.
    public var cookie: String {
        get { self[setting: Names.cookie] as? String ?? JourneyConstants.cookie }
        set { self[setting: Names.cookie] = newValue }
    }
}

/// The options of a run of a journey.
public struct Options: Sendable {
    /// True to run the journey even when the stored session already satisfies it.
    public var forceAuth = false
    /// True to end the journey without a session.
    ///
    /// A stored session stays unchanged.
    public var noSession = false

    /// Creates the default options.
    public init() {}
}

/// The error of a response that is not a state of a journey, or of a setting.
public enum ApiError: Error, Sendable {
    /// The HTTP status, the members of the response that describe the error, and a message.
    case error(Int, [String: any Sendable], String)
}

extension ApiError: CustomStringConvertible {
    /// The message.
    public var description: String {
        switch self {
        case .error(_, _, let message): message
        }
    }
}
