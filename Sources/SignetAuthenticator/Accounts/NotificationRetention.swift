package import Foundation

/// The rule for the push messages to keep.
///
/// It is applied to a mechanism in the transaction that receives a message for it. The newest message is always kept.
public enum NotificationRetention: Sendable, Hashable {
    /// Keep all messages.
    case all
    /// Keep this many of the newest messages of each mechanism. A number below 1 counts as 1.
    case newest(Int)
    /// Keep the messages that arrived in the last `days` times 24 hours. A number below 1 counts as 1.
    case youngerThan(days: Int)
    /// Keep the messages that satisfy both limits.
    case both(newest: Int, days: Int)

    /// The default: the newest 100 of each mechanism, as the Ping SDKs keep them.
    public static let `default` = NotificationRetention.newest(100)

    /// The maximum number of messages of a mechanism; nil for no limit.
    package var limit: Int? {
        switch self {
        case .all, .youngerThan: nil
        case .newest(let count), .both(let count, _): max(1, count)
        }
    }

    /// Returns the time before which messages are not kept; nil when the rule has no age limit.
    package func horizon(at now: Date) -> Date? {
        switch self {
        case .all, .newest: nil
        case .youngerThan(let days), .both(_, let days): now.addingTimeInterval(-Double(max(1, days)) * 86_400)
        }
    }
}
