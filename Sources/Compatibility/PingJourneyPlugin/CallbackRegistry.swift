public import PingOrchestrate

/// The callback classes of the app, by the callback type in the protocol.
///
/// A class for a type that the SDK knows takes the place of the SDK's class.
public actor CallbackRegistry {
    /// The registry of the process.
    public static let shared = CallbackRegistry()

    /// The registered classes.
    public private(set) var callbacks: [String: any Callback.Type] = [:]

    init() {}

    /// Registers the class for a callback type.
    public func register(type: String, callback: any Callback.Type) {
        callbacks[type] = callback
    }

    /// Returns the class for a callback type; nil when the app registered none.
    public func type(for key: String) -> (any Callback.Type)? { callbacks[key] }

    /// Removes all classes of the app.
    public func reset() { callbacks = [:] }

    /// Returns the callbacks of registered types, without those that only carry data.
    public nonisolated func callback(from array: [[String: Any]]) async -> Callbacks {
        let classes = await callbacks
        return array.compactMap { json in
            guard let type = json["type"] as? String, let found = classes[type] else { return nil }
            let made = found.init().initialize(with: json)
            return made is any MetadataCallbackProtocol ? nil : made
        }
    }

    /// Passes a step and its journey to the callbacks that take them.
    public nonisolated func inject(continueNode: ContinueNode, journey: Journey) {
        for callback in continueNode.callbacks {
            if var aware = callback as? any JourneyAware { aware.journey = journey }
            if var aware = callback as? any ContinueNodeAware { aware.continueNode = continueNode }
        }
    }
}
