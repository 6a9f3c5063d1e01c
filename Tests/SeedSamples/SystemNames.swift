import Synchronization

// The words of the systems in the samples, which Linux has not, as far as the samples say anything with them.

/// UIKit's application.
final class UIApplication: Sendable {
    struct LaunchOptionsKey: Hashable {}

    private let registered = Mutex(false)

    /// Whether it was asked for a token.
    var isRegistered: Bool { registered.withLock { $0 } }

    func registerForRemoteNotifications() { registered.withLock { $0 = true } }
}

/// UIKit's word for what a message in the background brought.
enum UIBackgroundFetchResult {
    case newData, noData, failed
}

/// What asks the person whether messages may be shown.
final class UNUserNotificationCenter: Sendable {
    struct Options: OptionSet {
        let rawValue: Int
        static let badge = Options(rawValue: 1)
        static let sound = Options(rawValue: 2)
        static let alert = Options(rawValue: 4)
    }

    static func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }

    func requestAuthorization(options: Options, completionHandler: @Sendable (Bool, (any Error)?) -> Void) {
        completionHandler(true, nil)
    }
}
