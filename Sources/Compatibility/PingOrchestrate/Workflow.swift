import SignetCore

/// A sequence of requests to a server that modules make and read.
///
/// `Journey` of the module PingJourney is such a workflow. One workflow can be used by several tasks.
public final class Workflow: Sendable {
    /// The settings.
    public let config: WorkflowConfig
    /// The values that the modules share.
    public let sharedContext = SharedContext()
    private let handlers = Mutex(Handlers())
    private let lock = AsyncLock()

    struct Handlers {
        var initialize: [@Sendable () async throws -> Void] = []
        var isInitialized = false
        var start: [@Sendable (FlowContext, Request) async throws -> Request] = []
        var next: [@Sendable (FlowContext, ContinueNode, Request) async throws -> Request] = []
        var response: [@Sendable (FlowContext, any Response) async throws -> Void] = []
        var node: [@Sendable (FlowContext, any Node) async throws -> any Node] = []
        var success: [@Sendable (FlowContext, SuccessNode) async throws -> SuccessNode] = []
        var transform: @Sendable (FlowContext, any Response) async throws -> any Node = { _, _ in EmptyNode() }
        var transport: (@Sendable (FlowContext, Request) async throws -> any Response)?
        var signOff: [@Sendable (Request) async throws -> Request] = []
        var ending: (@Sendable () async throws -> Void)?
    }

    /// Creates a workflow with the settings, which must not be changed afterwards.
    public init(config: WorkflowConfig) {
        self.config = config
        config.register(workflow: self)
    }

    /// Creates a workflow with the settings that `block` makes.
    public static func createWorkflow(_ block: (WorkflowConfig) -> Void = { _ in }) -> Workflow {
        let config = WorkflowConfig()
        block(config)
        return Workflow(config: config)
    }

    func add(_ change: (inout Handlers) -> Void) { handlers.withLock { change(&$0) } }

    private var current: Handlers { handlers.withLock { $0 } }

    /// Runs the functions of the modules that come before the first request, unless they have already run.
    /// - Throws: The error of a module. The next call runs all of them again.
    public func initialize() async throws {
        await lock.lock()
        defer { lock.unlock() }
        guard !current.isInitialized else { return }
        for handler in current.initialize { try await handler() }
        handlers.withLock { $0.isInitialized = true }
    }

    /// Starts a run with an empty request, which modules complete.
    public func start() async -> any Node { await start(Request()) }

    /// Starts a run with a request.
    /// - Returns: The first state. Errors are states too: ``FailureNode``.
    public func start(_ request: Request) async -> any Node {
        await start(request, in: FlowContext(flowContext: SharedContext()))
    }

    /// Starts a run in a context that has values already.
    package func start(_ request: Request, in context: FlowContext) async -> any Node {
        do {
            try await initialize()
            config.logger.i("Starting...")
            var request = request
            for handler in current.start { request = try await handler(context, request) }
            return try await node(after: request, in: context)
        } catch {
            return FailureNode(cause: error)
        }
    }

    /// Sends the answer to a step.
    /// - Returns: The next state. Errors are states too: ``FailureNode``.
    public func next(_ context: FlowContext, _ current: ContinueNode) async -> any Node {
        do {
            config.logger.i("Next...")
            var request = current.asRequest()
            for handler in self.current.next { request = try await handler(context, current, request) }
            current.close()
            return try await node(after: request, in: context)
        } catch {
            return FailureNode(cause: error)
        }
    }

    /// Signs the user off.
    /// - Returns: The error of a module or of the request, if there was one.
    public func signOff() async -> Result<Void, any Error> {
        config.logger.i("SignOff...")
        do {
            try await initialize()
            var request = Request()
            for handler in current.signOff { request = try await handler(request) }
            if let ending = current.ending { try await ending() } else { _ = try await config.send(request) }
            return .success(())
        } catch {
            config.logger.e("The sign-off failed", error: error)
            return .failure(error)
        }
    }

    private func node(after request: Request, in context: FlowContext) async throws -> any Node {
        let handlers = current
        let send = handlers.transport ?? { _, request in try await self.config.send(request) }
        let response = try await send(context, request)
        for handler in handlers.response { try await handler(context, response) }
        var node = try await handlers.transform(context, response)
        for handler in handlers.node { node = try await handler(context, node) }
        guard var success = node as? SuccessNode else { return node }
        for handler in handlers.success { success = try await handler(context, success) }
        return success
    }
}

extension WorkflowConfig {
    /// Sends a request with the HTTP client and the timeout of the settings.
    fileprivate func send(_ request: Request) async throws -> any Response {
        try await httpClient.send(
            request, timeout: HttpClient.duration(of: timeout), policy: .allowingPlainHTTP(to: plainHTTPHosts))
    }
}
