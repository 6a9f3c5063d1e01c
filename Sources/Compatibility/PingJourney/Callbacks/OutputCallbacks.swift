import SignetCore
import SignetJourney

/// The kind of a message.
public enum MessageType: Int, Sendable {
    /// An informational message.
    case information = 0
    /// A warning.
    case warning = 1
    /// An error message.
    case error = 2
    /// A script for a browser, which must not be shown.
    case script = 4
    /// Another number, or none.
    case unknown = -1

    init(_ callback: JourneyCallback) {
        self = callback.number("messageType").flatMap(MessageType.init(rawValue:)) ?? .unknown
    }
}

/// A callback that shows a message to the user.
public class TextOutputCallback: AbstractCallback {
    /// The message, in the user's language.
    public final var message: String { SignetJourney.TextOutputCallback(unchecked: callback).message }
    /// The kind of the message.
    public final var messageType: MessageType { MessageType(callback) }
}

/// A callback that announces the suspension of the journey.
public final class SuspendedTextOutputCallback: TextOutputCallback {}

/// A callback that asks the client to wait and to send the step again.
public final class PollingWaitCallback: AbstractCallback {
    /// The time to wait, in milliseconds.
    public var waitTime: Int { callback.number("waitTime") ?? 0 }
    /// The message to show during the wait, in the user's language.
    public var message: String { SignetJourney.PollingWaitCallback(unchecked: callback).message }
}

/// A callback that carries data for the app.
///
/// It is not in the list of callbacks of a step; the step's `input` has it.
public final class MetadataCallback: AbstractCallback, MetadataCallbackProtocol {
    /// The data.
    public var value: [String: Any] { SignetJourney.MetadataCallback(unchecked: callback).data.object?.mapValues(\.any) ?? [:] }
}
