/// Which notifications are kept, of each credential by itself: so a busy account never drives out another one's. It is applied
/// when a notification comes, by ``PushClient/cleanupNotifications(credentialId:)``, and by ``PushClient/close()``.
public struct NotificationCleanupConfig: Sendable, Hashable {
    /// What decides.
    public enum CleanupMode: String, Sendable, Hashable, CaseIterable {
        /// Nothing is removed.
        case none = "NONE"
        /// The number.
        case countBased = "COUNT_BASED"
        /// The age.
        case ageBased = "AGE_BASED"
        /// Both.
        case hybrid = "HYBRID"
    }

    /// What decides.
    public let cleanupMode: CleanupMode
    /// How many are kept; at least 1.
    public let maxStoredNotifications: Int
    /// For how many times 24 hours; at least 1.
    public let maxNotificationAgeDays: Int

    /// A configuration. Numbers below 1 become 1.
    public init(cleanupMode: CleanupMode = .countBased, maxStoredNotifications: Int = 100, maxNotificationAgeDays: Int = 30) {
        self.cleanupMode = cleanupMode
        self.maxStoredNotifications = max(1, maxStoredNotifications)
        self.maxNotificationAgeDays = max(1, maxNotificationAgeDays)
    }

    /// The newest 100.
    public static func `default`() -> NotificationCleanupConfig { NotificationCleanupConfig() }

    /// All.
    public static func none() -> NotificationCleanupConfig { NotificationCleanupConfig(cleanupMode: .none) }

    /// The newest so many.
    public static func countBased(maxNotifications: Int = 100) -> NotificationCleanupConfig {
        NotificationCleanupConfig(cleanupMode: .countBased, maxStoredNotifications: maxNotifications)
    }

    /// Those of the last so many days.
    public static func ageBased(maxAgeDays: Int = 30) -> NotificationCleanupConfig {
        NotificationCleanupConfig(cleanupMode: .ageBased, maxNotificationAgeDays: maxAgeDays)
    }

    /// Those of the last so many days, and of them the newest so many.
    public static func hybrid(maxNotifications: Int = 100, maxAgeDays: Int = 30) -> NotificationCleanupConfig {
        NotificationCleanupConfig(
            cleanupMode: .hybrid, maxStoredNotifications: maxNotifications, maxNotificationAgeDays: maxAgeDays)
    }

    /// The same as the ``Authenticator`` calls it.
    public var retention: NotificationRetention {
        switch cleanupMode {
        case .none: .all
        case .countBased: .newest(maxStoredNotifications)
        case .ageBased: .youngerThan(days: maxNotificationAgeDays)
        case .hybrid: .both(newest: maxStoredNotifications, days: maxNotificationAgeDays)
        }
    }
}
