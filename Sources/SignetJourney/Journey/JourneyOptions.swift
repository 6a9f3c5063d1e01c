public import SignetCore
public import SignetNetwork

/// How a journey is walked. The same options go with every step of it.
public struct JourneyOptions: Sendable, Hashable {
    /// Runs the journey though the session that is handed in would satisfy it (`ForceAuth`).
    public var forceAuthentication = false
    /// Asks for no session at the end (`noSession`); one that there is stays untouched.
    public var withoutSession = false
    /// A session that there is already: the journey raises it, or ends with it at once. It travels in a header that is called as
    /// the cookie is.
    public var session: Secret?
    /// How long to wait for an answer to one request; nil as the profile says.
    public var timeout: Duration?

    /// The defaults, with what `configure` changes.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        configure(&self)
    }

    /// What a request's address says of them; nothing where nothing is asked for.
    var query: [(name: String, value: String)] {
        (withoutSession ? [("noSession", "true")] : []) + (forceAuthentication ? [("ForceAuth", "true")] : [])
    }
}

/// What is to be authenticated against, as AM's `authIndexType` and `authIndexValue` say it.
public struct AuthenticationIndex: Sendable, Hashable {
    /// The type, for example `service`; nil leaves the choice to the server.
    public let type: String?
    /// The value, for example the name of a journey.
    public let value: String

    /// An index of any type.
    public init(type: String, value: String) {
        self.type = type
        self.value = value
    }

    private init(standard: ()) {
        type = nil
        value = ""
    }

    /// What the realm has as its default.
    public static let standard = AuthenticationIndex(standard: ())

    /// A journey, or a chain, by its name.
    public static func service(_ name: String) -> AuthenticationIndex { AuthenticationIndex(type: "service", value: name) }

    /// A module of OpenAM.
    public static func module(_ name: String) -> AuthenticationIndex { AuthenticationIndex(type: "module", value: name) }

    /// What a policy asks for before it lets somebody in.
    public static func advice(_ advice: PolicyAdvice) -> AuthenticationIndex {
        AuthenticationIndex(type: "composite_advice", value: advice.xml)
    }

    var query: [(name: String, value: String)] {
        type.map { [("authIndexType", $0), ("authIndexValue", value)] } ?? []
    }

    /// As interceptors of the existing SDKs are told.
    var payload: [String: String] { type.map { ["tree": value, "type": $0] } ?? [:] }
}

extension RequestAction {
    /// A journey begins; the payload names it.
    public static func startAuthenticate(_ index: AuthenticationIndex) -> RequestAction {
        RequestAction(name: "START_AUTHENTICATE", payload: index.payload)
    }

    /// A step is answered; the payload names the journey.
    public static func authenticate(_ index: AuthenticationIndex) -> RequestAction {
        RequestAction(name: "AUTHENTICATE", payload: index.payload)
    }

    /// A journey goes on that was suspended.
    public static let resumeAuthenticate = RequestAction(name: "RESUME_AUTHENTICATE")
}
