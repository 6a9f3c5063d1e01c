public import SignetPushGateway

/// The configuration of AWS SNS, through which push messages reach phones.
///
/// The properties have the names of AM's Push Notification Service.
public struct SNSConfiguration: Sendable, Hashable {
    /// The ARN of the platform application for Apple devices (`APNS` or `APNS_SANDBOX`).
    ///
    /// If it is nil, devices of the communication type `apns` cannot register.
    public var appleEndpoint: String?
    /// The ARN of the platform application for all other devices (`GCM`).
    ///
    /// If it is nil, such devices cannot register.
    public var googleEndpoint: String?
    /// The AWS region; nil to use the region of the platform applications.
    public var region: String?
    /// The credentials of the requests.
    ///
    /// If they are nil, nothing can be sent; `signet serve` then reads them from its environment.
    public var credentials: AWSCredentials?
    /// The URL of the API; nil for Amazon's URL in the region.
    public var endpoint: String?
    /// The timeout of a request, in seconds; at least 1.
    public var timeout = 5
    /// True when a login waits until SNS has accepted its message, and fails if SNS does not, as in AM.
    ///
    /// When false, the message is delivered after the login has been answered, and the login continues to wait even if the message
    /// cannot be delivered.
    public var waitsForDelivery = true

    /// Creates a configuration without platform applications, with the changes that `configure` makes to the defaults.
    public init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }

    /// The region of the requests; nil when neither ``region`` nor a platform application specifies one.
    var usedRegion: String? {
        region ?? [appleEndpoint, googleEndpoint].lazy.compactMap { $0.flatMap(SNSResource.init)?.region }.first
    }

    /// Returns the platform application for a communication type.
    ///
    /// As in AM, any type except exactly `apns` uses ``googleEndpoint``.
    func application(for communicationType: String) -> String? {
        communicationType == "apns" ? appleEndpoint : googleEndpoint
    }
}
