/// The settings that a device needs to answer one server's push messages.
public struct PushSettings: Sendable, Hashable {
    /// The shared key, 32 bytes or more; the device's private key when ``serverKey`` is not nil.
    public var secret: Secret
    /// The address at which the device was registered.
    ///
    /// Device token updates also use it.
    public var registrationEndpoint: Endpoint
    /// The address for answers.
    public var authenticationEndpoint: Endpoint
    /// The load balancer's routing cookie of the registration, `name=value`.
    public var loadBalancerCookie: String?
    /// The address of the server's push stream, if the server has one (docs/protocol/push-stream.md).
    public var streamEndpoint: Endpoint?
    /// The push gateway that receives the messages of a server without a push stream, if the device was registered with one
    /// (docs/guides/push.md).
    public var gatewayEndpoint: Endpoint?
    /// The name of the push platform whose protocol the server uses; nil for AM, which is built in.
    public var platform: String?
    /// The server's public key, in the encoding of the platform; nil for a platform whose servers share a key with the device.
    public var serverKey: [UInt8]?
    /// True when the server wants each approval to follow a check of the user's presence.
    package var requiresPresence = false

    /// Creates the settings.
    public init(
        secret: Secret, registrationEndpoint: Endpoint, authenticationEndpoint: Endpoint, loadBalancerCookie: String? = nil,
        streamEndpoint: Endpoint? = nil, platform: String? = nil, gatewayEndpoint: Endpoint? = nil
    ) {
        self.secret = secret
        self.registrationEndpoint = registrationEndpoint
        self.authenticationEndpoint = authenticationEndpoint
        self.loadBalancerCookie = loadBalancerCookie
        self.streamEndpoint = streamEndpoint
        self.gatewayEndpoint = gatewayEndpoint
        self.platform = platform
    }
}
