public import SignetNetwork

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a ``PushClient`` works.
public final class PushConfiguration: ClientConfiguration {
    /// Handlers of push platforms besides AM's, by the name that their credentials carry. One under `pingam` takes AM's place.
    public var customPushHandlers: [String: any PushHandler] = [:]

    /// Which notifications are kept of each credential; the newest 100 by default.
    public var notificationCleanupConfig = NotificationCleanupConfig.default()

    /// How this device presents itself when it registers. The token is the one that was set last with
    /// ``PushClient/setDeviceToken(_:credentialId:)``, whatever stands here.
    public var device = PushDevice(token: "", name: ProcessInfo.processInfo.hostName)

    /// How servers are reached; nil for connections of the client's own, which end with ``PushClient/close()``.
    public var transport: (any HTTPTransport)?

    /// Who sees each request before it is sent, in this order.
    public var interceptors: [any RequestInterceptor] = []

    /// The defaults.
    public override init() { super.init() }

    /// A configuration as `configure` leaves it.
    public static func build(_ configure: (PushConfiguration) -> Void) -> sending PushConfiguration {
        let configuration = PushConfiguration()
        configure(configuration)
        return configuration
    }
}
