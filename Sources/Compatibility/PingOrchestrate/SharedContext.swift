import SignetCore

/// Values that the modules of a workflow share, by name.
public final class SharedContext: Sendable {
    private let values: Mutex<[String: any Sendable]>

    /// The names of the values.
    ///
    /// Modules add theirs in extensions.
    public enum Keys {}

    /// Creates a context with values.
    public init(_ map: [String: any Sendable] = [:]) {
        values = Mutex(map)
    }

    /// True when the context has no values.
    public var isEmpty: Bool { values.withLock { $0.isEmpty } }

    /// Stores a value under a name.
    public func set(key: String, value: any Sendable) {
        values.withLock { $0[key] = value }
    }

    /// Returns the value with a name; nil when the context has none.
    public func get(key: String) -> (any Sendable)? {
        values.withLock { $0[key] }
    }

    /// Removes the value with a name and returns it.
    @discardableResult
    public func removeValue(forKey key: String) -> (any Sendable)? {
        values.withLock { $0.removeValue(forKey: key) }
    }
}

/// The context of one run of a workflow.
public final class FlowContext: Sendable {
    /// The values that belong to this run.
    public let flowContext: SharedContext

    /// Creates the context of a run.
    public init(flowContext: SharedContext) {
        self.flowContext = flowContext
    }
}
