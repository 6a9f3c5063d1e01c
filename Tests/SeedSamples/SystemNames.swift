import SignetCore

// Stand-ins for the system types in the samples that Linux lacks, as far as the samples use them.

/// A stand-in for UIKit's application.
final class UIApplication: Sendable {
    struct LaunchOptionsKey: Hashable {}

    private let registered = Mutex(false)

    /// A Boolean value that says if the app asked for a token.
    var isRegistered: Bool { registered.withLock { $0 } }

    func registerForRemoteNotifications() { registered.withLock { $0 = true } }
}

/// A stand-in for UIKit's result of a background message.
enum UIBackgroundFetchResult {
    case newData, noData, failed
}

/// A stand-in for the center that asks the user for permission to show messages.
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
