public import Foundation
public import PingCommons
import SignetCore

/// The settings of a workflow.
///
/// The settings of a journey are the same type. They are fixed when the workflow is created.
public final class WorkflowConfig: Sendable {
    private struct State {
        var modules: [Registration] = []
        var timeout: TimeInterval = 15
        var logger: any Logger = LogManager.logger
        var httpClient: HttpClient
        var plainHTTPHosts: Set<String> = []
        var settings: [String: any Sendable] = [:]
    }

    private struct Registration {
        /// The identity of the module; nil when another registration can't replace it.
        let id: ObjectIdentifier?
        let registry: any ModuleRegistryProtocol
    }

    private let state: Mutex<State>

    /// Creates the default settings.
    public init() {
        state = Mutex(State(httpClient: HttpClient()))
    }

    /// The timeout of one request, in seconds.
    public var timeout: TimeInterval {
        get { state.withLock { $0.timeout } }
        set { state.withLock { $0.timeout = newValue } }
    }

    /// The logger, which also becomes the logger of `LogManager`.
    public var logger: any Logger {
        get { state.withLock { $0.logger } }
        set {
            state.withLock { $0.logger = newValue }
            LogManager.logger = newValue
        }
    }

    /// The HTTP client.
    ///
    /// Set one with the app's own transport before the workflow is created.
    public var httpClient: HttpClient {
        get { state.withLock { $0.httpClient } }
        set { state.withLock { $0.httpClient = newValue } }
    }

    /// The hosts that plain `http` is allowed to, in addition to loopback addresses.
    ///
    /// Use it in test networks only: the traffic can be read in transit.
    public var plainHTTPHosts: Set<String> {
        get { state.withLock { $0.plainHTTPHosts } }
        set { state.withLock { $0.plainHTTPHosts = newValue } }
    }

    /// The registered modules.
    public var modules: [any ModuleRegistryProtocol] { state.withLock { $0.modules.map(\.registry) } }

    /// Registers a module.
    /// - Parameters:
    ///   - module: The module.
    ///   - priority: The order among the modules: the lowest is first. A module that replaces another one keeps its priority.
    ///   - mode: The handling of the same module when it is already registered.
    ///   - config: Changes the default configuration of the module.
    public func module<T: Sendable>(
        _ module: Module<T>, priority: Int = 10, mode: OverrideMode = .override, _ config: (T) -> Void = { _ in }
    ) {
        let value = module.config()
        config(value)
        state.withLock { state in
            let old = state.modules.firstIndex { $0.id == module.id }
            switch (mode, old) {
            case (.ignore, _?): break
            case (.override, let index?):
                let registry = ModuleRegistry(module: module, priority: state.modules[index].registry.priority, config: value)
                state.modules[index] = Registration(id: module.id, registry: registry)
            default:
                let registry = ModuleRegistry(module: module, priority: priority, config: value)
                state.modules.append(Registration(id: mode == .append ? nil : module.id, registry: registry))
            }
        }
    }

    /// Registers the handlers of all modules, in the order of their priority.
    func register(workflow: Workflow) {
        for module in modules.sorted(by: { $0.priority < $1.priority }) { module.register(workflow: workflow) }
    }

    /// Sets the logger without changing that of `LogManager`.
    package func setLogger(_ logger: any Logger) { state.withLock { $0.logger = logger } }

    /// A setting that an upper module adds, by its name.
    package subscript(setting name: String) -> (any Sendable)? {
        get { state.withLock { $0.settings[name] } }
        set { state.withLock { $0.settings[name] = newValue } }
    }
}
