import SignetCore

/// The configuration of ``CustomHeader``.
public final class CustomHeaderConfig: Sendable {
    private let fields = Mutex<[(name: String, value: String)]>([])

    init() {}

    /// Adds a header field.
    public func header(name: String, value: String) {
        fields.withLock { $0.append((name: name, value: value)) }
    }

    fileprivate func set(on request: Request) -> Request {
        for field in fields.withLock({ $0 }) { request.header(name: field.name, value: field.value) }
        return request
    }
}

/// A module that adds header fields to the requests of a workflow.
public enum CustomHeader {
    /// The module.
    public static let config: Module<CustomHeaderConfig> = Module.of(CustomHeaderConfig.init) { setup in
        let config = setup.config
        setup.start { _, request in config.set(on: request) }
        setup.next { _, _, request in config.set(on: request) }
    }
}
