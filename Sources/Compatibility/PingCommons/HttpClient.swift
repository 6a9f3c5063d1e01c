public import Foundation
import SignetCore
public import SignetNetwork

/// The HTTP client of a workflow of PingOrchestrate, and of PingPush's `PingAMPushHandler`.
public final class HttpClient: Sendable {
    /// The transport that sends the requests.
    package let transport: any HTTPTransport
    private let timeout = Mutex<TimeInterval>(60)
    private let plainHosts = Mutex<Set<String>>([])

    /// Creates a client.
    /// - Parameter transport: The transport for its requests; nil for a transport of its own.
    public init(transport: (any HTTPTransport)? = nil) {
        self.transport = transport ?? DefaultTransport.make()
    }

    /// The timeout of one request, in seconds.
    ///
    /// The default is 60, which also replaces a value that is not above 0 and at most a day. A workflow and a journey use the timeout
    /// of their own settings instead.
    public var timeoutIntervalForRequest: TimeInterval {
        get { timeout.withLock { $0 } }
        set { timeout.withLock { $0 = newValue } }
    }

    /// The timeout of one request.
    package var requestTimeout: Duration { Self.duration(of: timeoutIntervalForRequest) }

    /// Returns a timeout in seconds as a duration; 60 seconds for a value that is not above 0 and at most a day.
    package static func duration(of timeout: TimeInterval) -> Duration {
        .seconds(timeout > 0 && timeout <= 86_400 ? timeout : 60)
    }

    /// The hosts that plain `http` is allowed to, in addition to loopback addresses.
    ///
    /// Use it in test networks only: the traffic can be read in transit.
    public var plainHTTPHosts: Set<String> {
        get { plainHosts.withLock { $0 } }
        set { plainHosts.withLock { $0 = newValue } }
    }
}
