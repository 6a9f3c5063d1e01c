#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Which push messages are kept. It is applied to a mechanism whenever a message for it is taken in, in the same transaction;
/// the message that has just come is always kept.
public enum NotificationRetention: Sendable, Hashable {
    /// All of them.
    case all
    /// The newest so many of each mechanism; fewer than 1 counts as 1.
    case newest(Int)
    /// Those that came in the last so many times 24 hours; fewer than 1 counts as 1.
    case youngerThan(days: Int)
    /// Those that are among the newest and young enough.
    case both(newest: Int, days: Int)

    /// The newest 100 of each mechanism, as the Ping SDKs keep them.
    public static let standard = NotificationRetention.newest(100)

    /// The most that are kept of a mechanism; nil for any number.
    package var limit: Int? {
        switch self {
        case .all, .youngerThan: nil
        case .newest(let count), .both(let count, _): max(1, count)
        }
    }

    /// What came before this is not kept; nil when age does not matter.
    package func horizon(at now: Date) -> Date? {
        switch self {
        case .all, .newest: nil
        case .youngerThan(let days), .both(_, let days): now.addingTimeInterval(-Double(max(1, days)) * 86_400)
        }
    }

    /// The ids that are not kept, of notifications in the order of their arrival, the newest first.
    package func surplus(among notifications: [(id: String, receivedAt: Date)], now: Date) -> [String] {
        let horizon = horizon(at: now)
        return notifications.enumerated().filter { place, notification in
            guard place > 0 else { return false }
            return limit.map { place >= $0 } ?? false || horizon.map { notification.receivedAt < $0 } ?? false
        }.map(\.element.id)
    }
}
