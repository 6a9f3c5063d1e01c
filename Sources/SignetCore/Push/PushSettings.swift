/// Everything a device needs to answer one server's push messages.
public struct PushSettings: Sendable, Hashable {
    /// The shared key, 32 bytes or more.
    public var secret: Secret
    /// Where the device was registered; the device token is renewed there too.
    public var registrationEndpoint: Endpoint
    /// Where answers go.
    public var authenticationEndpoint: Endpoint
    /// The routing cookie of the registration, `name=value`.
    public var loadBalancerCookie: String?
    /// Where the server's desk hands out messages, if it has one (docs/desk.md).
    public var streamEndpoint: Endpoint?
    /// The push front that takes the messages of a server without a desk, if the device was registered with one (docs/push.md).
    public var gatewayEndpoint: Endpoint?
    /// The name of the push platform whose wire the server speaks; nil for AM's, which is built in.
    public var platform: String?

    /// The settings as given.
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
