public import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

extension Journey {
    /// Creates the journeys of one server.
    ///
    ///     let journey = Journey.createJourney { config in
    ///         config.serverUrl = "https://am.example.com/am"
    ///         config.realm = "alpha"
    ///         config.module(PingJourney.OidcModule.config) { $0.clientId = "app" }
    ///     }
    ///
    /// The session and the tokens are stored in the user's vault, unless a module is configured with another storage.
    public static func createJourney(block: (JourneyConfig) -> Void = { _ in }) -> Journey {
        let config = JourneyConfig()
        config.setLogger(LogManager.standard)
        config.timeout = 30
        config.module(CustomHeader.config)
        config.module(NodeTransformModule.config)
        config.module(SessionModule.config)
        config.module(OidcModule.config)
        config.module(EngineModule.config, priority: .max)
        block(config)
        return Journey(config: config)
    }

    /// Starts a journey.
    /// - Parameters:
    ///   - journeyName: The name of the journey.
    ///   - configure: Changes the options.
    /// - Returns: The first state. Errors are states too: `ErrorNode` and `FailureNode`.
    public func start(_ journeyName: String, configure: (inout Options) -> Void = { _ in }) async -> any Node {
        let index = AuthenticationIndex.service(journeyName)
        return await run(of: index, for: .startAuthenticate(index), configure) { try $0.startRequest(index, options: $1) }
    }

    /// Continues a suspended journey.
    /// - Parameters:
    ///   - uri: The link of the server's message, with its `suspendedId`.
    ///   - configure: Changes the options.
    /// - Returns: The next state; a `FailureNode` for a link without `suspendedId`.
    public func resume(_ uri: URL, configure: (inout Options) -> Void = { _ in }) async -> any Node {
        await run(of: .default, for: .resumeAuthenticate, configure) { journey, options in
            do {
                return try journey.resumeRequest(uri.absoluteString, options: options)
            } catch let error as JourneyError {
                throw ApiError.error(400, [:], error.message)
            }
        }
    }

    private func run(
        of index: AuthenticationIndex, for action: RequestAction, _ configure: (inout Options) -> Void,
        _ request: (SignetJourney.Journey, JourneyOptions) throws -> HTTPRequest
    ) async -> any Node {
        var options = Options()
        configure(&options)
        let runOptions = JourneyOptions {
            $0.forceAuthentication = options.forceAuth
            $0.withoutSession = options.noSession
        }
        do {
            let run = Run(index: index, action: action, options: runOptions)
            let context = FlowContext(flowContext: SharedContext([Run.key: run]))
            return await start(Request(try request(try await engine().journey, runOptions)), in: context)
        } catch {
            return FailureNode(cause: error)
        }
    }

    /// Logs the user out: removes the session, the tokens and the cookies, and ends them at the server.
    ///
    /// They are removed on this machine even when the server can't be reached.
    /// - Returns: The error of the first step that failed.
    public func journeySignOff() async -> Result<Void, any Error> { await signOff() }

    /// Returns the user of the stored session; nil when none is stored.
    public func journeyUser() async -> (any User)? {
        guard let engine = try? await engine(), let session = await session() else { return nil }
        return JourneyUser(journey: self, calls: engine.calls, value: session.value)
    }

    /// Returns the stored session; nil when none is stored.
    public func session() async -> (any SSOToken)? {
        guard let engine = try? await engine() else { return nil }
        return (try? await engine.tokens.session()).flatMap { $0 }.map { SSOTokenImpl($0) }
    }

    /// Removes the stored session from this machine.
    ///
    /// It stays valid at the server.
    public func deleteSession() async {
        do {
            try await engine().tokens.store.removeSession()
        } catch {
            config.logger.e("The session could not be removed", error: error)
        }
    }
}

extension SuccessNode {
    /// The user, when the session is that of one.
    public var user: (any User)? { session as? any User }
}

/// The state of a run that its requests share.
final class Run: Sendable {
    /// The index with which the journey was started.
    let index: AuthenticationIndex
    /// The purpose of the first request.
    let action: RequestAction
    let options: JourneyOptions
    private let requests = Mutex(Requests())

    private struct Requests {
        /// The first request, with what the modules added; nil before it is sent.
        var first: HTTPRequest?
        /// The newest answer to a step; nil before the first one.
        var answer: Answer?
    }

    /// A step with its answers, and the content that the modules received for it.
    struct Answer: Sendable {
        let step: JourneyStep
        let content: [UInt8]
    }

    init(
        index: AuthenticationIndex = .default, action: RequestAction = .authenticate(.default),
        options: JourneyOptions = JourneyOptions()
    ) {
        (self.index, self.action, self.options) = (index, action, options)
    }

    /// Stores the newest answer to a step.
    func take(_ answer: Answer) { requests.withLock { $0.answer = answer } }

    /// Returns the first request and the newest answer, or nil for the first request, which is stored.
    func newest(sending request: HTTPRequest) -> (first: HTTPRequest, answer: Answer)? {
        requests.withLock { requests -> (first: HTTPRequest, answer: Answer)? in
            if let first = requests.first, let answer = requests.answer { return (first, answer) }
            requests.first = request
            return nil
        }
    }

    /// The name of the run in its context.
    static let key = "signet.run"
}

/// The user of a journey's session.
struct JourneyUser: User, Session {
    let journey: Journey
    let calls: TokenCalls
    let value: String

    func token() async -> Result<Token, OidcError> { await calls.token() }
    func refresh() async -> Result<Token, OidcError> { await calls.refresh() }
    func userinfo(cache: Bool) async -> Result<PingOidc.UserInfo, OidcError> { await calls.userinfo(cache: cache) }
    func logout() async { _ = await journey.signOff() }

    func revoke() async {
        do { try await calls.revoke() } catch { journey.config.logger.e("The tokens could not be revoked", error: error) }
    }
}
