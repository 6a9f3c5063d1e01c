public import SignetAuthenticator

/// A rule for the notifications to keep.
///
/// It applies to each credential separately, so that a busy account never displaces the notifications of another one. It is
/// applied when a notification arrives, by ``PushClient/cleanupNotifications(credentialId:)`` and by ``PushClient/close()``.
public struct NotificationCleanupConfig: Sendable, Hashable {
    /// The criterion by which notifications are removed.
    public enum CleanupMode: String, Sendable, Hashable, CaseIterable {
        /// No notification is removed.
        case none = "NONE"
        /// The number of notifications.
        case countBased = "COUNT_BASED"
        /// The age of notifications.
        case ageBased = "AGE_BASED"
        /// The number and the age of notifications.
        case hybrid = "HYBRID"
    }

    /// The criterion by which notifications are removed.
    public let cleanupMode: CleanupMode
    /// The number of notifications that are kept; at least 1.
    public let maxStoredNotifications: Int
    /// The age in units of 24 hours up to which notifications are kept; at least 1.
    public let maxNotificationAgeDays: Int

    /// Creates a configuration.
    ///
    /// Numbers below 1 are changed to 1.
    public init(cleanupMode: CleanupMode = .countBased, maxStoredNotifications: Int = 100, maxNotificationAgeDays: Int = 30) {
        self.cleanupMode = cleanupMode
        self.maxStoredNotifications = max(1, maxStoredNotifications)
        self.maxNotificationAgeDays = max(1, maxNotificationAgeDays)
    }

    /// Returns the default configuration, which keeps the newest 100 notifications.
    public static func `default`() -> NotificationCleanupConfig { NotificationCleanupConfig() }

    /// Returns a configuration that keeps all notifications.
    public static func none() -> NotificationCleanupConfig { NotificationCleanupConfig(cleanupMode: .none) }

    /// Returns a configuration that keeps the newest `maxNotifications`.
    public static func countBased(maxNotifications: Int = 100) -> NotificationCleanupConfig {
        NotificationCleanupConfig(cleanupMode: .countBased, maxStoredNotifications: maxNotifications)
    }

    /// Returns a configuration that keeps the notifications of the last `maxAgeDays` days.
    public static func ageBased(maxAgeDays: Int = 30) -> NotificationCleanupConfig {
        NotificationCleanupConfig(cleanupMode: .ageBased, maxNotificationAgeDays: maxAgeDays)
    }

    /// Returns a configuration that keeps the newest `maxNotifications` of the last `maxAgeDays` days.
    public static func hybrid(maxNotifications: Int = 100, maxAgeDays: Int = 30) -> NotificationCleanupConfig {
        NotificationCleanupConfig(
            cleanupMode: .hybrid, maxStoredNotifications: maxNotifications, maxNotificationAgeDays: maxAgeDays)
    }

    /// The corresponding rule of `Authenticator`.
    public var retention: NotificationRetention {
        switch cleanupMode {
        case .none: .all
        case .countBased: .newest(maxStoredNotifications)
        case .ageBased: .youngerThan(days: maxNotificationAgeDays)
        case .hybrid: .both(newest: maxStoredNotifications, days: maxNotificationAgeDays)
        }
    }
}
