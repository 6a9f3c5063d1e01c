// The names of UIKit that the samples use, where the system does not have UIKit.
#if !canImport(UIKit)

final class UIApplication: Sendable {
    static let shared = UIApplication()

    func registerForRemoteNotifications() {}
}

#else
@_exported import UIKit
#endif
