public import PingOrchestrate

/// A journey: a workflow that logs a user in at AM.
public typealias Journey = Workflow

/// A callback of a journey's step.
///
/// A callback belongs to the task that has its step. It is not Sendable.
public protocol Callback: Action, Identifiable, SendableMetatype {
    /// Creates an empty callback, which ``initialize(with:)`` completes.
    init()
    /// Reads a callback of the server.
    /// - Returns: The callback itself, or the one that takes its place.
    func initialize(with json: [String: Any]) -> any Callback
    /// The identity of the callback, for lists of a user interface.
    var id: String { get }
    /// Returns the callback with the values that were filled in, as it is sent to the server.
    func payload() -> [String: Any]
}

/// Callbacks in their order.
public typealias Callbacks = [any Callback]

/// A callback that carries data for the app and is not part of the list that an app shows.
public protocol MetadataCallbackProtocol {}

/// A callback with an identifier and a value.
public protocol ValueCallbackProtocol {
    /// The identifier.
    var valueId: String { get set }
    /// The value.
    var value: String { get }
    /// Sets the value.
    func setValue(_ value: String)
}

/// A callback that takes the journey to which it belongs.
public protocol JourneyAware {
    /// The journey.
    var journey: Journey? { get set }
}

extension ContinueNode {
    /// The callbacks of the step, without those that only carry data.
    public var callbacks: [any Callback] { actions.compactMap { $0 as? any Callback } }
}
