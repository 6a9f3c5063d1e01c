// The names of UIKit and UserNotifications that the samples use, where the system does not have these frameworks.
#if !canImport(UIKit)

final class UIApplication: Sendable {
    struct LaunchOptionsKey: Hashable {}

    static let shared = UIApplication()

    func registerForRemoteNotifications() {}
}

enum UIBackgroundFetchResult {
    case newData, noData, failed
}

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

#else
@_exported import UIKit
@_exported import UserNotifications
#endif
