import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage

/// The engine of one journey workflow: its requests, its session and its tokens.
final class JourneyEngine: Sendable {
    let journey: SignetJourney.Journey
    let tokens: TokenSource
    let calls: TokenCalls
    /// The lock for the creation of a run, so that two tasks don't create one each for the same context.
    private let runCreation = Mutex(())

    /// Creates the engine from the settings of the workflow and of its modules.
    init(_ workflow: Workflow) throws {
        let (config, context) = (workflow.config, workflow.sharedContext)
        let session = context.get(key: SharedContext.Keys.sessionConfigKey) as? SessionConfig ?? SessionConfig()
        let oidc = context.get(key: SharedContext.Keys.oidcClientConfigKey) as? OidcClientConfig ?? OidcClientConfig()
        let cookies = context.get(key: SharedContext.Keys.cookieStorage) as? CookieConfig ?? CookieConfig()
        let profile = try Self.profile(config, oidc.settings)
        let transport = (oidc.httpClient ?? config.httpClient).transport
        let store = try Self.store(profile, session, oidc, cookies, config)
        let interceptors: [any SignetNetwork.RequestInterceptor] = [SDKIdentification.ping]
        tokens = try TokenSource(
            profile, store: store, transport: transport, interceptors: interceptors,
            clock: config[setting: JourneySettings.clock] as? any WallClock ?? SystemWallClock())
        journey = SignetJourney.Journey(
            profile, transport: config.httpClient.transport, interceptors: interceptors, keeping: tokens)
        calls = TokenCalls(tokens)
    }

    /// Returns the run of a context.
    ///
    /// For a run that an app starts with a request of its own, the first call creates and stores one without a journey's name.
    func run(in context: FlowContext) -> Run {
        runCreation.withLock { _ -> Run in
            if let run = context.flowContext.get(key: Run.key) as? Run { return run }
            let run = Run()
            context.flowContext.set(key: Run.key, value: run)
            return run
        }
    }

    /// Sends a request of a run, and once more where a journey of the engine does.
    ///
    /// The modules see one request and the last response. What they added to the request is also in the one that is sent again.
    func send(_ message: HTTPRequest, in context: FlowContext) async throws -> HTTPResponse {
        let run = self.run(in: context)
        guard let (first, answer) = run.newest(sending: message) else {
            return try await journey.send(message, for: run.action)
        }
        return try await journey.answer(answer.step, of: run.index, run.options) {
            var message = message
            // A module may have replaced the content; then it is sent as it is.
            if message.body == answer.content { message.body = journey.content(answering: answer.step) }
            return try await journey.send(message, for: .authenticate(run.index))
        } start: {
            var first = first
            try await journey.renewSession(of: &first, run.options)
            return try await journey.send(first, for: run.action)
        }
    }

    private static func profile(_ config: JourneyConfig, _ oidc: OidcClientSettings) throws -> ServerProfile {
        let client = oidc.httpClient ?? config.httpClient
        do {
            return try ServerProfile(
                url: config.serverUrl ?? "", realm: Realm(config.realm), endpoints: oidc.overrides,
                policy: .allowingPlainHTTP(to: config.plainHTTPHosts.union(oidc.plainHTTPHosts).union(client.plainHTTPHosts))
            ) {
                $0.cookieName = config.cookie
                $0.timeout = HttpClient.duration(of: config.timeout)
                $0.refreshThreshold = .seconds(oidc.refreshThreshold)
                $0.client = oidc.client
                $0.requestedWith = Request.Constants.pingSdk
                $0.preferredLanguages = PreferredLanguages.tags(environment: ProcessInfo.processInfo.environment)
            }
        } catch {
            var message = "the settings of the journey are not valid: \(error)"
            if error.fault.address?.code == .plainHTTP { message += " in config.plainHTTPHosts" }
            throw ApiError.error(400, [:], message)
        }
    }

    private static func store(
        _ profile: ServerProfile, _ session: SessionConfig, _ oidc: OidcClientConfig, _ cookies: CookieConfig,
        _ config: JourneyConfig
    ) throws -> SessionStore {
        // All programs of the user share the vault, so the server and the client are a part of the default names.
        let name = SessionStore.name(for: profile)
        let given = config[setting: JourneySettings.keychain] as? VaultProvider
        let keychain = given ?? VaultProvider.default
        let encryptor = config[setting: JourneySettings.encryptor] as? any Encryptor
        let sessions = session.sessions
        let (realm, clientID) = (profile.realm, profile.client?.clientID)
        // The Ping SDK stored the realm with its session. Its tokens and cookies are those of the session.
        let isOfRealm = { @Sendable (session: SSOTokenImpl?) -> Bool in
            guard let session, !session.realm.isEmpty else { return true }
            return Realm(session.realm) == realm
        }
        sessions.useAccount(
            "\(SharedContext.Keys.sessionConfigKey)/\(name)", in: keychain, openedBy: encryptor, accepting: { isOfRealm($0) })
        oidc.tokens.useAccount(
            "\(OidcClientConfig.account)/\(name)", in: keychain, openedBy: encryptor,
            accepting: { token in
                guard token.isIssued(to: clientID) else { return false }
                return isOfRealm(try await sessions.original())
            }, adapting: { token in try await Self.bound(token, to: sessions) })
        cookies.stored.useAccount(
            "\(SharedContext.Keys.cookieStorage)/\(name)", in: keychain, openedBy: encryptor,
            accepting: { _ in isOfRealm(try await sessions.original()) })
        let isShared = given == nil && sessions.isDefault && oidc.tokens.isDefault
        return try SessionStore(
            tokens: TokenSlot(oidc), session: SessionSlot(sessions: sessions), cookies: CookieSlot(cookies: cookies),
            lockFile: isShared ? SessionStore.lockFile(for: "\(SharedContext.Keys.sessionConfigKey)/\(name)") : nil)
    }

    /// Returns tokens of the Ping SDK as those of its session.
    ///
    /// That SDK has one session, and does not store it with the tokens. Unbound tokens would be revoked beside a session. Tokens
    /// beside another session stay unbound, because they may be those of another user.
    private static func bound(_ token: Token, to sessions: StorageSetting<SSOTokenImpl>) async throws -> Token {
        guard let session = try await sessions.get(), let original = try await sessions.original(),
            session.value == original.value, let engineSession = session.token
        else { return token }
        var record = token.record
        record.session = SessionIdentity(engineSession)
        return Token(record)
    }
}

/// The names of settings that only tests change.
package enum JourneySettings {
    /// The vault of the default storages, a `VaultProvider`.
    package static let keychain = "signet.keychain"
    /// The encryptor of the items that the Ping SDK stored, an `Encryptor`.
    package static let encryptor = "signet.encryptor"
    /// The clock for the expiration of tokens and cookies, a `WallClock`.
    package static let clock = "signet.clock"
}

/// The storage of sessions as that of the engine.
private struct SessionSlot: Storage {
    let sessions: StorageSetting<SSOTokenImpl>

    func save(item: SignetCore.SSOToken) async throws { try await sessions.save(item: SSOTokenImpl(item)) }
    func get() async throws -> SignetCore.SSOToken? { try await sessions.get()?.token }
    func delete() async throws { try await sessions.delete() }
}

/// The storage of cookies as that of the engine.
private struct CookieSlot: Storage {
    let cookies: CookieConfig

    func save(item: CookieJar) async throws { try await cookies.keep(item) }
    func get() async throws -> CookieJar? { try await cookies.jar() }
    func delete() async throws { try await cookies.removeAll() }
}

/// The module that creates the engine after all other modules, sends the requests with it, and signs the user off.
enum EngineModule {
    static let config: Module<Void> = Module.of(setup: { setup in
        let workflow = setup.workflow
        setup.initialize {
            workflow.sharedContext.set(key: key, value: try JourneyEngine(workflow))
        }
        setup.transport { context, request in
            let message = request.message
            return HttpResponse(try await workflow.engine().send(message, in: context), to: message.url)
        }
        setup.ending {
            let report = await (try workflow.engine()).calls.logOut()
            for outcome in [report.local, report.tokens, report.session, report.openIDSession] {
                if case .failed(let error) = outcome { throw error }
            }
        }
    })

    fileprivate static let key = "signet.engine"
}

extension Workflow {
    /// Returns the engine, and creates it at the first call.
    /// - Throws: The error of a module or a setting.
    func engine() async throws -> JourneyEngine {
        try await initialize()
        guard let engine = sharedContext.get(key: EngineModule.key) as? JourneyEngine else {
            throw ApiError.error(400, [:], "the workflow is not a journey: create it with Journey.createJourney")
        }
        return engine
    }
}
