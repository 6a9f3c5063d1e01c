public import PingCommons

/// A part of a workflow that takes part in its requests and responses, with a configuration of its own.
public final class Module<ModuleConfig: Sendable>: Equatable, Sendable {
    /// Registers the handlers of the module.
    public let setup: @Sendable (Setup<ModuleConfig>) -> Void
    /// Creates the default configuration.
    public let config: @Sendable () -> ModuleConfig

    /// Creates a module from its configuration and the function that registers its handlers.
    public init(
        config: @escaping @Sendable () -> ModuleConfig, setup: @escaping @Sendable (Setup<ModuleConfig>) -> Void
    ) {
        self.config = config
        self.setup = setup
    }

    /// The identity of the module.
    public var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Returns a module with a configuration.
    public static func of(
        _ config: @escaping @Sendable () -> ModuleConfig, setup: @escaping @Sendable (Setup<ModuleConfig>) -> Void
    ) -> Module {
        Module(config: config, setup: setup)
    }

    /// Returns true when both are the same module.
    public static func == (lhs: Module, rhs: Module) -> Bool { lhs === rhs }
}

extension Module where ModuleConfig == Void {
    /// Returns a module without a configuration.
    public static func of(setup: @escaping @Sendable (Setup<Void>) -> Void) -> Module {
        Module(config: {}, setup: setup)
    }
}

/// The handling of a module that is already registered.
public enum OverrideMode: Sendable {
    /// The new registration replaces the old one and takes its place.
    case override
    /// Both registrations stay.
    case append
    /// The old registration stays.
    case ignore
}

/// A module with its configuration in a workflow.
public protocol ModuleRegistryProtocol: Sendable {
    /// The order among the modules: the lowest is first.
    var priority: Int { get }
    /// Registers the handlers of the module.
    func register(workflow: Workflow)
}

/// A module with its configuration in a workflow.
struct ModuleRegistry<Config: Sendable>: ModuleRegistryProtocol {
    let module: Module<Config>
    let priority: Int
    let config: Config

    func register(workflow: Workflow) { module.setup(Setup(workflow: workflow, config: config)) }
}

/// The place at which a module registers its handlers.
public struct Setup<ModuleConfig: Sendable>: Sendable {
    /// The workflow.
    public let workflow: Workflow
    /// The values that the modules share.
    public let context: SharedContext
    /// The logger of the workflow.
    public let logger: any Logger
    /// The HTTP client of the workflow.
    public let httpClient: HttpClient
    /// The configuration of the module.
    public let config: ModuleConfig

    /// Creates the place for a module.
    public init(workflow: Workflow, config: ModuleConfig) {
        self.workflow = workflow
        self.config = config
        context = workflow.sharedContext
        logger = workflow.config.logger
        httpClient = workflow.config.httpClient
    }

    /// Registers a function that runs once, before the first request.
    public func initialize(block: @escaping @Sendable () async throws -> Void) {
        workflow.add { $0.initialize.append(block) }
    }

    /// Registers a function that changes the first request of a run.
    public func start(_ block: @escaping @Sendable (FlowContext, Request) async throws -> Request) {
        workflow.add { $0.start.append(block) }
    }

    /// Registers a function that changes the request with the answer to a step.
    public func next(block: @escaping @Sendable (FlowContext, ContinueNode, Request) async throws -> Request) {
        workflow.add { $0.next.append(block) }
    }

    /// Registers a function that sees each response.
    public func response(block: @escaping @Sendable (FlowContext, any Response) async throws -> Void) {
        workflow.add { $0.response.append(block) }
    }

    /// Registers a function that changes each state.
    public func node(block: @escaping @Sendable (FlowContext, any Node) async throws -> any Node) {
        workflow.add { $0.node.append(block) }
    }

    /// Registers a function that changes the state at the end of a run that succeeded.
    public func success(block: @escaping @Sendable (FlowContext, SuccessNode) async throws -> SuccessNode) {
        workflow.add { $0.success.append(block) }
    }

    /// Sets the function that reads a response.
    ///
    /// The last one that is set applies.
    public func transform(block: @escaping @Sendable (FlowContext, any Response) async throws -> any Node) {
        workflow.add { $0.transform = block }
    }

    /// Sets the function that sends a request.
    ///
    /// The last one that is set applies.
    public func transport(block: @escaping @Sendable (FlowContext, Request) async throws -> any Response) {
        workflow.add { $0.transport = block }
    }

    /// Registers a function that changes the request that signs the user off.
    public func signOff(block: @escaping @Sendable (Request) async throws -> Request) {
        workflow.add { $0.signOff.append(block) }
    }

    /// Sets the function that signs the user off after the handlers for it have run, in place of the request.
    package func ending(block: @escaping @Sendable () async throws -> Void) {
        workflow.add { $0.ending = block }
    }
}
