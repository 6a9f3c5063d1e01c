package import SignetCore
package import SignetJourney
package import SignetNetwork
import Synchronization

/// What keeps the session and the tokens of one started SDK: the seam to the part that knows OAuth 2.0.
package protocol LegacySessions: JourneyEndings {
    /// Removes what is kept, at once and without a network, and has it revoked at the server afterwards. Nobody waits for that.
    func abandon()
}

/// How the process's SDK reaches servers, and what keeps its sessions.
package struct LegacyAuthSettings: Sendable {
    /// Which addresses may be used.
    package var policy: EndpointPolicy = .secure
    /// Makes what requests go through.
    package var transport: @Sendable (ServerProfile) throws -> any HTTPTransport
    /// Makes what keeps sessions; nil where nothing does.
    package var sessions: @Sendable (ServerProfile, FROptions) throws -> (any LegacySessions)?
    /// Where configurations are looked for, in this order.
    package var folders: [String]

    package init(
        policy: EndpointPolicy = .secure, folders: [String] = [],
        transport: @escaping @Sendable (ServerProfile) throws -> any HTTPTransport,
        sessions: @escaping @Sendable (ServerProfile, FROptions) throws -> (any LegacySessions)? = { _, _ in nil }
    ) {
        self.policy = policy
        self.folders = folders
        self.transport = transport
        self.sessions = sessions
    }

    /// Those of an app: connections of its own.
    static var standard: LegacyAuthSettings {
        LegacyAuthSettings(folders: FRAuthConfig.folders) { _ in OwnTransport() }
    }
}

/// What was set, and what has been started: one for each process, as the documents have it. A test may have one of its own.
package final class FRAuthProcess: Sendable {
    /// That of this process; in a test, that of this task.
    @TaskLocal package static var current = FRAuthProcess()

    private let state: Mutex<State>
    private let settings: LegacyAuthSettings

    private struct State: Sendable {
        var started: FRAuth?
        var interceptors: [any RequestInterceptor] = []
        var factory = CallbackFactory()
        var configFileName = FRAuthConfig.usualName
    }

    /// A process in which nothing has been started.
    package init(_ settings: LegacyAuthSettings? = nil) {
        self.settings = settings ?? .standard
        state = Mutex(State())
    }

    var started: FRAuth? { state.withLock { $0.started } }
    var interceptors: [any RequestInterceptor] { state.withLock { $0.interceptors } }

    func setInterceptors(_ change: ([any RequestInterceptor]) -> [any RequestInterceptor]) {
        state.withLock { $0.interceptors = change($0.interceptors) }
    }

    var factory: CallbackFactory {
        get { state.withLock { $0.factory } }
        set { state.withLock { $0.factory = newValue } }
    }

    var configFileName: String {
        get { state.withLock { $0.configFileName } }
        set { state.withLock { $0.configFileName = newValue } }
    }

    /// Starts with these settings, or those of the file. Nothing is changed by settings that cannot be used.
    func start(_ options: FROptions?) throws {
        let options = try options ?? FRAuthConfig.load(configFileName, from: settings.folders)
        let profile = try options.profile(policy: settings.policy)
        if let started, started.options == options { return }
        let transport = try settings.transport(profile)
        let next = FRAuth(
            options: options,
            journeys: Journey(profile, transport: transport, interceptors: [LegacyInterceptors(process: self)]),
            sessions: try settings.sessions(profile, options))
        let previous = state.withLock { state in
            defer { state.started = next }
            return state.started
        }
        if let previous, options.endsSessions(of: previous.options) { previous.sessions?.abandon() }
    }
}
