public import Foundation
import SignetCore
public import SignetNetwork

/// The HTTP client of a ``PingAMPushHandler``.
public final class HttpClient: Sendable {
    private let transport: any HTTPTransport
    private let timeout = Mutex<TimeInterval>(60)
    private let plainHosts = Mutex<Set<String>>([])

    /// Creates a client.
    /// - Parameter transport: The transport for its requests; nil for a transport of its own.
    public init(transport: (any HTTPTransport)? = nil) {
        self.transport = transport ?? DefaultTransport.make()
    }

    /// The seconds that a request may take.
    ///
    /// The default is 60.
    public var timeoutIntervalForRequest: TimeInterval {
        get { timeout.withLock { $0 } }
        set { timeout.withLock { $0 = newValue } }
    }

    /// The hosts that push endpoints may have plain `http` to, for test networks: the traffic can be read in transit.
    ///
    /// Without it, only loopback addresses may use plain `http`.
    public var plainHTTPHosts: Set<String> {
        get { plainHosts.withLock { $0 } }
        set { plainHosts.withLock { $0 = newValue } }
    }

    /// The transport with the timeout.
    var timedTransport: any HTTPTransport {
        let seconds = timeoutIntervalForRequest
        let limit = seconds > 0 && seconds <= 86_400 ? seconds : 60
        return TimedTransport(transport: transport, limit: .seconds(limit))
    }
}
