import Foundation
public import SignetAuthenticator
public import SignetNetwork

/// The configuration of a ``PushClient``.
public final class PushConfiguration: ClientConfiguration {
    /// Handlers of push platforms other than AM's, by the platform name that their credentials have.
    ///
    /// A handler under `pingam` replaces the one for AM.
    public var customPushHandlers: [String: any PushHandler] = [:]

    /// The rule for the notifications to keep of each credential.
    ///
    /// The default keeps the newest 100.
    public var notificationCleanupConfig = NotificationCleanupConfig.default()

    /// The device data that are sent at registration.
    ///
    /// The token in it is ignored when ``PushClient/setDeviceToken(_:credentialId:)`` has stored one.
    public var device = PushDevice(token: "", name: ProcessInfo.processInfo.hostName)

    /// The transport for requests to servers; nil for a transport of the client's own, which ``PushClient/close()`` closes.
    public var transport: (any HTTPTransport)?

    /// The interceptors that see each request before it is sent, in this order.
    public var interceptors: [any RequestInterceptor] = []

    /// Creates a configuration with the default values.
    public override init() { super.init() }

    /// Creates a configuration and passes it to `configure`.
    public static func build(_ configure: (PushConfiguration) -> Void) -> sending PushConfiguration {
        let configuration = PushConfiguration()
        configure(configuration)
        return configuration
    }
}
