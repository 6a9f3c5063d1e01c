public import SignetCore
public import SignetNetwork

/// The options of a journey.
///
/// The same options are sent with each of its steps.
public struct JourneyOptions: Sendable, Hashable {
    /// True to run the journey even when the existing session already satisfies it (`ForceAuth`).
    ///
    /// Without a session it changes nothing. OpenAM gets the session as `sessionUpgradeSSOTokenId` as well.
    public var forceAuthentication = false
    /// True to request no session at the end (`noSession`).
    ///
    /// An existing session stays unchanged.
    public var withoutSession = false
    /// An existing session.
    ///
    /// The journey upgrades it, or ends immediately with it. It is sent in a header that has the name of the session cookie.
    public var session: Secret?
    /// The timeout of one request; nil for the profile's timeout.
    public var timeout: Duration?

    /// Creates the default options and changes them with `configure`.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        configure(&self)
    }

    /// The query parameters for the options, except those for a session; empty for the default options.
    var query: [(name: String, value: String)] { withoutSession ? [("noSession", "true")] : [] }
}

/// The target of an authentication, as in AM's `authIndexType` and `authIndexValue`.
public struct AuthenticationIndex: Sendable, Hashable {
    /// The type, for example `service`; nil when the server selects the journey.
    public let type: String?
    /// The value, for example the name of a journey.
    public let value: String

    /// Creates an index of any type.
    public init(type: String, value: String) {
        self.type = type
        self.value = value
    }

    private init() {
        type = nil
        value = ""
    }

    /// The default of the realm.
    public static let `default` = AuthenticationIndex()

    /// Returns the index of a journey or chain.
    public static func service(_ name: String) -> AuthenticationIndex { AuthenticationIndex(type: "service", value: name) }

    /// Returns the index of a module of OpenAM.
    public static func module(_ name: String) -> AuthenticationIndex { AuthenticationIndex(type: "module", value: name) }

    /// Returns the index for the advice of a policy, which the user must satisfy to get access.
    public static func advice(_ advice: PolicyAdvice) -> AuthenticationIndex {
        AuthenticationIndex(type: "composite_advice", value: advice.xml)
    }

    var query: [(name: String, value: String)] {
        type.map { [("authIndexType", $0), ("authIndexValue", value)] } ?? []
    }

    /// The payload for interceptors, in the format of the ForgeRock SDKs.
    var payload: [String: String] { type.map { ["tree": value, "type": $0] } ?? [:] }
}

extension RequestAction {
    /// Returns the action for the start of a journey.
    ///
    /// The payload names the journey.
    public static func startAuthenticate(_ index: AuthenticationIndex) -> RequestAction {
        RequestAction(name: "START_AUTHENTICATE", payload: index.payload)
    }

    /// Returns the action for the answer to a step.
    ///
    /// The payload names the journey.
    public static func authenticate(_ index: AuthenticationIndex) -> RequestAction {
        RequestAction(name: "AUTHENTICATE", payload: index.payload)
    }

    /// The action for the continuation of a suspended journey.
    public static let resumeAuthenticate = RequestAction(name: "RESUME_AUTHENTICATE")
}
