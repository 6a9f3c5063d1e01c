import SignetCore
import SignetJourney
import SignetOAuth
public import SignetStorage

/// The module that stores the session of a journey and sends it with each request.
public enum SessionModule {
    /// The module.
    public static let config: Module<SessionConfig> = Module.of(SessionConfig.init) { setup in
        let (workflow, config) = (setup.workflow, setup.config)
        setup.initialize { workflow.sharedContext.set(key: SharedContext.Keys.sessionConfigKey, value: config) }
        setup.start { context, request in try await workflow.addingSession(to: request, in: context) }
        setup.next { context, _, request in try await workflow.addingSession(to: request, in: context) }
        setup.success { _, success in
            if let token = (success.session as? SSOTokenImpl)?.token { try await workflow.engine().tokens.adopt(token) }
            return success
        }
    }
}

extension Workflow {
    /// Adds the session to a request.
    fileprivate func addingSession(to request: Request, in context: FlowContext) async throws -> Request {
        var message = request.message
        let engine = try await self.engine()
        try await engine.journey.addSession(to: &message, engine.run(in: context).options)
        request.change { [message] in $0 = message }
        return request
    }
}

extension SharedContext.Keys {
    /// The name of the configuration of ``SessionModule``, and of the session in the user's vault.
    public static let sessionConfigKey = "com.pingidentity.journey.SessionConfig"
}

/// The configuration of ``SessionModule``.
public final class SessionConfig: Sendable {
    /// The setting for ``storage``.
    let sessions: StorageSetting<SSOTokenImpl>

    /// Creates the default configuration, whose storage is in the user's vault.
    public init() {
        sessions = StorageSetting(account: SharedContext.Keys.sessionConfigKey, isDefault: true)
    }

    /// Creates a configuration whose storage has a name of its own in the user's vault.
    public init(account: String) {
        sessions = StorageSetting(account: account, isDefault: false)
    }

    /// The storage for the session.
    ///
    /// The app must not use a storage elsewhere after it assigned it.
    public var storage: any Storage<SSOTokenImpl> {
        get { sessions.storage }
        set { sessions.storage = newValue }
    }
}
