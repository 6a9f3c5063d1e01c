package import SignetCore
import SignetJourney

/// The superclass of callbacks.
///
/// A callback class of an app overrides ``initValue(name:value:)``, which is called for each output, and ``payload()``.
open class AbstractCallback: Callback {
    /// The callback in the form of the engine.
    package final var callback = JourneyCallback(type: "", output: [])

    /// Creates an empty callback.
    public required init() {}

    /// The callback as the server sent it, with the values that were filled in.
    public final var json: [String: Any] {
        get { callback.json.object?.mapValues(\.any) ?? [:] }
        set { if let read = Self.read(newValue) { callback = read } }
    }

    /// The identity of the object.
    public final var id: String { "\(ObjectIdentifier(self))" }

    /// Reads a callback of the server and passes its outputs to ``initValue(name:value:)``.
    open func initialize(with json: [String: Any]) -> any Callback {
        self.json = json
        callback = callback.proposing()
        for field in callback.output where field.value != .null { initValue(name: field.name, value: field.value.any) }
        return self
    }

    /// Takes an output of the server.
    ///
    /// A value that JSON can't express is ignored.
    open func initValue(name: String, value: Any) {
        guard let value = JSONValue(any: value) else { return }
        if let index = callback.output.firstIndex(where: { $0.name == name }) {
            callback.output[index].value = value
        } else {
            callback.output.append(JourneyCallback.Field(name: name, value: value))
        }
    }

    /// Fills in the inputs in their order and returns the callback as it is sent.
    public final func input(_ values: Any...) -> [String: Any] {
        for (index, value) in values.enumerated() where index < callback.input?.count ?? 0 {
            if let value = JSONValue(any: value) { callback.input?[index].value = value }
        }
        return json
    }

    /// Fills in the input with a name and returns the callback as it is sent.
    public final func input(_ value: Any, forKey key: String) -> [String: Any] {
        if let index = callback.input?.firstIndex(where: { $0.name == key }), let value = JSONValue(any: value) {
            callback.input?[index].value = value
        }
        return json
    }

    /// Returns the callback as it is sent.
    open func payload() -> [String: Any] { json }

    /// Reads a callback; nil for other JSON.
    package static func read(_ json: [String: Any]) -> JourneyCallback? {
        JSONValue(any: json).flatMap { try? JourneyCallback(json: $0) }
    }
}
